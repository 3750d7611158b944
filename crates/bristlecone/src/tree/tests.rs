//! Trees built by batches of operations, walked page by page. Contents are compared with a `BTreeMap`; beyond that the
//! shape must be good: leaves full, separators short, row counts right.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::cursor::TreeCursor;
use super::merge::{self, OpStream};
use super::writer::PageWriter;
use crate::cache::{Budget, Pager};
use crate::counters::Counters;
use crate::error::Result;
use crate::page::leaf::Stored;
use crate::page::leaf_encoder::common_prefix;
use crate::page::order::KeyCompare;
use crate::page::{ChildRef, Number, Root, UNIT_BYTES};
use crate::space::{HEADER_UNITS, MapRoot, Numbers, Space, VersionPin, load_map};
use crate::vfs::{Disk, InMemoryBackend};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

struct Ops(VecDeque<(Vec<u8>, Option<Vec<u8>>)>);

impl OpStream for Ops {
    fn peek(&self) -> Option<(&[u8], Stored<'_>)> {
        let (key, value) = self.0.front()?;
        Some((
            key,
            value.as_deref().map_or(Stored::Tombstone, Stored::Inline),
        ))
    }

    fn advance(&mut self) -> Result {
        self.0.pop_front();
        Ok(())
    }
}

/// One table's tree in a file of its own.
struct Tree {
    pager: Arc<Pager>,
    space: Arc<Space>,
    pin: Arc<VersionPin>,
    root: Option<Root>,
    compare: KeyCompare,
    model: Model,
}

impl Tree {
    fn new(page_bytes: usize, compare: KeyCompare) -> Tree {
        let disk = Arc::new(Disk::new(Box::new(InMemoryBackend::new())));
        disk.truncate(HEADER_UNITS * UNIT_BYTES as u64).unwrap();
        let budget = Budget::new(4 << 20);
        let pager = Arc::new(Pager::new(Arc::clone(&disk), budget, page_bytes));
        let empty = MapRoot {
            top: None,
            height: 0,
        };
        let (durable, map) = load_map(&pager, empty).unwrap();
        let numbers = Numbers {
            next: Number(2),
            ceiling: Number(1 << 30),
        };
        let counters = Arc::new(Counters::default());
        let space = Space::new(&disk, durable, map, numbers, &counters).unwrap();
        let pin = Arc::new(VersionPin(Number(1)));
        space.opened(&pin);
        Tree {
            pager,
            space,
            pin,
            root: None,
            compare,
            model: Model::new(),
        }
    }

    /// Applies a batch and flips. The last operation on a key counts.
    fn apply(&mut self, ops: impl IntoIterator<Item = (Vec<u8>, Option<Vec<u8>>)>) {
        let batch: BTreeMap<_, _> = ops.into_iter().collect();
        for (key, value) in &batch {
            match value {
                Some(value) => drop(self.model.insert(key.clone(), value.clone())),
                None => drop(self.model.remove(key)),
            }
        }
        let mut session = self.space.begin();
        let mut writer = PageWriter::new(&self.pager, &mut session);
        let mut ops = Ops(batch.into_iter().collect());
        self.root = merge::apply(&mut writer, self.root, &mut ops, &self.compare).unwrap();
        self.space.settle(&mut session).unwrap();
        let version = self.space.fresh_number();
        let pin = Arc::new(VersionPin(version));
        self.space.flipped(session, &pin);
        self.pin = pin;
        self.space.reap();
        let rows = self.root.map_or(0, |root| root.child.rows);
        assert_eq!(rows, self.model.len() as u64);
    }

    fn compare_rows(&self) {
        let mut cursor = TreeCursor::new(&self.pager, self.root, self.compare.clone());
        cursor.seek(std::ops::Bound::Unbounded).unwrap();
        let mut key = Vec::new();
        for (expected, value) in &self.model {
            assert!(cursor.key_into(&mut key).unwrap());
            assert_eq!(key, *expected);
            match cursor.stored().unwrap().unwrap() {
                Stored::Inline(found) => assert_eq!(found, value),
                Stored::Extent(extent) => assert_eq!(&*self.pager.extent(&extent).unwrap(), value),
                Stored::Tombstone => panic!("tombstone in a tree"),
            }
            cursor.next().unwrap();
        }
        assert!(!cursor.key_into(&mut key).unwrap());
    }

    /// The pages at distance `level` from the leaves, in order, with their lower separators.
    fn pages(&self, level: u8) -> Vec<(Vec<u8>, ChildRef)> {
        let Some(root) = self.root else {
            return Vec::new();
        };
        let mut pages = vec![(Vec::new(), root.child)];
        for _ in level + 1..root.height {
            pages = pages
                .into_iter()
                .flat_map(|(lower, child)| {
                    let page = self.pager.page(&child).unwrap();
                    let branch = page.branch().unwrap();
                    let rows: u64 = (0..branch.count())
                        .map(|idx| branch.child(idx).unwrap().rows)
                        .sum();
                    assert_eq!(rows, child.rows);
                    let below = |idx: usize| {
                        let lower = idx
                            .checked_sub(1)
                            .map_or(lower.clone(), |idx| branch.separator(idx));
                        (lower, branch.child(idx).unwrap())
                    };
                    (0..branch.count()).map(below).collect::<Vec<_>>()
                })
                .collect();
        }
        pages
    }

    /// Fill of all leaves together, and of the emptiest one but for the last, which may stay poor, in 1/1000.
    fn fill(&self) -> (u64, u64) {
        let leaves = self.pages(0);
        let fills: Vec<u64> = leaves
            .iter()
            .map(|(_, leaf)| u64::from(leaf.fill))
            .collect();
        let sum: u64 = fills.iter().sum();
        let inner = &fills[..fills.len() - 1];
        let least = inner.iter().min().copied().unwrap_or(1000);
        (sum / fills.len() as u64, least)
    }
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 9
}

