//! Optional values: a tag byte, then the value; `None` sorts first.
//!
//! If the value has a fixed width, so has the option: `None` is padded with zeros, so that an option of a fixed type costs
//! no length inside a composite and keeps its place in the bytewise order.

use std::cmp::Ordering;

use super::malformed::malformed;
use super::{Key, KeyOrder, Shape, TypeName, Value};

/// Tag of `None`.
pub(super) const TAG_NONE: u8 = 0;
/// Tag of `Some`.
pub(super) const TAG_SOME: u8 = 1;

/// Whether `padding`, the bytes after the tag of a `None`, is what the width of the value demands.
#[inline]
pub(super) fn padding_is_legal(padding: &[u8], value_width: Option<usize>) -> bool {
    padding.len() == value_width.unwrap_or(0) && padding.iter().all(|&byte| byte == 0)
}

impl<T: Value> Value for Option<T> {
    type SelfType<'a>
        = Option<T::SelfType<'a>>
    where
        Self: 'a;
    type AsBytes<'a>
        = Vec<u8>
    where
        Self: 'a;

    #[inline]
    fn fixed_width() -> Option<usize> {
        T::fixed_width().map(|bytes| bytes.saturating_add(1))
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> Self::SelfType<'a>
    where
        Self: 'a,
    {
        match data.split_first() {
            Some((&TAG_SOME, value)) => Some(T::from_bytes(value)),
            Some((&TAG_NONE, padding)) if padding_is_legal(padding, T::fixed_width()) => None,
            _ => malformed::<Self>(data),
        }
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a Self::SelfType<'b>) -> Vec<u8>
    where
        Self: 'b,
    {
        let Some(value) = value else {
            return vec![TAG_NONE; Self::fixed_width().unwrap_or(1)];
        };
        let encoded = T::as_bytes(value);
        let encoded = encoded.as_ref();
        let mut out = Vec::with_capacity(encoded.len().saturating_add(1));
        out.push(TAG_SOME);
        out.extend_from_slice(encoded);
        out
    }

    fn type_name() -> TypeName {
        let value = T::type_name();
        TypeName::composite(format!("Option<{}>", value.name()), &[value])
    }

    fn shape() -> Shape {
        Shape::Option(Box::new(T::shape()))
    }

    #[inline]
    fn validate(data: &[u8]) -> bool {
        match data.split_first() {
            Some((&TAG_SOME, value)) => T::validate(value),
            Some((&TAG_NONE, padding)) => padding_is_legal(padding, T::fixed_width()),
            _ => false,
        }
    }
}

impl<T: Key> Key for Option<T> {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        match (left, right) {
            ([TAG_SOME, left @ ..], [TAG_SOME, right @ ..]) => T::compare(left, right),
            // The tag decides, or both are `None` and alike to the last zero.
            _ => left.cmp(right),
        }
    }

    #[inline]
    fn order() -> KeyOrder {
        T::order()
    }

    #[inline]
    fn stores_verbatim() -> bool {
        T::stores_verbatim() || Self::order() != KeyOrder::Memcmp
    }

    fn append_stored(bytes: &[u8], out: &mut Vec<u8>) {
        match bytes {
            [TAG_SOME, value @ ..] if !Self::stores_verbatim() => {
                out.push(TAG_SOME);
                T::append_stored(value, out);
            }
            _ => out.extend_from_slice(bytes),
        }
    }

    fn append_encoded(stored: &[u8], out: &mut Vec<u8>) {
        match stored {
            [TAG_SOME, value @ ..] if !Self::stores_verbatim() => {
                out.push(TAG_SOME);
                T::append_encoded(value, out);
            }
            _ => out.extend_from_slice(stored),
        }
    }
}
