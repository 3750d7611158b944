//! Varints and the layout of composites, below the types that use them.

use proptest::prelude::*;

use crate::types::parts::{Layout, Lengths, Parts};
use crate::types::varint;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn varint_reads_back(
        number in prop_oneof![any::<u64>(), 0..300_u64, any::<u32>().prop_map(u64::from)],
        tail in any::<u8>(),
    ) {
        let mut data = Vec::new();
        varint::push(number, &mut data);
        data.push(tail);
        let mut rest = data.as_slice();
        prop_assert_eq!(varint::take(&mut rest), Some(number));
        prop_assert_eq!(rest, [tail]);
    }

    #[test]
    fn varint_has_one_encoding(data in proptest::collection::vec(any::<u8>(), 0..12)) {
        let mut rest = data.as_slice();
        if let Some(number) = varint::take(&mut rest) {
            let mut again = Vec::new();
            varint::push(number, &mut again);
            prop_assert_eq!(again.as_slice(), &data[..data.len() - rest.len()]);
        }
    }

    #[test]
    fn parts_tile_the_body(
        shapes in proptest::collection::vec((any::<bool>(), 0..200_usize), 0..6),
    ) {
        let widths = shapes.iter().map(|&(fixed, len)| fixed.then_some(len));
        let layout = widths.clone().fold(Layout::EMPTY, Layout::with);
        let mut data = Vec::new();
        let mut lengths = Lengths::of(layout);
        for &(fixed, len) in &shapes {
            lengths.push(fixed.then_some(len), len, &mut data);
        }
        for (place, &(_, len)) in shapes.iter().enumerate() {
            data.resize(data.len() + len, u8::try_from(place).unwrap());
        }
        let mut parts = Parts::split(&data, layout).unwrap();
        for (place, (width, &(_, len))) in widths.zip(&shapes).enumerate() {
            prop_assert_eq!(parts.take(width), vec![u8::try_from(place).unwrap(); len]);
        }
        prop_assert!(parts.take(None).is_empty());
        prop_assert!(parts.take(Some(1)).is_empty());
    }
}

#[test]
fn overlong_and_overflowing_varints_are_refused() {
    let cut_off: &[u8] = &[0x80];
    let overlong: &[u8] = &[0x80, 0x00];
    let overflowing: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
    for data in [&[], cut_off, overlong, overflowing] {
        assert_eq!(varint::take(&mut &*data), None, "{data:?}");
    }
}

#[test]
fn wild_layouts_match_no_data() {
    for layout in [
        Layout::repeated(Some(usize::MAX), 2),
        Layout::repeated(None, usize::MAX),
        Layout::EMPTY.with(Some(usize::MAX)).with(Some(1)),
    ] {
        assert!(Parts::split(&[0; 64], layout).is_none());
    }
}

#[test]
#[should_panic(expected = "not as wide")]
fn part_of_wrong_width_is_refused() {
    Lengths::of(Layout::EMPTY.with(Some(4))).push(Some(4), 3, &mut Vec::new());
}