fn row(state: &mut u64, key: u64) -> (Vec<u8>, Option<Vec<u8>>) {
    let len = 40 + random(state) % 40;
    (
        format!("user/{key:010}").into_bytes(),
        Some(vec![7; len as usize]),
    )
}

#[test]
fn leaves_stay_full_under_random_batches_of_any_size() {
    for (page_bytes, batches) in [(4096, 400), (16384, 150)] {
        let mut tree = Tree::new(page_bytes, KeyCompare::Memcmp);
        let mut state = 5;
        tree.apply(
            (0..4000)
                .map(|key| row(&mut 9, key * 1000))
                .collect::<Vec<_>>(),
        );
        for batch in 0..batches {
            let size = 1 + random(&mut state) % [3, 40, 400][batch % 3];
            let rows: Vec<_> = (0..size)
                .map(|_| {
                    let key = random(&mut state) % 4_000_000;
                    row(&mut state, key)
                })
                .collect();
            tree.apply(rows);
            let (fill, least) = tree.fill();
            assert!(fill >= 800, "batch {batch}: leaves are {fill} / 1000 full");
            assert!(least >= 400, "batch {batch}: a leaf is {least} / 1000 full");
        }
        tree.compare_rows();
    }
}

#[test]
fn leaves_stay_full_when_rows_come_at_the_right_edge() {
    for batch in [1, 7, 300] {
        let mut tree = Tree::new(4096, KeyCompare::Memcmp);
        let mut state = 5;
        for part in 0..600 / batch.min(60) {
            tree.apply(
                (0..batch)
                    .map(|idx| row(&mut state, part * batch + idx))
                    .collect::<Vec<_>>(),
            );
            let leaves = tree.pages(0).len() as u64;
            let (fill, _) = tree.fill();
            // The last leaf takes what has come so far.
            assert!(
                fill * leaves >= 800 * (leaves - 1),
                "{batch}: {fill} of {leaves}"
            );
        }
        tree.compare_rows();
    }
}

#[test]
fn leaves_stay_full_after_most_rows_are_deleted() {
    for parts in [1, 20, 300] {
        let mut tree = Tree::new(4096, KeyCompare::Memcmp);
        let mut state = 5;
        tree.apply(
            (0..6000)
                .map(|key| row(&mut state, key))
                .collect::<Vec<_>>(),
        );
        let mut keys: Vec<Vec<u8>> = tree.model.keys().cloned().collect();
        for idx in (1..keys.len()).rev() {
            keys.swap(idx, (random(&mut state) % (idx as u64 + 1)) as usize);
        }
        keys.truncate(5400);
        for part in keys.chunks(keys.len() / parts) {
            tree.apply(part.iter().map(|key| (key.clone(), None)));
        }
        assert_eq!(tree.model.len(), 600);
        let (fill, least) = tree.fill();
        assert!(
            fill >= 800,
            "{parts} parts: leaves are {fill} / 1000 full, the emptiest {least}"
        );
        tree.compare_rows();
        tree.apply(tree.model.clone().into_keys().map(|key| (key, None)));
        assert_eq!(tree.root, None);
    }
}

#[test]
fn separators_are_as_short_as_they_can_be() {
    let mut tree = Tree::new(4096, KeyCompare::Memcmp);
    let mut state = 11;
    let rows: Vec<_> = (0..3000)
        .map(|_| {
            let word = random(&mut state) % 100_000;
            let tail = "z".repeat((random(&mut state) % 60) as usize);
            (format!("{word:05}{tail}").into_bytes(), Some(vec![1; 20]))
        })
        .collect();
    tree.apply(rows);
    let mut previous: Option<Vec<u8>> = None;
    for (lower, leaf) in tree.pages(0) {
        let page = tree.pager.page(&leaf).unwrap();
        let leaf = page.leaf().unwrap();
        let (mut first, mut last) = (Vec::new(), Vec::new());
        leaf.key_into(0, &mut first);
        leaf.key_into(leaf.count() - 1, &mut last);
        if let Some(previous) = previous {
            assert!(previous < lower && lower <= first);
            assert_eq!(lower.len(), common_prefix(&previous, &first) + 1);
        }
        previous = Some(last);
    }
}

#[test]
fn other_orders_keep_whole_keys_as_separators() {
    let by_bytes = KeyCompare::Function(|left, right| left.cmp(right));
    let mut tree = Tree::new(4096, by_bytes);
    let mut state = 3;
    for _ in 0..20 {
        let rows: Vec<_> = (0..200)
            .map(|_| {
                let key = random(&mut state) % 100_000;
                row(&mut state, key)
            })
            .collect();
        tree.apply(rows);
    }
    tree.compare_rows();
    let separators = tree.pages(0).into_iter().skip(1);
    assert!(separators.into_iter().all(|(lower, _)| lower.len() == 15));
}

#[test]
fn a_small_change_to_a_large_tree_writes_few_pages() {
    let mut tree = Tree::new(4096, KeyCompare::Memcmp);
    let mut state = 5;
    tree.apply(
        (0..20_000)
            .map(|key| row(&mut state, key))
            .collect::<Vec<_>>(),
    );
    let counters = |tree: &Tree| {
        let counts = tree.space.counters().snapshot();
        counts.leaf_pages_written + counts.branch_pages_written
    };
    for _ in 0..50 {
        let before = counters(&tree);
        let key = random(&mut state) % 20_000;
        tree.apply([row(&mut state, key)]);
        let written = counters(&tree) - before;
        assert!(written <= 40, "one row writes {written} pages");
    }
    tree.compare_rows();
}
