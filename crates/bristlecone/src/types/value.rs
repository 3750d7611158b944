//! What a type must offer to be stored: an encoding, a name, and (built-in types) a description of the encoding.

use std::fmt::Debug;

use super::{Shape, TypeName};

/// A type that can be the value of a table.
pub trait Value: Debug {
    /// `Self` with its lifetimes replaced by `'a`.
    type SelfType<'a>: Debug + 'a
    where
        Self: 'a;

    /// What [`Value::as_bytes`] returns: bytes, or something that lends them.
    type AsBytes<'a>: AsRef<[u8]> + 'a
    where
        Self: 'a;

    /// Width in bytes of every encoding, or `None` if it varies.
    fn fixed_width() -> Option<usize>;

    /// Reads an encoding. May lend from `data` or build an owned value.
    ///
    /// # Panics
    /// May panic if `data` is not an encoding of this type.
    fn from_bytes<'a>(data: &'a [u8]) -> Self::SelfType<'a>
    where
        Self: 'a;

    /// Encodes a value.
    fn as_bytes<'a, 'b: 'a>(value: &'a Self::SelfType<'b>) -> Self::AsBytes<'a>
    where
        Self: 'b;

    /// Name of the type, unique among all types that may meet in one database.
    fn type_name() -> TypeName;

    /// Description of the encoding, for whoever reads it without the type. Types outside this crate leave it alone.
    #[doc(hidden)]
    fn shape() -> Shape {
        // A width beyond 4 GiB cannot be stored anyway; saturating keeps it fixed.
        let width = Self::fixed_width().map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        Shape::Opaque { fixed_width: width }
    }

    /// Whether `data` is a legal encoding. For a built-in type, true exactly when [`Value::from_bytes`] does not panic.
    #[doc(hidden)]
    #[inline]
    fn validate(data: &[u8]) -> bool {
        Self::fixed_width().is_none_or(|bytes| bytes == data.len())
    }

    /// Whether every byte string of the fixed width, or any byte string at all if the width varies, is a legal encoding,
    /// so that a composite need not look at each part.
    #[doc(hidden)]
    #[inline]
    fn any_bytes_are_legal() -> bool {
        false
    }
}

/// A value that can be written in place, inside the bytes the table reserves for it.
pub trait MutInPlaceValue: Value {
    /// What the reserved bytes are seen as.
    type BaseRefType: Debug + ?Sized;

    /// Makes `data` a legal encoding.
    fn initialize(data: &mut [u8]);

    /// Sees the reserved bytes as the base type.
    fn from_bytes_mut(data: &mut [u8]) -> &mut Self::BaseRefType;
}
