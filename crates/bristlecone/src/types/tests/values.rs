//! Types that are values only, and the panics of misuse.

use super::*;
use crate::types::MutInPlaceValue;

/// Checks one value type; see `key_type` for the parts.
macro_rules! value_type {
    ($name:ident: $value:ty, $strategy:expr, |$owned:ident: &$of:ty| $view:expr) => {
        #[test]
        fn $name() {
            #[allow(clippy::ptr_arg, reason = "the owned type is the strategy's")]
            fn view<'v>($owned: &'v $of) -> <$value as Value>::SelfType<'v> {
                $view
            }
            for_lists(($strategy, Damage::strategy()), |list| {
                for (value, damage) in list {
                    let value = view(value);
                    check_value::<$value>(&value);
                    check_any_bytes::<$value>(&damage.apply(encode::<$value>(&value)));
                }
            });
        }
    };
}

value_type!(float_32: f32, any::<u32>(), |v: &u32| f32::from_bits(*v));
value_type!(float_64: f64, any::<u64>(), |v: &u64| f64::from_bits(*v));
value_type!(ints: Vec<u32>, vec(any::<u32>(), 0..4), |v: &Vec<u32>| v.clone());
value_type!(bytes: Vec<u8>, short_bytes(), |v: &Vec<u8>| v.clone());
value_type!(units: Vec<()>, vec(Just(()), 0..4), |v: &Vec<()>| v.clone());
value_type!(texts: Vec<&'static str>, vec(short_text(), 0..4),
    |v: &Vec<String>| v.iter().map(String::as_str).collect());
value_type!(lists: Vec<Vec<bool>>, vec(vec(any::<bool>(), 0..3), 0..4),
    |v: &Vec<Vec<bool>>| v.clone());
value_type!(option_list: Option<Vec<i16>>, proptest::option::of(vec(any::<i16>(), 0..3)),
    |v: &Option<Vec<i16>>| v.clone());
value_type!(array_of_lists: [Vec<String>; 2], [vec(short_text(), 0..3), vec(short_text(), 0..3)],
    |v: &[Vec<String>; 2]| v.clone());
value_type!(tuple_of_lists: (Vec<u8>, f32, Vec<char>),
    (short_bytes(), any::<u32>(), vec(any::<char>(), 0..3)),
    |v: &(Vec<u8>, u32, Vec<char>)| (v.0.clone(), f32::from_bits(v.1), v.2.clone()));

#[test]
fn count_of_empty_elements_is_bounded() {
    // 2^32 elements without bytes, in six bytes of data.
    let wild = [0x80, 0x80, 0x80, 0x80, 0x10];
    assert!(!Vec::<()>::validate(&wild));
    assert!(!Vec::<()>::shape().validate(&wild));
    let widest = [0xff, 0xff, 0xff, 0xff, 0x0f];
    assert!(Vec::<()>::validate(&widest));
    assert_eq!(Vec::<()>::shape().show(&widest), "[(); 4294967295]");
}

#[test]
fn reserved_bytes_start_as_zeros() {
    let mut data = *b"secret";
    <&[u8]>::initialize(&mut data);
    assert_eq!(data, [0; 6]);
    <&[u8]>::from_bytes_mut(&mut data)[0] = 7;
    assert_eq!(<&[u8]>::from_bytes(&data), [7, 0, 0, 0, 0, 0]);
}

#[test]
#[should_panic(expected = "3 bytes are not an encoding of u64")]
fn malformed_bytes_are_named() {
    u64::from_bytes(&[1, 2, 3]);
}
