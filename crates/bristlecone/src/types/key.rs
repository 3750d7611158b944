//! What a type must offer to be a key: an order, and perhaps a form that sorts bytewise.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::Value;

/// A type that can be the key of a table.
pub trait Key: Value {
    /// Orders two keys, both in the form [`Value::as_bytes`] gives. Must be a total order.
    fn compare(left: &[u8], right: &[u8]) -> Ordering;

    /// Who can order the stored form. Types outside this crate leave it alone.
    #[doc(hidden)]
    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::Foreign
    }

    /// Whether the stored form is the [`Value::as_bytes`] form, so that nothing need be converted or copied.
    #[doc(hidden)]
    #[inline]
    fn stores_verbatim() -> bool {
        true
    }

    /// Appends the form kept in the tree of a key in [`Value::as_bytes`] form; never panics.
    #[doc(hidden)]
    #[inline]
    fn append_stored(bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
    }

    /// Appends the [`Value::as_bytes`] form of a key in the form kept in the tree; never panics.
    #[doc(hidden)]
    #[inline]
    fn append_encoded(stored: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(stored);
    }

    /// Converts the [`Value::as_bytes`] form into the form kept in the tree, borrowing if they are the same.
    #[doc(hidden)]
    #[inline]
    fn to_stored<'a>(bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if Self::stores_verbatim() {
            return Cow::Borrowed(bytes);
        }
        let mut stored = Vec::with_capacity(bytes.len());
        Self::append_stored(bytes, &mut stored);
        Cow::Owned(stored)
    }

    /// Converts the form kept in the tree back into the [`Value::as_bytes`] form.
    #[doc(hidden)]
    #[inline]
    fn from_stored<'a>(stored: &'a [u8]) -> Cow<'a, [u8]> {
        if Self::stores_verbatim() {
            return Cow::Borrowed(stored);
        }
        let mut bytes = Vec::with_capacity(stored.len());
        Self::append_encoded(stored, &mut bytes);
        Cow::Owned(bytes)
    }

    /// Whether `stored` is the stored form of a legal key.
    #[doc(hidden)]
    #[inline]
    fn validate_stored(stored: &[u8]) -> bool {
        Self::validate(&Self::from_stored(stored))
    }
}

/// Who can order the stored keys of a table.
///
/// The codes are part of the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyOrder {
    /// Bytewise comparison of the stored form is the order of the keys.
    Memcmp,
    /// The stored form is the encoded form; [`Shape::compare`](super::Shape::compare) orders it.
    Known,
    /// Only [`Key::compare`] of a type outside this crate can order the keys.
    Foreign,
}

impl KeyOrder {
    /// The stored code.
    pub fn code(self) -> u8 {
        match self {
            Self::Memcmp => 0,
            Self::Known => 1,
            Self::Foreign => 2,
        }
    }

    /// The order with this stored code, if there is one.
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Memcmp),
            1 => Some(Self::Known),
            2 => Some(Self::Foreign),
            _ => None,
        }
    }

    /// Order of a composite of parts with this order, which `concatenates` if it keeps their stored forms one after the
    /// other with at most one of variable width, that one last.
    pub(super) fn of_composite(parts: Self, concatenates: bool) -> Self {
        match parts {
            Self::Memcmp if !concatenates => Self::Known,
            order => order,
        }
    }

    /// The less capable of two orders: what a composite of both can at most have.
    pub(super) fn weaker(self, other: Self) -> Self {
        if self.code() >= other.code() {
            self
        } else {
            other
        }
    }
}
