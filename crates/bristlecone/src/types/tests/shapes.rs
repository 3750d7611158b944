//! Shapes made at random, far from any type of Rust, against random bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::types::{IntegerKind, KeyOrder, Shape};

fn any_shape() -> impl Strategy<Value = Shape> {
    let kind = || select(IntegerKind::ALL.to_vec());
    let leaf = prop_oneof![
        select(vec![
            Shape::Unit,
            Shape::Bool,
            Shape::Char,
            Shape::F32,
            Shape::F64,
            Shape::Text,
            Shape::Bytes,
        ]),
        kind().prop_map(Shape::Integer),
        kind().prop_map(Shape::NonZero),
        proptest::option::of(prop_oneof![0_u32..4, any::<u32>()])
            .prop_map(|fixed_width| Shape::Opaque { fixed_width }),
    ];
    leaf.prop_recursive(6, 24, 4, |part| {
        prop_oneof![
            part.clone()
                .prop_map(|value| Shape::Option(Box::new(value))),
            (part.clone(), prop_oneof![0_u64..4, any::<u64>()]).prop_map(|(element, len)| {
                Shape::Array {
                    element: Box::new(element),
                    len,
                }
            }),
            vec(part.clone(), 0..4).prop_map(Shape::Tuple),
            part.prop_map(|element| Shape::List(Box::new(element))),
        ]
    })
}

fn any_data() -> impl Strategy<Value = Vec<u8>> {
    vec(
        prop_oneof![Just(0_u8), Just(1), Just(2), any::<u8>()],
        0..24,
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4096,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn shape_decodes_to_itself(shape in any_shape()) {
        let mut stored = Vec::new();
        shape.encode(&mut stored);
        prop_assert_eq!(Shape::decode(&stored), Ok(shape));
        stored.push(0);
        prop_assert!(Shape::decode(&stored).is_err());
    }

    #[test]
    fn decoding_any_bytes_never_panics_and_is_canonical(
        data in vec(prop_oneof![0_u8..16, any::<u8>()], 0..40),
    ) {
        if let Ok(shape) = Shape::decode(&data) {
            let mut again = Vec::new();
            shape.encode(&mut again);
            prop_assert_eq!(again, data);
        }
    }

    #[test]
    fn no_shape_panics_on_any_bytes(
        shape in any_shape(),
        left in any_data(),
        right in any_data(),
        order in select(vec![KeyOrder::Memcmp, KeyOrder::Known, KeyOrder::Foreign]),
    ) {
        prop_assert!(!shape.show(&left).is_empty() || left.is_empty());
        prop_assert_eq!(shape.compare(&left, &right), shape.compare(&right, &left).reverse());
        let stored = shape.to_stored(order, &left);
        prop_assert_eq!(stored.len(), left.len());
        prop_assert_eq!(&*shape.from_stored(order, &stored), left.as_slice());
        if shape.validate(&left) && let Some(width) = shape.fixed_width() {
            prop_assert_eq!(width, left.len());
        }
    }

    #[test]
    fn memcmp_shapes_sort_bytewise(shape in any_shape(), left in any_data(), right in any_data()) {
        let order = shape.order();
        if order == KeyOrder::Memcmp && shape.validate(&left) && shape.validate(&right) {
            let [left_stored, right_stored] =
                [&left, &right].map(|key| shape.to_stored(order, key));
            prop_assert_eq!(left_stored.cmp(&right_stored), shape.compare(&left, &right));
        }
    }
}

#[test]
fn nesting_is_limited() {
    let nested =
        |depth: usize| (1..depth).fold(Shape::Unit, |shape, _| Shape::Option(Box::new(shape)));
    let mut stored = Vec::new();
    nested(Shape::DEPTH_MAX).encode(&mut stored);
    assert_eq!(Shape::decode(&stored), Ok(nested(Shape::DEPTH_MAX)));
    assert_eq!(nested(Shape::DEPTH_MAX).depth(), Shape::DEPTH_MAX);
    stored.clear();
    nested(Shape::DEPTH_MAX + 1).encode(&mut stored);
    let error = Shape::decode(&stored).unwrap_err();
    assert_eq!(error.what(), "type shape nests too deep");
    // As deep as a stack would not bear.
    assert!(Shape::decode(&vec![11; 1 << 20]).is_err());
}

#[test]
fn codes_of_integers_are_their_places() {
    for (place, kind) in IntegerKind::ALL.into_iter().enumerate() {
        let mut stored = Vec::new();
        Shape::Integer(kind).encode(&mut stored);
        assert_eq!(stored, [5, u8::try_from(place).unwrap()]);
        assert_eq!(Shape::decode(&stored), Ok(Shape::Integer(kind)));
    }
}

#[test]
fn keys_of_other_orders_stay_as_encoded() {
    let shape = Shape::Integer(IntegerKind::I16);
    for order in [KeyOrder::Known, KeyOrder::Foreign] {
        assert_eq!(&*shape.to_stored(order, &[1, 2]), [1, 2]);
        assert_eq!(&*shape.from_stored(order, &[1, 2]), [1, 2]);
    }
    assert_eq!(&*shape.to_stored(KeyOrder::Memcmp, &[1, 2]), [0x82, 1]);
}

#[test]
fn only_byte_strings_are_bytes() {
    assert!(Shape::Bytes.is_bytes());
    assert!(!Shape::Text.is_bytes());
    assert!(!Shape::Option(Box::new(Shape::Bytes)).is_bytes());
}

#[test]
fn endless_arrays_of_nothing_end() {
    let shape = Shape::Array {
        element: Box::new(Shape::Array {
            element: Box::new(Shape::Unit),
            len: u64::MAX,
        }),
        len: u64::MAX,
    };
    assert!(shape.validate(&[]));
    assert!(shape.compare(&[], &[]).is_eq());
    assert_eq!(shape.show(&[]), format!("[[(); {0}]; {0}]", u64::MAX));
    assert!(!shape.validate(&[0]));
}
