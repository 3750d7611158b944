//! Each key type against the shared properties: Rust's own order is the model.

use std::num::{NonZeroI8, NonZeroI64, NonZeroU16, NonZeroU128};

use super::*;
use crate::types::KeyOrder::{Known, Memcmp};

/// An integer, mostly at an edge.
macro_rules! edges {
    ($integer:ident) => {
        prop_oneof![
            select(vec![
                $integer::MIN,
                $integer::MAX,
                0,
                1,
                255_u8 as $integer,
                128_u8 as $integer
            ]),
            any::<$integer>(),
        ]
    };
}

/// Checks one key type. The strategy makes owned values; the view lends them as the type wants.
macro_rules! key_type {
    ($name:ident: $key:ty, $order:ident, $strategy:expr, |$owned:ident: &$of:ty| $view:expr) => {
        #[test]
        fn $name() {
            #[allow(clippy::ptr_arg, reason = "the owned type is the strategy's")]
            fn view<'v>($owned: &'v $of) -> <$key as Value>::SelfType<'v> {
                $view
            }
            assert_eq!(<$key>::order(), $order);
            for_lists(($strategy, Damage::strategy()), |list| {
                for (left, damage) in list {
                    let left = view(left);
                    check_value::<$key>(&left);
                    let damaged = damage.apply(encode::<$key>(&left));
                    check_any_bytes::<$key>(&damaged);
                    for (right, _) in list {
                        let right = view(right);
                        check_key_pair::<$key>(&left, &right);
                        check_any_key_bytes::<$key>(&damaged, &encode::<$key>(&right));
                    }
                }
            });
        }
    };
}

type Text = &'static str;
type Bytes = &'static [u8];

