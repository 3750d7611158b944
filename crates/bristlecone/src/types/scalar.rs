//! Small scalars: the unit, booleans and characters.

use std::cmp::Ordering;

use super::malformed::malformed;
use super::{Key, KeyOrder, Shape, TypeName, Value};

impl Value for () {
    type SelfType<'a> = ();
    type AsBytes<'a> = [u8; 0];

    #[inline]
    fn fixed_width() -> Option<usize> {
        Some(0)
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8])
    where
        Self: 'a,
    {
        if !data.is_empty() {
            malformed::<Self>(data);
        }
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(_: &'a ()) -> [u8; 0]
    where
        Self: 'b,
    {
        []
    }

    fn type_name() -> TypeName {
        TypeName::built_in("()")
    }

    fn shape() -> Shape {
        Shape::Unit
    }

    #[inline]
    fn any_bytes_are_legal() -> bool {
        true
    }
}

impl Key for () {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::Memcmp
    }
}

impl Value for bool {
    type SelfType<'a> = bool;
    type AsBytes<'a> = [u8; 1];

    #[inline]
    fn fixed_width() -> Option<usize> {
        Some(1)
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> bool
    where
        Self: 'a,
    {
        match data {
            [0] => false,
            [1] => true,
            _ => malformed::<Self>(data),
        }
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a bool) -> [u8; 1]
    where
        Self: 'b,
    {
        [u8::from(*value)]
    }

    fn type_name() -> TypeName {
        TypeName::built_in("bool")
    }

    fn shape() -> Shape {
        Shape::Bool
    }

    #[inline]
    fn validate(data: &[u8]) -> bool {
        matches!(data, [0 | 1])
    }
}

impl Key for bool {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::Memcmp
    }
}

/// Width of a character: every scalar value is below 2^21.
pub(super) const CHAR_BYTES: usize = 3;

/// Reads an encoded character; `None` if `data` is not a Unicode scalar value in three bytes.
#[inline]
pub(super) fn decode_char(data: &[u8]) -> Option<char> {
    let &[low, middle, high] = data else {
        return None;
    };
    char::from_u32(u32::from_le_bytes([low, middle, high, 0]))
}

impl Value for char {
    type SelfType<'a> = char;
    type AsBytes<'a> = [u8; CHAR_BYTES];

    #[inline]
    fn fixed_width() -> Option<usize> {
        Some(CHAR_BYTES)
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> char
    where
        Self: 'a,
    {
        match decode_char(data) {
            Some(value) => value,
            None => malformed::<Self>(data),
        }
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a char) -> [u8; CHAR_BYTES]
    where
        Self: 'b,
    {
        let [low, middle, high, _] = u32::from(*value).to_le_bytes();
        [low, middle, high]
    }

    fn type_name() -> TypeName {
        TypeName::built_in("char")
    }

    fn shape() -> Shape {
        Shape::Char
    }

    #[inline]
    fn validate(data: &[u8]) -> bool {
        decode_char(data).is_some()
    }
}

impl Key for char {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        match (left, right) {
            ([_, _, _], [_, _, _]) => left.iter().rev().cmp(right.iter().rev()),
            _ => left.cmp(right),
        }
    }

    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::Memcmp
    }

    #[inline]
    fn stores_verbatim() -> bool {
        false
    }

    #[inline]
    fn append_stored(bytes: &[u8], out: &mut Vec<u8>) {
        match bytes {
            &[low, middle, high] => out.extend_from_slice(&[high, middle, low]),
            _ => out.extend_from_slice(bytes),
        }
    }

    #[inline]
    fn append_encoded(stored: &[u8], out: &mut Vec<u8>) {
        // Reversal is its own inverse.
        Self::append_stored(stored, out);
    }

    #[inline]
    fn validate_stored(stored: &[u8]) -> bool {
        matches!(stored, &[high, middle, low] if decode_char(&[low, middle, high]).is_some())
    }
}
