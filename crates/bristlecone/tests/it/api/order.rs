//! Keys that order themselves: users' types with their own `compare`, in trees of several levels. Each order disagrees
//! with the order of the encoded bytes, so any place that fell back to comparing bytes would show.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bristlecone::{
    Key, KeyOrder, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
    TableError, TableHandle, TypeName, Value,
};

use crate::support::{Rng, assert_sound, memory};

macro_rules! text_key {
    ($(#[$doc:meta])* $name:ident, $compare:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        struct $name;

        impl Value for $name {
            type SelfType<'a> = &'a str;
            type AsBytes<'a> = &'a [u8];

            fn fixed_width() -> Option<usize> {
                None
            }

            fn from_bytes<'a>(data: &'a [u8]) -> &'a str
            where
                Self: 'a,
            {
                std::str::from_utf8(data).unwrap_or("not text")
            }

            fn as_bytes<'a, 'b: 'a>(value: &'a &'b str) -> &'a [u8]
            where
                Self: 'b,
            {
                value.as_bytes()
            }

            fn type_name() -> TypeName {
                TypeName::new(concat!("tests::", stringify!($name)))
            }
        }

        impl Key for $name {
            fn compare(left: &[u8], right: &[u8]) -> Ordering {
                let compare: fn(&[u8], &[u8]) -> Ordering = $compare;
                compare(left, right)
            }
        }
    };
}

text_key!(
    /// Upper and lower case are the same.
    CaseBlind,
    |left, right| left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase())
);
text_key!(
    /// The greatest text comes first.
    Reversed,
    |left, right| right.cmp(left)
);
text_key!(
    /// Shorter texts first, then by their last byte.
    ByLength,
    |left, right| (left.len(), left.iter().rev().collect::<Vec<_>>())
        .cmp(&(right.len(), right.iter().rev().collect()))
);

/// Runs random changes and compares with a map whose keys `rank` has turned into something of the same order.
fn run<K, R>(rank: impl Fn(&str) -> R)
where
    K: Key + for<'a> Value<SelfType<'a> = &'a str> + 'static,
    R: Ord + Clone,
{
    let definition: TableDefinition<K, u64> = TableDefinition::new("t");
    let (db, _) = memory(4096, 64 << 10);
    let mut rng = Rng::new(3);
    let mut model: BTreeMap<R, (String, u64)> = BTreeMap::new();
    for _ in 0..6 {
        let txn = db.begin_write().unwrap();
        {
            let mut table = txn.open_table(definition).unwrap();
            for _ in 0..1500 {
                let case = if rng.below(2) == 0 { "Key" } else { "kEY" };
                let pad = "x".repeat(rng.below(60) as usize);
                let key = format!("{case} {pad}{}", rng.below(2000));
                let ranked = rank(&key);
                if rng.below(4) == 0 {
                    let old = table.remove(key.as_str()).unwrap();
                    let expected = model.remove(&ranked).map(|(_, value)| value);
                    assert_eq!(old.map(|old| old.value()), expected);
                } else {
                    let value = rng.next();
                    let old = table.insert(key.as_str(), value).unwrap();
                    let expected = model.insert(ranked, (key, value));
                    assert_eq!(old.map(|old| old.value()), expected.map(|(_, value)| value));
                }
            }
            compare(&table, &model, &rank, &mut rng);
        }
        txn.commit().unwrap();
        let table = db.begin_read().unwrap().open_table(definition).unwrap();
        compare(&table, &model, &rank, &mut rng);
        assert_sound(&db);
    }
    let table = db.begin_read().unwrap().open_table(definition).unwrap();
    assert!(table.stats().unwrap().tree_height() >= 3);
    assert!(db.engine_counters().spills > 0);
}