key_type!(unit: (), Memcmp, Just(()), |v: &()| *v);
key_type!(boolean: bool, Memcmp, any::<bool>(), |v: &bool| *v);
key_type!(character: char, Memcmp, any::<char>(), |v: &char| *v);
key_type!(int_u8: u8, Memcmp, edges!(u8), |v: &u8| *v);
key_type!(int_u16: u16, Memcmp, edges!(u16), |v: &u16| *v);
key_type!(int_u32: u32, Memcmp, edges!(u32), |v: &u32| *v);
key_type!(int_u64: u64, Memcmp, edges!(u64), |v: &u64| *v);
key_type!(int_u128: u128, Memcmp, edges!(u128), |v: &u128| *v);
key_type!(int_i8: i8, Memcmp, edges!(i8), |v: &i8| *v);
key_type!(int_i16: i16, Memcmp, edges!(i16), |v: &i16| *v);
key_type!(int_i32: i32, Memcmp, edges!(i32), |v: &i32| *v);
key_type!(int_i64: i64, Memcmp, edges!(i64), |v: &i64| *v);
key_type!(int_i128: i128, Memcmp, edges!(i128), |v: &i128| *v);
key_type!(non_zero_u16: NonZeroU16, Memcmp, any::<NonZeroU16>(), |v: &NonZeroU16| *v);
key_type!(non_zero_u128: NonZeroU128, Memcmp, any::<NonZeroU128>(), |v: &NonZeroU128| *v);
key_type!(non_zero_i8: NonZeroI8, Memcmp, any::<NonZeroI8>(), |v: &NonZeroI8| *v);
key_type!(non_zero_i64: NonZeroI64, Memcmp, any::<NonZeroI64>(), |v: &NonZeroI64| *v);
key_type!(text: Text, Memcmp, short_text(), |v: &String| v.as_str());
key_type!(owned_text: String, Memcmp, short_text(), |v: &String| v.clone());
key_type!(bytes: Bytes, Memcmp, short_bytes(), |v: &Vec<u8>| v.as_slice());
key_type!(byte_array: [u8; 3], Memcmp, any::<[u8; 3]>(), |v: &[u8; 3]| *v);
key_type!(lent_byte_array: &'static [u8; 3], Memcmp, any::<[u8; 3]>(), |v: &[u8; 3]| v);
key_type!(no_bytes: [u8; 0], Memcmp, any::<[u8; 0]>(), |v: &[u8; 0]| *v);
key_type!(no_lent_bytes: &'static [u8; 0], Memcmp, any::<[u8; 0]>(), |v: &[u8; 0]| v);
key_type!(int_array: [i16; 3], Memcmp, any::<[i16; 3]>(), |v: &[i16; 3]| *v);
key_type!(text_array: [Text; 3], Known, [short_text(), short_text(), short_text()],
    |v: &[String; 3]| v.each_ref().map(String::as_str));
key_type!(byte_strings: [Bytes; 2], Known, [short_bytes(), short_bytes()],
    |v: &[Vec<u8>; 2]| v.each_ref().map(Vec::as_slice));
key_type!(byte_string_pair: (Bytes, Bytes), Known, (short_bytes(), short_bytes()),
    |v: &(Vec<u8>, Vec<u8>)| (v.0.as_slice(), v.1.as_slice()));
key_type!(one_text_array: [Text; 1], Memcmp, [short_text()],
    |v: &[String; 1]| v.each_ref().map(String::as_str));
key_type!(no_text_array: [Text; 0], Memcmp, Just(()), |_v: &()| []);
key_type!(nested_array: [[i16; 2]; 2], Memcmp, any::<[[i16; 2]; 2]>(), |v: &[[i16; 2]; 2]| *v);
key_type!(unit_array: [(); 4], Memcmp, Just([(); 4]), |v: &[(); 4]| *v);

key_type!(option_int: Option<i32>, Memcmp, proptest::option::of(edges!(i32)),
    |v: &Option<i32>| *v);
key_type!(option_unit: Option<()>, Memcmp, any::<Option<()>>(), |v: &Option<()>| *v);
key_type!(option_text: Option<Text>, Memcmp, proptest::option::of(short_text()),
    |v: &Option<String>| v.as_deref());
key_type!(option_option: Option<Option<i8>>, Memcmp, any::<Option<Option<i8>>>(),
    |v: &Option<Option<i8>>| *v);
key_type!(option_option_text: Option<Option<String>>, Memcmp,
    proptest::option::of(proptest::option::of(short_text())),
    |v: &Option<Option<String>>| v.clone());
key_type!(option_known: Option<(Text, u32)>, Known,
    proptest::option::of((short_text(), any::<u32>())),
    |v: &Option<(String, u32)>| v.as_ref().map(|v| (v.0.as_str(), v.1)));
key_type!(option_array: Option<[i64; 2]>, Memcmp, any::<Option<[i64; 2]>>(),
    |v: &Option<[i64; 2]>| *v);

key_type!(one_int: (i32,), Memcmp, (edges!(i32),), |v: &(i32,)| *v);
key_type!(one_text: (Text,), Memcmp, (short_text(),), |v: &(String,)| (v.0.as_str(),));
key_type!(fixed_pair: (i8, u64), Memcmp, (edges!(i8), edges!(u64)), |v: &(i8, u64)| *v);
key_type!(text_last: (u16, Text), Memcmp, (0_u16..3, short_text()),
    |v: &(u16, String)| (v.0, v.1.as_str()));
key_type!(text_first: (Text, u32), Known, (short_text(), edges!(u32)),
    |v: &(String, u32)| (v.0.as_str(), v.1));
key_type!(text_middle: (i8, Text, i8), Known, (-1_i8..1, short_text(), any::<i8>()),
    |v: &(i8, String, i8)| (v.0, v.1.as_str(), v.2));
key_type!(two_texts: (Text, Bytes), Known, (short_text(), short_bytes()),
    |v: &(String, Vec<u8>)| (v.0.as_str(), v.1.as_slice()));
key_type!(three_texts: (Text, u8, Text, Text), Known,
    (short_text(), 0_u8..2, short_text(), short_text()),
    |v: &(String, u8, String, String)| (v.0.as_str(), v.1, v.2.as_str(), v.3.as_str()));
key_type!(text_before_unit: (Text, ()), Known, (short_text(), Just(())),
    |v: &(String, ())| (v.0.as_str(), ()));
key_type!(unit_before_text: ((), Text), Memcmp, (Just(()), short_text()),
    |v: &((), String)| ((), v.1.as_str()));
key_type!(option_text_first: (Option<Text>, u8), Known,
    (proptest::option::of(short_text()), any::<u8>()),
    |v: &(Option<String>, u8)| (v.0.as_deref(), v.1));
key_type!(option_text_last: (i64, Option<Text>), Memcmp,
    (-1_i64..2, proptest::option::of(short_text())),
    |v: &(i64, Option<String>)| (v.0, v.1.as_deref()));
key_type!(option_int_first: (Option<i16>, Text), Memcmp, (any::<Option<i16>>(), short_text()),
    |v: &(Option<i16>, String)| (v.0, v.1.as_str()));
key_type!(nested_memcmp: ((u8, i32), ([i8; 2], Option<Text>)), Memcmp,
    ((0_u8..2, -1_i32..2), ([-1_i8..2, -1_i8..2], proptest::option::of(short_text()))),
    |v: &((u8, i32), ([i8; 2], Option<String>))| (v.0, (v.1.0, v.1.1.as_deref())));
key_type!(nested_known: ((Text, i32), [Option<Text>; 2]), Known,
((short_text(), -1_i32..2),
    [proptest::option::of(short_text()), proptest::option::of(short_text())]),
|v: &((String, i32), [Option<String>; 2])| {
    ((v.0.0.as_str(), v.0.1), v.1.each_ref().map(Option::as_deref))
});
key_type!(array_of_tuples: [(i8, char); 2], Memcmp, any::<[(i8, char); 2]>(),
    |v: &[(i8, char); 2]| *v);
key_type!(array_of_known: [(Text, i8); 2], Known,
    [(short_text(), -1_i8..2), (short_text(), -1_i8..2)],
    |v: &[(String, i8); 2]| v.each_ref().map(|v| (v.0.as_str(), v.1)));
key_type!(five: (u8, i8, bool, char, Text), Memcmp,
    (0_u8..2, -1_i8..1, any::<bool>(), any::<char>(), short_text()),
    |v: &(u8, i8, bool, char, String)| (v.0, v.1, v.2, v.3, v.4.as_str()));
key_type!(twelve: (u8, i8, u8, i8, u8, i8, u8, i8, u8, i8, u8, i16), Memcmp,
    (0_u8..2, -1_i8..1, 0_u8..2, -1_i8..1, 0_u8..2, -1_i8..1,
        0_u8..2, -1_i8..1, 0_u8..2, -1_i8..1, 0_u8..2, any::<i16>()),
    |v: &(u8, i8, u8, i8, u8, i8, u8, i8, u8, i8, u8, i16)| *v);

#[test]
fn signed_integers_store_in_order() {
    macro_rules! ascending {
        ($($integer:ident),+) => {$({
            let ascending = [$integer::MIN, -1, 0, 1, $integer::MAX];
            let stored = ascending.map(|v| {
                $integer::to_stored(&$integer::as_bytes(&v)).into_owned()
            });
            assert!(stored.is_sorted_by(|left, right| left < right), stringify!($integer));
        })+};
    }
    ascending!(i8, i16, i32, i64, i128);
}

#[test]
fn none_sorts_before_every_some() {
    let none = encode::<Option<i32>>(&None);
    let least = encode::<Option<i32>>(&Some(i32::MIN));
    assert!(Option::<i32>::compare(&none, &least).is_lt());
    assert!(Option::<i32>::to_stored(&none) < Option::<i32>::to_stored(&least));
    assert!(encode::<Option<&str>>(&None) < encode::<Option<&str>>(&Some("")));
}

#[test]
fn tuples_of_every_length_keep_their_order() {
    macro_rules! of_length {
        ($($part:ident $field:tt),+) => {{
            type Tuple = ($($part,)+);
            assert_eq!(Tuple::order(), Memcmp);
            for_lists(any::<[i16; 12]>(), |list| {
                let tuples: Vec<Tuple> = list.iter().map(|v| ($(v[$field] % 2,)+)).collect();
                for left in &tuples {
                    check_value::<Tuple>(left);
                    tuples.iter().for_each(|right| check_key_pair::<Tuple>(left, right));
                }
            });
        }};
    }
    of_length!(i16 0);
    of_length!(i16 0, i16 1);
    of_length!(i16 0, i16 1, i16 2);
    of_length!(i16 0, i16 1, i16 2, i16 3);
    of_length!(i16 0, i16 1, i16 2, i16 3, i16 4);
    of_length!(i16 0, i16 1, i16 2, i16 3, i16 4, i16 5);
    of_length!(i16 0, i16 1, i16 2, i16 3, i16 4, i16 5, i16 6);
    of_length!(i16 0, i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7);
    of_length!(i16 0, i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7, i16 8);
    of_length!(i16 0, i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7, i16 8, i16 9);
    of_length!(i16 0, i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7, i16 8, i16 9, i16 10);
    of_length!(
        i16 0, i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7, i16 8, i16 9, i16 10, i16 11
    );
}

#[test]
fn verbatim_keys_are_borrowed() {
    use std::borrow::Cow;
    assert!(matches!(<&[u8]>::to_stored(b"ab"), Cow::Borrowed(_)));
    assert!(matches!(<&str>::from_stored(b"ab"), Cow::Borrowed(_)));
    assert!(matches!(String::to_stored(b"ab"), Cow::Borrowed(_)));
    assert!(matches!(<[u8; 2]>::to_stored(b"ab"), Cow::Borrowed(_)));
    assert!(matches!(<&[u8; 2]>::to_stored(b"ab"), Cow::Borrowed(_)));
    assert!(matches!(
        <(u8, Option<&str>)>::to_stored(b"a\x01b"),
        Cow::Borrowed(_)
    ));
    assert!(matches!(
        <(&str, u32)>::to_stored(b"abcde"),
        Cow::Borrowed(_)
    ));
}
