//! Page codecs: whatever is encoded decodes to the same, whatever is decoded never panics. Random rows cover every
//! layout; random bytes get a valid checksum, because behind it nobody else looks.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Ordering;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::branch::{self, BranchSize, Entry};
use super::header::{HEADER_BYTES, PageHeader};
use super::leaf::{Leaf, Stored, ValueKind};
use super::leaf_encoder::{self, LeafSize, Row};
use super::map::{self, MAP_FANOUT, MapRef};
use super::slot::{Slot, SlotError};
use super::*;
use crate::page::order::KeyCompare;

const BIRTH: Number = Number(77);

fn reversed(left: &[u8], right: &[u8]) -> Ordering {
    right.cmp(left)
}

fn child(id: u64, units: u32) -> ChildRef {
    ChildRef {
        id: PageId(id),
        units,
        birth: BIRTH,
        rows: 0,
        extents: false,
        fill: 0,
    }
}

/// A value as a leaf stores it, owned.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Inline(Vec<u8>),
    Extent(ExtentRef),
    Tombstone,
}

impl Owned {
    fn kind(&self) -> ValueKind {
        match self {
            Owned::Inline(_) => ValueKind::Inline,
            Owned::Extent(_) => ValueKind::Extent,
            Owned::Tombstone => ValueKind::Tombstone,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Owned::Inline(bytes) => bytes.clone(),
            Owned::Extent(extent) => extent.encode().to_vec(),
            Owned::Tombstone => Vec::new(),
        }
    }
}

fn any_extent() -> impl Strategy<Value = ExtentRef> {
    (0..1_u64 << 48, 1..3_u64 << 30, 0..=BIRTH.0, any::<u64>()).prop_map(
        |(id, len, birth, hash)| ExtentRef {
            id: PageId(id),
            len,
            birth: Number(birth),
            hash,
        },
    )
}

/// Rows of one of several layouts: fixed or variable widths, a long common prefix or none, wide pages, other kinds.
fn any_rows() -> impl Strategy<Value = BTreeMap<Vec<u8>, Owned>> {
    let key = prop_oneof![
        vec(any::<u8>(), 8).boxed(),
        vec(0..3_u8, 0..6).boxed(),
        vec(any::<u8>(), 0..30)
            .prop_map(|tail| [b"a/common/prefix/".to_vec(), tail].concat())
            .boxed(),
        Just(Vec::new()).boxed(),
    ];
    let keys = prop_oneof![
        vec(key, 1..40).boxed(),
        vec(vec(any::<u8>(), 4), 1..40).boxed(),
        vec(vec(any::<u8>(), 4000..5000), 1..18).boxed(),
    ];
    let value = prop_oneof![
        4 => vec(any::<u8>(), 0..50).prop_map(Owned::Inline),
        1 => any_extent().prop_map(Owned::Extent),
        1 => Just(Owned::Tombstone),
    ];
    let values = prop_oneof![
        vec(value, 40).boxed(),
        vec(vec(any::<u8>(), 12).prop_map(Owned::Inline), 40).boxed(),
        vec(Just(Owned::Inline(Vec::new())), 40).boxed(),
        vec(vec(any::<u8>(), 4000).prop_map(Owned::Inline), 40).boxed(),
    ];
    (keys, values).prop_map(|(keys, values)| keys.into_iter().zip(values).collect())
}

/// Encodes rows that ascend under an order whose pages lose their common prefix if `truncate`.
fn encode_leaf(rows: &[(Vec<u8>, Owned)], truncate: bool) -> (Box<[u8]>, ChildRef) {
    let values: Vec<Vec<u8>> = rows.iter().map(|(_, value)| value.bytes()).collect();
    let rows: Vec<Row<'_>> = rows
        .iter()
        .zip(&values)
        .map(|((key, value), bytes)| Row {
            key,
            value: bytes,
            kind: value.kind(),
        })
        .collect();
    let mut size = LeafSize::new(truncate);
    let mut last = 0;
    for row in &rows {
        size.add(rows[0].key, row);
        assert!(size.page_bytes() >= last, "a leaf shrinks by growing");
        last = size.page_bytes();
    }
    let units = u32::try_from(size.page_bytes().div_ceil(UNIT_BYTES)).unwrap();
    (
        leaf_encoder::encode(&rows, &size, PageId(5), BIRTH, units),
        child(5, units),
    )
}