fn compare<K, R>(
    table: &impl ReadableTable<K, u64>,
    model: &BTreeMap<R, (String, u64)>,
    rank: impl Fn(&str) -> R,
    rng: &mut Rng,
) where
    K: Key + for<'a> Value<SelfType<'a> = &'a str> + 'static,
    R: Ord + Clone,
{
    assert_eq!(table.len().unwrap(), model.len() as u64);
    let rows: Vec<(String, u64)> = table
        .iter()
        .unwrap()
        .map(|row| {
            let (key, value) = row.unwrap();
            (key.value().to_owned(), value.value())
        })
        .collect();
    assert!(rows.iter().eq(model.values()), "rows differ");
    for _ in 0..20 {
        let low = &rows[rng.below(rows.len() as u64) as usize].0;
        let found: Vec<u64> = table
            .range(low.as_str()..)
            .unwrap()
            .take(50)
            .map(|row| row.unwrap().1.value())
            .collect();
        let expected = model.range(rank(low)..).take(50).map(|(_, row)| row.1);
        assert!(found.into_iter().eq(expected));
        let last = table.range(..=low.as_str()).unwrap().next_back();
        let last = last.unwrap().unwrap().1.value();
        assert_eq!(Some(last), model.get(&rank(low)).map(|row| row.1));
    }
}

#[test]
fn case_blind_keys_keep_one_row_per_letter_case_class_and_its_newest_spelling() {
    run::<CaseBlind, _>(|key| key.to_ascii_lowercase());
}

#[test]
fn reversed_keys_scan_from_the_greatest() {
    run::<Reversed, _>(|key| std::cmp::Reverse(key.to_owned()));
}

#[test]
fn keys_by_length_scan_by_length() {
    run::<ByLength, _>(|key| (key.len(), key.bytes().rev().collect::<Vec<_>>()));
}

#[test]
fn the_newest_spelling_of_an_equal_key_is_kept_whatever_the_budget() {
    for cache in [0, 64 << 20] {
        let (db, _) = memory(4096, cache);
        let definition: TableDefinition<CaseBlind, u64> = TableDefinition::new("t");
        let txn = db.begin_write().unwrap();
        {
            let mut table = txn.open_table(definition).unwrap();
            table.insert("name", 1).unwrap();
            for idx in 0..2000 {
                table.insert(format!("filler {idx}").as_str(), idx).unwrap();
            }
            table.insert("NAME", 2).unwrap();
            let row = table.range("nAmE"..).unwrap().next().unwrap().unwrap();
            assert_eq!((row.0.value(), row.1.value()), ("NAME", 2));
        }
        txn.commit().unwrap();
        let table = db.begin_read().unwrap().open_table(definition).unwrap();
        let row = table.last().unwrap().unwrap();
        assert_eq!((row.0.value(), row.1.value()), ("NAME", 2));
    }
}

#[test]
fn an_order_of_ones_own_is_foreign_to_tools_and_to_other_types() {
    let (db, _) = memory(4096, 1 << 20);
    let definition: TableDefinition<Reversed, u64> = TableDefinition::new("t");
    let txn = db.begin_write().unwrap();
    for key in ["a", "b", "c"] {
        txn.open_table(definition).unwrap().insert(key, 1).unwrap();
    }
    let error = txn
        .open_table(TableDefinition::<CaseBlind, u64>::new("t"))
        .unwrap_err();
    assert!(matches!(error, TableError::TableTypeMismatch { .. }));
    let error = txn
        .open_table(TableDefinition::<&str, u64>::new("t"))
        .unwrap_err();
    assert!(matches!(error, TableError::TableTypeMismatch { .. }));
    txn.commit().unwrap();
    let read = db.begin_read().unwrap();
    let table = read.open_untyped_table(definition).unwrap();
    assert_eq!(table.name(), "t");
    assert_eq!(table.schema().order(), KeyOrder::Foreign);
    assert!(matches!(
        table.get_stored(b"a"),
        Err(bristlecone::StorageError::Unsupported)
    ));
    use std::ops::Bound;
    assert!(
        table
            .range_stored(Bound::Included(b"a"), Bound::Unbounded)
            .is_err()
    );
    let keys: Vec<Vec<u8>> = table
        .range_stored(Bound::Unbounded, Bound::Unbounded)
        .unwrap()
        .map(|row| row.unwrap().0.to_vec())
        .collect();
    assert_eq!(keys, [b"c", b"b", b"a"]);
}
