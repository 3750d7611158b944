//! Bugs that were found and what they looked like from outside. Each test opens with its story; each failed before the
//! fix it names.

use std::cmp::Ordering;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering as Atomic};

use bristlecone::backends::InMemoryBackend;
use bristlecone::{CommitError, Database, Key, ReadableDatabase, TableDefinition, TypeName, Value};

use crate::support::{self, Bytes, Shared};

/// A key type of a program: a number with an order of its own.
macro_rules! number_key {
    ($name:ident, $compare:expr) => {
        #[derive(Debug)]
        struct $name;

        impl Value for $name {
            type SelfType<'a> = u64;
            type AsBytes<'a> = [u8; 8];

            fn fixed_width() -> Option<usize> {
                Some(8)
            }

            fn from_bytes<'a>(data: &'a [u8]) -> u64
            where
                Self: 'a,
            {
                u64::from_le_bytes(data.try_into().unwrap())
            }

            fn as_bytes<'a, 'b: 'a>(value: &'a u64) -> [u8; 8]
            where
                Self: 'b,
            {
                value.to_le_bytes()
            }

            fn type_name() -> TypeName {
                TypeName::new(concat!("regress::", stringify!($name)))
            }
        }

        impl Key for $name {
            fn compare(left: &[u8], right: &[u8]) -> Ordering {
                let compare: fn(u64, u64) -> Ordering = $compare;
                compare(Self::from_bytes(left), Self::from_bytes(right))
            }
        }
    };
}

/// A map leaf describes 126 MiB. The second one was kept, all zero, when the file was cut to less than that, and the
/// next open refused a map that described units past the end of the file.
#[test]
fn a_file_that_shrank_over_a_map_leaf_opens_again() {
    let file = Shared::default();
    let db = Database::builder()
        .set_cache_size(8 << 20)
        .create_with_backend(file.clone())
        .unwrap();
    let value = vec![7_u8; 1 << 20];
    let keys: Vec<[u8; 4]> = (0..140_u32).map(u32::to_be_bytes).collect();
    let rows = keys.iter().map(|key| (&key[..], Some(&value[..])));
    support::commit(&db, "t", rows);
    support::commit(&db, "t", keys.iter().map(|key| (&key[..], None)));
    for (nth, key) in keys[..4].iter().enumerate() {
        support::commit(&db, "u", [(&key[..], Some(&b"x"[..]))]);
        // Another table moves the catalogue's page, too, off the end of the file.
        support::commit(&db, &format!("v{nth}"), []);
    }
    db.close().unwrap();
    let bytes = file.bytes();
    assert!(bytes.len() < 64 << 20, "{} bytes left", bytes.len());
    let db = Database::builder()
        .create_with_backend(Shared::of(bytes))
        .unwrap();
    assert_eq!(support::current(&db, "u").len(), 4);
    support::assert_sound(&db);
}

static FLIPPED: AtomicBool = AtomicBool::new(false);
number_key!(Flip, |left, right| if FLIPPED.load(Atomic::Relaxed) {
    right.cmp(&left)
} else {
    left.cmp(&right)
});

/// A program changed its comparator between versions. A commit that touched the table's leaves spun for ever on a row
/// that was not below its leaf's upper bound.
#[test]
fn a_comparator_that_changed_ends_in_an_error() {
    const TABLE: TableDefinition<Flip, &[u8]> = TableDefinition::new("t");
    let insert = |db: &Database, keys: &mut dyn Iterator<Item = u64>| {
        let txn = db.begin_write().unwrap();
        {
            let mut table = txn.open_table(TABLE).unwrap();
            for key in keys {
                table.insert(key, [1; 40].as_slice()).unwrap();
            }
        }
        txn.commit()
    };
    let (db, _) = support::memory(4096, 1 << 20);
    insert(&db, &mut (0..2000).map(|key| key * 2)).unwrap();
    FLIPPED.store(true, Atomic::Relaxed);
    let outcome = insert(&db, &mut [1, 401, 1001, 2001, 3001, 3999].into_iter());
    assert!(
        matches!(outcome, Err(CommitError::Storage(_))),
        "{outcome:?}"
    );
}

static FUSE: AtomicI64 = AtomicI64::new(-1);
number_key!(Bomb, |left, right| {
    assert!(
        FUSE.fetch_sub(1, Atomic::Relaxed) != 0,
        "the comparator panics as planned"
    );
    left.cmp(&right)
});

