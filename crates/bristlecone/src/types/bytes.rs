//! Byte strings, of any length or of one fixed length: as they are.

use std::cmp::Ordering;

use super::malformed::malformed;
use super::{IntegerKind, Key, KeyOrder, MutInPlaceValue, Shape, TypeName, Value};

impl Value for &[u8] {
    type SelfType<'a>
        = &'a [u8]
    where
        Self: 'a;
    type AsBytes<'a>
        = &'a [u8]
    where
        Self: 'a;

    #[inline]
    fn fixed_width() -> Option<usize> {
        None
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> &'a [u8]
    where
        Self: 'a,
    {
        data
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a &'b [u8]) -> &'a [u8]
    where
        Self: 'b,
    {
        value
    }

    fn type_name() -> TypeName {
        TypeName::built_in("&[u8]")
    }

    fn shape() -> Shape {
        Shape::Bytes
    }

    #[inline]
    fn any_bytes_are_legal() -> bool {
        true
    }
}

impl Key for &[u8] {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::Memcmp
    }
}

impl MutInPlaceValue for &[u8] {
    type BaseRefType = [u8];

    #[inline]
    fn initialize(data: &mut [u8]) {
        // The caller must never see what the memory held before.
        data.fill(0);
    }

    #[inline]
    fn from_bytes_mut(data: &mut [u8]) -> &mut [u8] {
        data
    }
}

/// Named and shaped as `[u8; N]`, whose encoding it shares: a table of one can be opened as the other.
impl<const N: usize> Value for &[u8; N] {
    type SelfType<'a>
        = &'a [u8; N]
    where
        Self: 'a;
    type AsBytes<'a>
        = &'a [u8; N]
    where
        Self: 'a;

    #[inline]
    fn fixed_width() -> Option<usize> {
        Some(N)
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> &'a [u8; N]
    where
        Self: 'a,
    {
        match data.try_into() {
            Ok(bytes) => bytes,
            Err(_) => malformed::<Self>(data),
        }
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a &'b [u8; N]) -> &'a [u8; N]
    where
        Self: 'b,
    {
        value
    }

    fn type_name() -> TypeName {
        TypeName::built_in(format!("[u8;{N}]"))
    }

    fn shape() -> Shape {
        Shape::array(Shape::Integer(IntegerKind::U8), N)
    }

    #[inline]
    fn any_bytes_are_legal() -> bool {
        true
    }
}

impl<const N: usize> Key for &[u8; N] {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::Memcmp
    }
}
