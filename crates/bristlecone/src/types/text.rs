//! Text: UTF-8 as it is, whose bytewise order is the order of `str`.

use std::cmp::Ordering;
use std::str;

use super::malformed::malformed;
use super::{Key, KeyOrder, Shape, TypeName, Value};

impl Value for &str {
    type SelfType<'a>
        = &'a str
    where
        Self: 'a;
    type AsBytes<'a>
        = &'a str
    where
        Self: 'a;

    #[inline]
    fn fixed_width() -> Option<usize> {
        None
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> &'a str
    where
        Self: 'a,
    {
        match str::from_utf8(data) {
            Ok(text) => text,
            Err(_) => malformed::<Self>(data),
        }
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a &'b str) -> &'a str
    where
        Self: 'b,
    {
        value
    }

    fn type_name() -> TypeName {
        TypeName::built_in("&str")
    }

    fn shape() -> Shape {
        Shape::Text
    }

    #[inline]
    fn validate(data: &[u8]) -> bool {
        str::from_utf8(data).is_ok()
    }
}

impl Key for &str {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::Memcmp
    }
}

impl Value for String {
    type SelfType<'a> = String;
    type AsBytes<'a> = &'a str;

    #[inline]
    fn fixed_width() -> Option<usize> {
        None
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> String
    where
        Self: 'a,
    {
        match str::from_utf8(data) {
            Ok(text) => text.to_owned(),
            Err(_) => malformed::<Self>(data),
        }
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a String) -> &'a str
    where
        Self: 'b,
    {
        value
    }

    fn type_name() -> TypeName {
        TypeName::built_in("String")
    }

    fn shape() -> Shape {
        Shape::Text
    }

    #[inline]
    fn validate(data: &[u8]) -> bool {
        str::from_utf8(data).is_ok()
    }
}

impl Key for String {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::Memcmp
    }
}