fn check_rows(leaf: &Leaf<'_>, rows: &[(Vec<u8>, Owned)]) {
    assert_eq!(leaf.count(), rows.len());
    let mut key = Vec::new();
    for (idx, (expected, value)) in rows.iter().enumerate() {
        leaf.key_into(idx, &mut key);
        assert_eq!(key, *expected);
        let found = match leaf.stored(idx).unwrap() {
            Stored::Inline(bytes) => Owned::Inline(bytes.to_vec()),
            Stored::Extent(extent) => Owned::Extent(extent),
            Stored::Tombstone => Owned::Tombstone,
        };
        assert_eq!(found, *value);
        assert_eq!(leaf.value_range(idx).1, value.kind());
    }
}

fn probes(rows: &BTreeMap<Vec<u8>, Owned>) -> Vec<Vec<u8>> {
    let mut probes: Vec<Vec<u8>> = vec![
        Vec::new(),
        vec![0],
        vec![255; 9],
        b"a/common/prefix/".to_vec(),
    ];
    for key in rows.keys() {
        let cut = key[..key.len() / 2].to_vec();
        let longer = [key.as_slice(), &[0]].concat();
        let mut other = key.clone();
        other
            .iter_mut()
            .last()
            .into_iter()
            .for_each(|byte| *byte ^= 1);
        probes.extend([key.clone(), cut, longer, other]);
    }
    probes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn leaves_hold_what_was_encoded_and_search_as_a_map_does(rows in any_rows()) {
        let ascending: Vec<(Vec<u8>, Owned)> = rows.clone().into_iter().collect();
        let descending: Vec<(Vec<u8>, Owned)> = rows.clone().into_iter().rev().collect();
        let orders = [
            (&ascending, true, KeyCompare::Memcmp),
            (&ascending, false, KeyCompare::Function(|left, right| left.cmp(right))),
            (&descending, false, KeyCompare::Function(reversed)),
        ];
        for (sorted, truncate, compare) in orders {
            let (bytes, at) = encode_leaf(sorted, truncate);
            let page = Page::open(bytes, &at).unwrap();
            let leaf = page.leaf().unwrap();
            check_rows(&leaf, sorted);
            prop_assert!(page.branch().is_err());
            for probe in probes(&rows) {
                let expected = sorted.binary_search_by(|(key, _)| compare.compare(key, &probe));
                prop_assert_eq!(leaf.search(&probe, &compare), expected, "{:?}", probe);
            }
        }
    }

    #[test]
    fn branches_hold_what_was_encoded_and_find_as_a_map_does(
        keys in any_rows(),
        level in 1..HEIGHT_MAX,
        extents in any::<bool>(),
    ) {
        let keys: Vec<Vec<u8>> = keys.into_keys().collect();
        for (truncate, compare) in [
            (true, KeyCompare::Memcmp),
            (false, KeyCompare::Function(|left: &[u8], right: &[u8]| left.cmp(right))),
        ] {
            let first = Entry { separator: b"ignored".to_vec(), child: child(2, 1) };
            let others = (10..).zip(&keys).map(|(id, key)| Entry {
                separator: key.clone(),
                child: ChildRef { rows: id * id, extents, fill: 900, ..child(id, 3) },
            });
            let entries: Vec<Entry> = std::iter::once(first).chain(others).collect();
            let mut size = BranchSize::new(truncate);
            let mut last = 0;
            for entry in &entries {
                size.add(&entries[1].separator, &entry.separator);
                prop_assert!(size.page_bytes() >= last, "a branch shrinks by growing");
                last = size.page_bytes();
            }
            let units = u32::try_from(size.page_bytes().div_ceil(UNIT_BYTES)).unwrap();
            let bytes = branch::encode(&entries, &size, level, (PageId(9), BIRTH, units));
            let page = Page::open(bytes, &child(9, units)).unwrap();
            let branch = page.branch().unwrap();
            prop_assert_eq!((branch.count(), branch.level()), (entries.len(), level));
            for (idx, entry) in entries.iter().enumerate() {
                prop_assert_eq!(branch.child(idx).unwrap(), entry.child);
                if let Some(before) = idx.checked_sub(1) {
                    prop_assert_eq!(&branch.separator(before), &entry.separator);
                }
            }
            for key in &keys {
                for probe in [key.clone(), [key.as_slice(), &[0]].concat(), key[..key.len() / 2].to_vec()] {
                    let expected = keys.partition_point(|separator| *separator <= probe);
                    prop_assert_eq!(branch.find(&probe, &compare), expected);
                }
            }
        }
    }

    #[test]
    fn map_pages_hold_what_was_encoded(
        words in vec(any::<u64>(), 0..504),
        children in vec(proptest::option::of((2..1_u64 << 48, 0..=BIRTH.0)), 0..MAP_FANOUT),
        level in 1..5_u8,
    ) {
        let at = MapRef { id: PageId(3), birth: BIRTH };
        let decoded = map::decode_leaf(&map::encode_leaf(&words, at), at).unwrap();
        prop_assert_eq!(decoded.len(), 504);
        prop_assert_eq!(&decoded[..words.len()], &words[..]);
        prop_assert!(decoded[words.len()..].iter().all(|&word| word == 0));
        let children: Vec<Option<MapRef>> = children
            .into_iter()
            .map(|entry| entry.map(|(id, birth)| MapRef { id: PageId(id), birth: Number(birth) }))
            .collect();
        let page = map::encode_index(&children, level, at);
        prop_assert_eq!(map::decode_index(&page, level, at).unwrap(), children);
        prop_assert!(map::decode_index(&page, level - 1, at).is_err());
        prop_assert!(map::decode_leaf(&page, at).is_err());
    }

    #[test]
    fn slots_hold_what_was_encoded(
        numbers in vec(0..1_u64 << 47, 7),
        roots in vec(proptest::option::of((2..1_u64 << 48, 1..1_u32 << 31, 1..HEIGHT_MAX)), 2),
        clean in any::<bool>(),
    ) {
        let root = |idx: usize| roots[idx].map(|(id, units, height)| Root {
            child: ChildRef { birth: Number(numbers[0]), rows: numbers[1], ..child(id, units) },
            height,
        });
        let slot = Slot {
            page_bytes: 4096 * (1 + (numbers[2] % 16) as u32),
            database_id: [7; 16],
            generation: numbers[3],
            version: Number(numbers[0] + 1),
            ceiling: Number(numbers[0] + 2),
            units: numbers[4],
            next_table: numbers[5],
            names: root(0),
            // Without a map there are no trees.
            roots: root(0).and(root(1)),
            map: root(0).map(|root| MapRef { id: root.child.id, birth: root.child.birth }),
            map_height: root(0).map_or(0, |_| (numbers[6] % 5) as u8),
            base_seq: 0,
            clean,
        };
        let block = slot.encode();
        prop_assert_eq!(Slot::decode(&block).unwrap(), slot);
        for at in 0..block.len() {
            let mut damaged = block.to_vec();
            damaged[at] ^= 1 << (at % 8);
            prop_assert!(Slot::decode(&damaged).is_err(), "byte {}", at);
        }
    }
}

