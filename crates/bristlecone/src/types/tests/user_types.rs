//! Types from outside the crate: they keep their own order, alone and inside composites.

use std::cmp::{Ordering, Reverse};

use super::*;
use crate::types::{Shape, TypeName, TypeSchema};

/// A user's key that sorts backwards, so that neither bytewise nor built-in order can pass for its own.
#[derive(Debug)]
struct Backwards;

impl Value for Backwards {
    type SelfType<'a> = Reverse<u16>;
    type AsBytes<'a> = [u8; 2];

    fn fixed_width() -> Option<usize> {
        Some(2)
    }

    fn from_bytes<'a>(data: &'a [u8]) -> Reverse<u16>
    where
        Self: 'a,
    {
        Reverse(u16::from_bytes(data))
    }

    fn as_bytes<'a, 'b: 'a>(value: &'a Reverse<u16>) -> [u8; 2]
    where
        Self: 'b,
    {
        value.0.to_le_bytes()
    }

    fn type_name() -> TypeName {
        TypeName::new("u16")
    }
}

impl Key for Backwards {
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        u16::compare(right, left)
    }
}

#[test]
fn composites_of_user_keys_are_foreign_and_verbatim() {
    fn check<K: Key>() {
        assert_eq!(K::order(), KeyOrder::Foreign);
        assert_eq!(K::shape().order(), KeyOrder::Foreign);
        assert!(K::stores_verbatim() && K::shape().stores_verbatim());
        assert!(!K::shape().is_built_in());
        assert!(!K::type_name().is_built_in());
    }
    check::<Backwards>();
    check::<Option<Backwards>>();
    check::<[Backwards; 2]>();
    check::<[Backwards; 0]>();
    check::<(Backwards,)>();
    check::<(i32, Backwards)>();
    check::<(&str, Backwards)>();
    check::<(u8, (Option<[Backwards; 1]>, &str))>();
}

#[test]
fn composites_of_user_keys_use_the_users_order() {
    for_lists(any::<(i8, u16)>(), |list| {
        for left in list {
            for right in list {
                let [left, right] = [left, right].map(|v| (v.0 % 2, Reverse(v.1 % 300)));
                let bytes = [left, right].map(|v| encode::<(i8, Backwards)>(&v));
                let order = <(i8, Backwards)>::compare(&bytes[0], &bytes[1]);
                assert_eq!(order, left.cmp(&right));
                let bytes = [left, right].map(|v| encode::<[Option<Backwards>; 1]>(&[Some(v.1)]));
                let order = <[Option<Backwards>; 1]>::compare(&bytes[0], &bytes[1]);
                assert_eq!(order, left.1.cmp(&right.1));
                check_value::<(i8, Backwards)>(&left);
            }
        }
    });
}

#[test]
fn user_types_are_known_by_width_only() {
    assert_eq!(
        Backwards::shape(),
        Shape::Opaque {
            fixed_width: Some(2)
        }
    );
    assert!(Backwards::validate(&[1, 2]));
    assert!(!Backwards::validate(&[1, 2, 3]));
    assert!(!Backwards::any_bytes_are_legal());
    assert_eq!(<(Backwards, u8)>::fixed_width(), Some(3));
    assert_eq!(Backwards::shape().show(&[1, 0xab]), "0x01ab");
}

#[test]
fn user_type_is_not_taken_for_a_built_in_of_the_same_name() {
    assert_eq!(Backwards::type_name().name(), u16::type_name().name());
    assert_ne!(Backwards::type_name(), u16::type_name());
    assert_ne!(Option::<Backwards>::type_name(), Option::<u16>::type_name());
    assert_ne!(<(u8, Backwards)>::type_name(), <(u8, u16)>::type_name());
    assert_ne!(
        TypeSchema::of::<[Backwards; 2]>(),
        TypeSchema::of::<[u16; 2]>()
    );
}
