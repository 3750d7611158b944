//! Properties every key and value type must have, checked by one harness for all of them.
//!
//! Values come from strategies that favour edges and common prefixes. Bytes come from legal encodings, damaged in one
//! place, and from nowhere: the typed code and the shape must agree on both.

mod golden;
mod keys;
mod layout;
mod schema;
mod shapes;
mod user_types;
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;

use super::{Key, KeyOrder, Value};

/// Checks a property of lists of values, without leaving regression files behind.
fn for_lists<S: Strategy>(of: S, property: impl Fn(&[S::Value])) {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&vec(of, 1..8), |list| {
        property(&list);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// One way to damage an encoding.
#[derive(Clone, Debug)]
enum Damage {
    Replace(Index, u8),
    Truncate(Index),
    Append(u8),
    Anything(Vec<u8>),
}

impl Damage {
    fn strategy() -> impl Strategy<Value = Self> {
        prop_oneof![
            (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Self::Replace(place, byte)),
            any::<Index>().prop_map(Self::Truncate),
            any::<u8>().prop_map(Self::Append),
            vec(
                prop_oneof![Just(0_u8), Just(1), Just(2), any::<u8>()],
                0..24
            )
            .prop_map(Self::Anything),
        ]
    }

    fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Replace(place, byte) if !bytes.is_empty() => {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            Self::Replace(..) => {}
            Self::Truncate(place) => bytes.truncate(place.index(bytes.len() + 1)),
            Self::Append(byte) => bytes.push(*byte),
            Self::Anything(other) => bytes.clone_from(other),
        }
        bytes
    }
}

/// Text over few letters, so that equal texts and common prefixes are frequent.
fn short_text() -> impl Strategy<Value = String> {
    vec(
        select(vec![
            '\0',
            'a',
            'b',
            '\u{7f}',
            '\u{e9}',
            '\u{ffff}',
            '\u{10ffff}',
        ]),
        0..4,
    )
    .prop_map(|letters| letters.into_iter().collect())
}

/// Bytes over few values, for the same reason.
fn short_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(select(vec![0_u8, 1, 0x7f, 0x80, 0xff]), 0..4)
}

/// The encoded form, owned.
fn encode<'v, V: Value + 'v>(value: &V::SelfType<'v>) -> Vec<u8> {
    V::as_bytes(value).as_ref().to_vec()
}

/// What holds of each legal value.
fn check_value<'v, V: Value + 'v>(value: &V::SelfType<'v>) {
    let bytes = encode::<V>(value);
    assert!(V::validate(&bytes), "{value:?} {bytes:?}");
    assert_eq!(format!("{:?}", V::from_bytes(&bytes)), format!("{value:?}"));
    if let Some(width) = V::fixed_width() {
        assert_eq!(bytes.len(), width);
    }
    assert!(
        !V::shape().show(&bytes).starts_with("malformed"),
        "{value:?}"
    );
    check_any_bytes::<V>(&bytes);
}

/// What holds of all bytes: the type and its shape agree on which are legal, and those read back to themselves.
fn check_any_bytes<V: Value>(data: &[u8]) {
    let shape = V::shape();
    let legal = V::validate(data);
    assert_eq!(legal, shape.validate(data), "{shape:?} {data:?}");
    assert_eq!(V::fixed_width(), shape.fixed_width());
    if V::any_bytes_are_legal() {
        assert_eq!(
            legal,
            V::fixed_width().is_none_or(|width| width == data.len())
        );
    }
    let read = catch_unwind(AssertUnwindSafe(|| {
        let value = V::from_bytes(data);
        encode::<V>(&value)
    }));
    assert_eq!(legal, read.is_ok(), "{shape:?} {data:?}");
    if let Ok(again) = read {
        assert_eq!(again, data, "a legal encoding is canonical");
    }
    let shown = shape.show(data);
    assert_eq!(legal, !shown.starts_with("malformed 0x"), "{shown}");
}

/// What holds of each pair of legal keys.
fn check_key_pair<'v, K: Key + 'v>(left: &K::SelfType<'v>, right: &K::SelfType<'v>)
where
    K::SelfType<'v>: Ord,
{
    let expected = left.cmp(right);
    let (left_bytes, right_bytes) = (encode::<K>(left), encode::<K>(right));
    assert_eq!(
        K::compare(&left_bytes, &right_bytes),
        expected,
        "{left:?} {right:?}"
    );
    let (left_stored, right_stored) = (K::to_stored(&left_bytes), K::to_stored(&right_bytes));
    match K::order() {
        KeyOrder::Memcmp => {
            assert_eq!(
                left_stored.cmp(&right_stored),
                expected,
                "{left:?} {right:?}"
            );
        }
        KeyOrder::Known | KeyOrder::Foreign => {
            assert_eq!(
                (&*left_stored, &*right_stored),
                (&*left_bytes, &*right_bytes)
            );
        }
    }
    assert!(K::validate_stored(&left_stored));
    assert_eq!(K::from_stored(&left_stored), left_bytes);
    check_any_key_bytes::<K>(&left_bytes, &right_bytes);
}

/// What holds of all bytes taken for keys: the type and its shape agree on order and conversion.
fn check_any_key_bytes<K: Key>(left: &[u8], right: &[u8]) {
    let shape = K::shape();
    let order = K::order();
    assert_eq!(order, shape.order());
    assert_eq!(
        K::compare(left, right),
        shape.compare(left, right),
        "{left:?} {right:?}"
    );
    assert_eq!(K::compare(left, right), K::compare(right, left).reverse());
    assert!(K::compare(left, left).is_eq());
    assert_eq!(K::stores_verbatim(), shape.stores_verbatim());
    let (stored, encoded) = (K::to_stored(left), K::from_stored(left));
    assert_eq!(stored, shape.to_stored(order, left));
    assert_eq!(encoded, shape.from_stored(order, left));
    assert_eq!(stored.len(), left.len());
    assert_eq!(K::from_stored(&stored), left);
    assert_eq!(K::validate_stored(&stored), K::validate(left));
    assert_eq!(K::validate_stored(left), K::validate(&encoded));
}