/// A comparator panicked in an insert, the program caught it and committed: the units of the value that had been
/// written were durable and reachable from nowhere.
#[test]
fn a_panic_within_a_change_spoils_the_transaction() {
    const TABLE: TableDefinition<Bomb, &[u8]> = TableDefinition::new("t");
    let (db, _) = support::memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(TABLE).unwrap();
        table.insert(1, [1; 40].as_slice()).unwrap();
        FUSE.store(0, Atomic::Relaxed);
        let big = vec![9; 200 << 10];
        let insert = || table.insert(2, big.as_slice()).map(drop);
        assert!(catch_unwind(AssertUnwindSafe(insert)).is_err());
        FUSE.store(-1, Atomic::Relaxed);
    }
    let outcome = txn.commit();
    assert!(
        matches!(outcome, Err(CommitError::TransactionPoisoned)),
        "{outcome:?}"
    );
    support::assert_sound(&db);
}

number_key!(Reverse, |left, right| right.cmp(&left));

/// Rows of a table whose order the engine does not know were taken from both ends; where the ends had met was decided
/// by the bytes, and rows in between were never yielded.
#[test]
fn a_range_without_an_order_has_one_end() {
    const TABLE: TableDefinition<Reverse, &[u8]> = TableDefinition::new("t");
    let (db, _) = support::memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(TABLE).unwrap();
        for key in 0..5 {
            table.insert(key, b"v".as_slice()).unwrap();
        }
    }
    txn.commit().unwrap();
    let table = db.begin_read().unwrap().open_untyped_table(TABLE).unwrap();
    let all = || {
        table
            .range_stored(Bound::Unbounded, Bound::Unbounded)
            .unwrap()
    };
    assert_eq!(all().count(), 5);
    assert_eq!(all().rev().count(), 5);
    let mut both = all();
    assert!(both.next().unwrap().is_ok());
    assert!(both.next_back().unwrap().is_err());
}

/// A destructor committed while its thread unwound from something else: the commit took the unwinding for a panic of
/// its own and stopped all writing.
#[test]
fn a_commit_while_unwinding_stops_nothing() {
    struct CommitOnDrop<'d>(&'d Database);
    impl Drop for CommitOnDrop<'_> {
        fn drop(&mut self) {
            support::commit(self.0, "t", [(&b"k"[..], Some(&b"v"[..]))]);
        }
    }
    let (db, _) = support::memory(4096, 1 << 20);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _commit = CommitOnDrop(&db);
        panic!("unrelated, as planned");
    }));
    assert!(unwound.is_err());
    assert_eq!(support::current(&db, "t").len(), 1);
    support::commit(&db, "t", [(&b"l"[..], Some(&b"v"[..]))]);
}

/// A leaked table handle kept its share of the budget, so that every later transaction spilled early.
#[test]
fn a_leaked_table_costs_later_transactions_nothing() {
    let insert = |db: &Database, rows: u32, leak: bool| {
        let txn = db.begin_write().unwrap();
        let mut table = txn.open_table(Bytes::new("t")).unwrap();
        for key in 0..rows {
            table.insert(&key.to_be_bytes()[..], &[0; 800][..]).unwrap();
        }
        if leak {
            std::mem::forget(table);
            assert!(matches!(
                txn.commit(),
                Err(CommitError::TransactionPoisoned)
            ));
        } else {
            drop(table);
            txn.commit().unwrap();
        }
    };
    let (db, _) = support::memory(4096, 1 << 20);
    insert(&db, 140, true);
    insert(&db, 140, false);
    assert_eq!(db.engine_counters().spills, 0);
}

/// Units of 4 KiB were counted as pages, whatever the page size.
#[test]
fn pages_times_their_size_are_the_file() {
    let db = Database::builder()
        .create_with_backend(InMemoryBackend::new())
        .unwrap();
    support::commit(&db, "t", [(&b"k"[..], Some(&b"v"[..]))]);
    let stats = db.begin_read().unwrap().stats().unwrap();
    // Header 2 units, three leaves of 2 units, a map page; the pages that the first commit replaced are none.
    assert_eq!(stats.page_size(), 8192);
    assert_eq!(stats.allocated_pages(), 5);
}

/// Rows went into pages without their common prefix, but the window of rows was cut whenever their raw bytes passed a
/// bound, to no effect: 20,000 keys with 190 bytes in common took a thousand times as long as without. The leaves must
/// be as full either way.
#[test]
fn long_common_prefixes_are_cut_like_short_ones() {
    for prefix in [0, 190] {
        let (db, _) = support::memory(8192, 64 << 20);
        let keys: Vec<Vec<u8>> = (0..20_000_u32)
            .map(|idx| [vec![b'p'; prefix], format!("{idx:010}").into_bytes()].concat())
            .collect();
        support::commit(
            &db,
            "t",
            keys.iter().map(|key| (&key[..], Some(&b"12345678"[..]))),
        );
        let leaves = db.engine_counters().leaf_pages_written;
        assert!(
            (30..=60).contains(&leaves),
            "{leaves} leaves with a prefix of {prefix}"
        );
        support::assert_sound(&db);
    }
}
