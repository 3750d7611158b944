//! Ranges against a `BTreeMap` with the same rows: all bounds, both ends, committed and uncommitted. The rows lie in
//! the tree, in spilled runs and in the buffer at once, with deletions in each.

use std::collections::BTreeMap;
use std::ops::Bound;

use bristlecone::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use crate::support::{Rng, memory};

const TABLE: TableDefinition<u32, u64> = TableDefinition::new("t");

type Model = BTreeMap<u32, u64>;

fn check_range(
    table: &impl ReadableTable<u32, u64>,
    model: &Model,
    bounds: (Bound<u32>, Bound<u32>),
) {
    let is_crossed = match bounds {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Excluded(low), Bound::Excluded(high)) => low >= high,
        (
            Bound::Included(low) | Bound::Excluded(low),
            Bound::Included(high) | Bound::Excluded(high),
        ) => low > high,
    };
    let wanted: Vec<(u32, u64)> = if is_crossed {
        Vec::new()
    } else {
        model
            .range(bounds)
            .map(|(key, value)| (*key, *value))
            .collect()
    };
    let pair = |row: bristlecone::Result<(
        bristlecone::AccessGuard<'_, u32>,
        bristlecone::AccessGuard<'_, u64>,
    )>| {
        let (key, value) = row.unwrap();
        (key.value(), value.value())
    };
    let forward: Vec<_> = table.range(bounds).unwrap().map(pair).collect();
    assert_eq!(forward, wanted, "{bounds:?}");
    let mut backward: Vec<_> = table.range(bounds).unwrap().rev().map(pair).collect();
    backward.reverse();
    assert_eq!(backward, wanted, "{bounds:?} from the back");
}

fn check_all_bounds(table: &impl ReadableTable<u32, u64>, model: &Model, rng: &mut Rng) {
    for _ in 0..12 {
        let (low, high) = (rng.below(1100) as u32, rng.below(1100) as u32);
        for lower in [Bound::Included(low), Bound::Excluded(low), Bound::Unbounded] {
            for upper in [
                Bound::Included(high),
                Bound::Excluded(high),
                Bound::Unbounded,
            ] {
                check_range(table, model, (lower, upper));
            }
        }
        check_range(table, model, (Bound::Included(low), Bound::Included(low)));
        check_range(table, model, (Bound::Excluded(low), Bound::Excluded(low)));
        check_range(table, model, (Bound::Included(low), Bound::Excluded(low)));
        check_range(table, model, (Bound::Excluded(low), Bound::Included(low)));
    }
}

/// Takes rows from both ends at random; each row comes once, and nothing after the ends have met.
fn check_mixed(table: &impl ReadableTable<u32, u64>, model: &Model, rng: &mut Rng) {
    for _ in 0..10 {
        let low = rng.below(1000) as u32;
        let high = low + rng.below(200) as u32;
        let mut wanted: std::collections::VecDeque<u32> =
            model.range(low..=high).map(|(key, _)| *key).collect();
        let mut range = table.range(low..=high).unwrap();
        while !wanted.is_empty() {
            let (found, expected) = if rng.below(2) == 0 {
                (range.next(), wanted.pop_front())
            } else {
                (range.next_back(), wanted.pop_back())
            };
            assert_eq!(found.map(|row| row.unwrap().0.value()), expected);
        }
        for _ in 0..3 {
            assert!(range.next().is_none());
            assert!(range.next_back().is_none());
        }
    }
}

fn change(db: &Database, model: &mut Model, rng: &mut Rng, check_inside: bool) {
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(TABLE).unwrap();
        for _ in 0..1500 {
            let key = rng.below(1000) as u32;
            if rng.below(3) == 0 {
                let old = table.remove(key).unwrap();
                assert_eq!(old.map(|old| old.value()), model.remove(&key));
            } else {
                let value = rng.next();
                let old = table.insert(key, value).unwrap();
                assert_eq!(old.map(|old| old.value()), model.insert(key, value));
            }
        }
        if check_inside {
            check_all_bounds(&table, model, rng);
            check_mixed(&table, model, rng);
        }
    }
    txn.commit().unwrap();
}

#[test]
fn all_bounds_agree_with_a_map_in_both_directions() {
    for cache in [0, 64 << 20] {
        let (db, _) = memory(4096, cache);
        let mut rng = Rng::new(cache as u64 + 1);
        let mut model = Model::new();
        for _ in 0..3 {
            change(&db, &mut model, &mut rng, true);
            let table = db.begin_read().unwrap().open_table(TABLE).unwrap();
            check_all_bounds(&table, &model, &mut rng);
            check_mixed(&table, &model, &mut rng);
        }
    }
}

#[test]
fn reversed_and_empty_ranges_hold_nothing() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(TABLE).unwrap();
        assert!(table.iter().unwrap().next().is_none());
        assert!(table.iter().unwrap().next_back().is_none());
        for key in 0..100 {
            table.insert(key, 1).unwrap();
        }
        #[expect(clippy::reversed_empty_ranges, reason = "that is the case under test")]
        let reversed = table.range(50..10).unwrap();
        assert_eq!(reversed.count(), 0);
        assert_eq!(table.range(50..50).unwrap().count(), 0);
        assert_eq!(table.range(1000..).unwrap().count(), 0);
        assert_eq!(table.range(50..=50).unwrap().count(), 1);
        let range = table.range((Bound::Excluded(98), Bound::Excluded(99)));
        assert_eq!(range.unwrap().count(), 0);
    }
    txn.commit().unwrap();
    let table = db.begin_read().unwrap().open_table(TABLE).unwrap();
    #[expect(clippy::reversed_empty_ranges, reason = "that is the case under test")]
    let reversed = table.range(99..=0).unwrap();
    assert_eq!(reversed.rev().count(), 0);
}

#[test]
fn a_clone_of_a_range_goes_on_from_the_same_row() {
    let (db, _) = memory(4096, 1 << 20);
    let mut model = Model::new();
    change(&db, &mut model, &mut Rng::new(5), false);
    let table = db.begin_read().unwrap().open_table(TABLE).unwrap();
    let mut range = table.iter().unwrap();
    range.nth(100);
    range.nth_back(100);
    let copy: Vec<u32> = range.clone().map(|row| row.unwrap().0.value()).collect();
    let rest: Vec<u32> = range.map(|row| row.unwrap().0.value()).collect();
    assert_eq!(copy, rest);
    assert_eq!(rest.len(), model.len() - 202);
}
