//! Encodings, stored forms, names and texts written out: they are part of the file format and of the tool's output.

use super::*;
use crate::types::Shape;

/// The encoded and the stored form of one key.
fn forms<'v, K: Key + 'v>(key: K::SelfType<'v>) -> (Vec<u8>, Vec<u8>) {
    let encoded = encode::<K>(&key);
    let stored = K::to_stored(&encoded).into_owned();
    (encoded, stored)
}

fn same(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    (bytes.to_vec(), bytes.to_vec())
}

fn differ(encoded: &[u8], stored: &[u8]) -> (Vec<u8>, Vec<u8>) {
    (encoded.to_vec(), stored.to_vec())
}

#[test]
fn scalars() {
    assert_eq!(forms::<()>(()), same(b""));
    assert_eq!(forms::<bool>(true), same(&[1]));
    assert_eq!(
        forms::<char>('\u{10abcd}'),
        differ(&[0xcd, 0xab, 0x10], &[0x10, 0xab, 0xcd])
    );
    assert_eq!(
        forms::<u32>(0x0102_0304),
        differ(&[4, 3, 2, 1], &[1, 2, 3, 4])
    );
    assert_eq!(forms::<i16>(-2), differ(&[0xfe, 0xff], &[0x7f, 0xfe]));
    assert_eq!(forms::<i8>(1), differ(&[1], &[0x81]));
    assert_eq!(forms::<&str>("ab"), same(b"ab"));
    assert_eq!(encode::<f32>(&1.0), [0, 0, 0x80, 0x3f]);
}

#[test]
fn composites() {
    assert_eq!(forms::<Option<u16>>(None), same(&[0, 0, 0]));
    assert_eq!(
        forms::<Option<u16>>(Some(2)),
        differ(&[1, 2, 0], &[1, 0, 2])
    );
    assert_eq!(forms::<Option<&str>>(None), same(&[0]));
    assert_eq!(forms::<Option<&str>>(Some("a")), same(b"\x01a"));
    assert_eq!(
        forms::<(u16, &str)>((2, "ab")),
        differ(b"\x02\0ab", b"\0\x02ab")
    );
    assert_eq!(forms::<(&str, u16)>(("ab", 2)), same(b"ab\x02\0"));
    assert_eq!(
        forms::<(&str, u16, &str)>(("ab", 2, "c")),
        same(b"\x02ab\x02\0c")
    );
    assert_eq!(forms::<[&str; 3]>(["a", "", "bc"]), same(b"\x01\0abc"));
    assert_eq!(
        forms::<[u16; 2]>([1, 2]),
        differ(&[1, 0, 2, 0], &[0, 1, 0, 2])
    );
    assert_eq!(encode::<Vec<u16>>(&vec![1, 2]), [2, 1, 0, 2, 0]);
    assert_eq!(encode::<Vec<&str>>(&vec!["a", "", "bc"]), b"\x03\x01\0abc");
    let long = "x".repeat(300);
    assert_eq!(
        encode::<(&str, &str)>(&(&long, ""))[..3],
        [0xac, 0x02, b'x']
    );
}

#[test]
fn widths() {
    assert_eq!(<Option<u16>>::fixed_width(), Some(3));
    assert_eq!(<Option<()>>::fixed_width(), Some(1));
    assert_eq!(<Option<&str>>::fixed_width(), None);
    assert_eq!(<(u8, [u16; 2], ())>::fixed_width(), Some(5));
    assert_eq!(<[&str; 0]>::fixed_width(), Some(0));
    assert_eq!(<[&str; 1]>::fixed_width(), None);
    assert_eq!(<[(); usize::MAX]>::fixed_width(), Some(0));
    assert_eq!(<Vec<u8>>::fixed_width(), None);
}

#[test]
fn names() {
    assert_eq!(<()>::type_name().name(), "()");
    assert_eq!(<&str>::type_name().name(), "&str");
    assert_eq!(<&[u8]>::type_name().name(), "&[u8]");
    assert_eq!(<[u8; 4]>::type_name(), <&[u8; 4]>::type_name());
    assert_eq!(<[u8; 4]>::shape(), <&[u8; 4]>::shape());
    assert_eq!(<[String; 4]>::type_name().name(), "[String;4]");
    assert_eq!(<(u8,)>::type_name().name(), "(u8,)");
    assert_eq!(
        <(u8, Option<&str>)>::type_name().name(),
        "(u8,Option<&str>)"
    );
    assert_eq!(<Vec<f32>>::type_name().name(), "Vec<f32>");
    assert!(<Vec<(f32, [char; 2])>>::type_name().is_built_in());
}

/// The text of one value.
fn text<'v, V: Value + 'v>(value: V::SelfType<'v>) -> String {
    V::shape().show(&encode::<V>(&value))
}

#[test]
fn texts_of_scalars() {
    assert_eq!(text::<()>(()), "()");
    assert_eq!(text::<bool>(false), "false");
    assert_eq!(text::<char>('\''), "'");
    assert_eq!(text::<i8>(-128), "-128");
    assert_eq!(text::<u128>(u128::MAX), u128::MAX.to_string());
    assert_eq!(text::<i128>(i128::MIN), i128::MIN.to_string());
    assert_eq!(text::<f64>(0.1), "0.1");
    assert_eq!(text::<f32>(f32::NAN), "NaN");
    assert_eq!(text::<&str>("a\"b"), "a\"b");
    assert_eq!(text::<&[u8]>(b"ab c"), "ab c");
    assert_eq!(text::<&[u8]>(b"a\0"), "0x6100");
    assert_eq!(text::<&[u8]>(b"\xff"), "0xff");
    assert_eq!(text::<[u8; 2]>([0, 1]), "0x0001");
}

#[test]
fn texts_of_composites() {
    assert_eq!(text::<Option<u8>>(None), "None");
    assert_eq!(text::<Option<&str>>(Some("a\n")), "Some(\"a\\n\")");
    assert_eq!(text::<(&str, u8)>(("a\"b", 3)), "(\"a\\\"b\", 3)");
    assert_eq!(text::<(char,)>(('\'',)), "('\\'',)");
    assert_eq!(text::<[&[u8]; 2]>([b"ab", b"\xff"]), "[\"ab\", 0xff]");
    assert_eq!(
        text::<Vec<(i32, bool)>>(vec![(-1, true), (0, false)]),
        "[(-1, true), (0, false)]"
    );
    assert_eq!(text::<Vec<u8>>(vec![]), "[]");
    assert_eq!(text::<[(); 3]>([(); 3]), "[(); 3]");
    assert_eq!(u32::shape().show(&[1, 2]), "malformed 0x0102");
    assert_eq!(<(u8, bool)>::shape().show(&[1, 2]), "malformed 0x0102");
    assert_eq!(Shape::Opaque { fixed_width: None }.show(&[]), "0x");
}
