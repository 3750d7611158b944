//! Table schemas: they decode to themselves, and nothing else decodes.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::types::{Key, KeyOrder, Shape, TableSchema, TypeName, TypeSchema, Value};

fn stored(schema: &TableSchema) -> Vec<u8> {
    let mut out = Vec::new();
    schema.encode(&mut out);
    out
}

fn samples() -> Vec<TableSchema> {
    vec![
        TableSchema::of::<u64, &[u8]>(),
        TableSchema::of::<&str, Vec<f64>>(),
        TableSchema::of::<(&str, i32), (String, Option<[bool; 4]>)>(),
        TableSchema::of_multimap::<&[u8; 16], (&str, &str)>(),
        TableSchema::of_multimap::<(), Option<char>>(),
    ]
}

#[test]
fn schema_decodes_to_itself() {
    for schema in samples() {
        assert_eq!(TableSchema::decode(&stored(&schema)), Ok(schema));
    }
}

#[test]
fn schema_says_what_the_types_say() {
    let schema = TableSchema::of_multimap::<(&str, i32), u8>();
    assert_eq!(schema.order(), KeyOrder::Known);
    assert_eq!(schema.value_order(), Some(KeyOrder::Memcmp));
    assert!(schema.is_multimap());
    assert_eq!(schema.key(), &TypeSchema::of::<(&str, i32)>());
    assert_eq!(schema.value().name, u8::type_name());
    assert!(!TableSchema::of::<u8, u8>().is_multimap());
    assert_ne!(
        TableSchema::of::<u8, u8>(),
        TableSchema::of_multimap::<u8, u8>()
    );
    assert_eq!(TableSchema::of::<u8, u8>().order(), u8::order());
}

#[test]
fn truncated_or_extended_schema_is_refused() {
    for schema in samples() {
        let whole = stored(&schema);
        for len in 0..whole.len() {
            assert!(TableSchema::decode(&whole[..len]).is_err());
        }
        assert!(TableSchema::decode(&[&whole[..], &[0]].concat()).is_err());
    }
}

#[test]
fn order_that_contradicts_the_types_is_refused() {
    let mut data = stored(&TableSchema::of::<(&str, i32), u8>());
    assert_eq!(data[1], KeyOrder::Known.code());
    data[1] = KeyOrder::Memcmp.code();
    let error = TableSchema::decode(&data).unwrap_err();
    assert_eq!(
        error.what(),
        "table schema has a key order other than its key type's"
    );
    data[1] = 9;
    let error = TableSchema::decode(&data).unwrap_err();
    assert_eq!(error.what(), "table schema has an unknown key order");
}

#[test]
fn key_order_codes_are_stable() {
    for (code, order) in [KeyOrder::Memcmp, KeyOrder::Known, KeyOrder::Foreign]
        .into_iter()
        .enumerate()
    {
        let code = u8::try_from(code).unwrap();
        assert_eq!(order.code(), code);
        assert_eq!(KeyOrder::from_code(code), Some(order));
    }
    assert_eq!(KeyOrder::from_code(3), None);
}

#[test]
fn type_name_keeps_its_class() {
    for name in [TypeName::new("mine::Point"), u64::type_name()] {
        let mut data = Vec::new();
        name.encode(&mut data);
        assert_eq!(TypeName::decode(&data), Ok(name));
    }
    for data in [&b""[..], b"\x03x", b"\x01\xff"] {
        assert!(TypeName::decode(data).is_err());
    }
}

/// `Option` around a type, `2^n` deep.
type Two<T> = Option<Option<T>>;
type Eight<T> = Two<Two<Two<Two<T>>>>;

#[test]
#[should_panic(expected = "nests deeper than 32 levels")]
fn type_that_could_not_be_read_back_is_refused() {
    assert_eq!(
        TypeSchema::of::<Eight<Eight<Eight<Two<Two<Two<Option<()>>>>>>>>()
            .shape
            .depth(),
        32
    );
    TypeSchema::of::<Eight<Eight<Eight<Eight<()>>>>>();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_schema_never_panics_and_decodes_canonically(
        pick in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        wild in vec(prop_oneof![0_u8..16, any::<u8>()], 0..40),
    ) {
        let mut damaged = stored(&samples()[pick.index(samples().len())]);
        let place = place.index(damaged.len());
        damaged[place] = byte;
        let _ = Shape::decode(&wild);
        for data in [damaged, wild] {
            if let Ok(schema) = TableSchema::decode(&data) {
                prop_assert_eq!(stored(&schema), data);
            }
        }
    }
}