/// Bytes behind a page header that is right as far as the name goes, so that the decoders of the kinds are reached.
fn any_page() -> impl Strategy<Value = (Vec<u8>, u32)> {
    let small = prop_oneof![0..300_u32, any::<u32>(), Just(0), Just(u32::MAX)];
    let fields = (
        1..5_u8,
        0..16_u8,
        0..50_u8,
        small.clone(),
        vec(small, 4),
        32..4100_u32,
    );
    let body = prop_oneof![
        vec(any::<u8>(), 3 * UNIT_BYTES).boxed(),
        vec(0..3_u8, 3 * UNIT_BYTES).boxed(),
        Just(vec![0; 3 * UNIT_BYTES]).boxed(),
    ];
    (fields, body, 1..4_u32).prop_map(|((kind, flags, level, count, own, end), body, units)| {
        let mut page = body[..units as usize * UNIT_BYTES].to_vec();
        page[..4].copy_from_slice(&[kind, flags, level, 0]);
        page[4..8].copy_from_slice(&count.to_le_bytes());
        page[8..16].copy_from_slice(&5_u64.to_le_bytes());
        page[16..24].copy_from_slice(&BIRTH.0.to_le_bytes());
        page[24..28].copy_from_slice(&units.to_le_bytes());
        page[28..32].copy_from_slice(&end.to_le_bytes());
        for (at, field) in (HEADER_BYTES..).step_by(4).zip(&own) {
            page[at..at + 4].copy_from_slice(&field.to_le_bytes());
        }
        seal::seal(&mut page);
        (page, units)
    })
}

/// Uses every accessor of a page that opened.
fn use_page(page: &Page) -> usize {
    let mut used = 0;
    if let Ok(leaf) = page.leaf() {
        let mut key = Vec::new();
        for idx in 0..leaf.count() {
            leaf.key_into(idx, &mut key);
            used += key.len() + page.bytes()[leaf.value_range(idx).0].len();
            let _stored = leaf.stored(idx);
            let _found = leaf.search(&key, &KeyCompare::Memcmp);
            let _found = leaf.search(&key, &KeyCompare::Function(reversed));
        }
        assert!(leaf.count() <= page.bytes().len(), "rows without bytes");
    }
    if let Ok(branch) = page.branch() {
        for idx in 0..branch.count() {
            used += branch.child(idx).unwrap().page_bytes().min(1);
            if idx + 1 < branch.count() {
                let separator = branch.separator(idx);
                assert!(branch.find(&separator, &KeyCompare::Memcmp) < branch.count());
                assert!(branch.find(&separator, &KeyCompare::Function(reversed)) < branch.count());
            }
        }
        assert!(
            branch.count() <= page.bytes().len(),
            "children without bytes"
        );
    }
    used
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_pages_with_a_right_checksum_open_or_do_not((bytes, units) in any_page()) {
        let at = MapRef { id: PageId(5), birth: BIRTH };
        let _header = PageHeader::decode(&bytes);
        if units == 1 {
            let _words = map::decode_leaf(&bytes, at);
            let _children = map::decode_index(&bytes, bytes[2], at);
        }
        if let Ok(page) = Page::open(bytes.into_boxed_slice(), &child(5, units)) {
            use_page(&page);
        }
    }

    #[test]
    fn a_changed_field_of_a_sealed_leaf_opens_or_does_not(
        rows in vec((vec(any::<u8>(), 0..20), vec(any::<u8>(), 0..20)), 1..12),
        at in 0..200_usize,
        number in prop_oneof![any::<u8>(), Just(0), Just(255), Just(1)],
        width in 1..5_usize,
    ) {
        let rows: BTreeMap<Vec<u8>, Owned> =
            rows.into_iter().map(|(key, value)| (key, Owned::Inline(value))).collect();
        let (mut bytes, name) = encode_leaf(&rows.into_iter().collect::<Vec<_>>(), true);
        bytes[at..at + width].fill(number);
        seal::seal(&mut bytes);
        if let Ok(page) = Page::open(bytes, &name) {
            use_page(&page);
        }
    }

    #[test]
    fn arbitrary_blocks_decode_as_slots_or_do_not(
        head in vec(any::<u8>(), 200),
        keep in vec(any::<bool>(), 25),
        len in prop_oneof![Just(UNIT_BYTES), 0..9000_usize],
    ) {
        let empty = Slot {
            page_bytes: 4096, database_id: [1; 16], generation: 9, version: Number(3), ceiling: Number(5),
            units: 2, next_table: 1, names: None, roots: None, map: None, map_height: 0, base_seq: 0, clean: true,
        };
        let mut block = empty.encode().into_vec();
        // Field by field the arbitrary bytes or the right ones.
        for (idx, _) in keep.iter().enumerate().filter(|(idx, keep)| !**keep && *idx > 2) {
            block[idx * 8..idx * 8 + 8].copy_from_slice(&head[idx * 8..idx * 8 + 8]);
        }
        block.resize(len, 0);
        if len >= 16 {
            block[8..16].fill(0);
            let sum = seal::checksum(&block);
            block[8..16].copy_from_slice(&sum.to_le_bytes());
        }
        match Slot::decode(&block) {
            Ok(slot) => prop_assert_eq!(Slot::decode(&slot.encode()).unwrap(), slot),
            Err(SlotError::Foreign) => prop_assert!(len != UNIT_BYTES),
            Err(SlotError::Version(version)) => panic!("version {version} of an intact slot"),
            Err(SlotError::Damaged(_)) => {}
        }
    }

    #[test]
    fn references_decode_to_what_was_encoded_and_never_panic(
        bytes in vec(any::<u8>(), 0..40),
        extent in any_extent(),
    ) {
        let _child = ChildRef::decode(&bytes);
        let _extent = ExtentRef::decode(&bytes);
        let _root = Root::decode(&bytes);
        prop_assert_eq!(ExtentRef::decode(&extent.encode()), Some(extent));
        prop_assert_eq!(extent.units() as usize, (extent.len as usize).div_ceil(UNIT_BYTES));
    }
}

#[test]
fn a_page_under_another_name_does_not_open() {
    let rows = [(b"key".to_vec(), Owned::Inline(b"value".to_vec()))];
    let (bytes, at) = encode_leaf(&rows, true);
    assert!(Page::open(bytes.clone(), &at).is_ok());
    let names = [
        ChildRef {
            id: PageId(6),
            ..at
        },
        ChildRef {
            birth: Number(76),
            ..at
        },
        ChildRef {
            birth: Number(78),
            ..at
        },
        ChildRef { units: 2, ..at },
    ];
    for name in names {
        let error = Page::open(bytes.clone(), &name).unwrap_err();
        assert_eq!(error.page_id(), Some(name.id.0));
    }
    for idx in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[idx] ^= 0x10;
        assert!(Page::open(damaged, &at).is_err(), "byte {idx}");
    }
}

#[test]
fn a_leaf_of_more_rows_than_bytes_does_not_open() {
    let rows = [(b"key".to_vec(), Owned::Inline(Vec::new()))];
    let (mut bytes, at) = encode_leaf(&rows, true);
    bytes[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    seal::seal(&mut bytes);
    assert!(Page::open(bytes, &at).is_err());
}
