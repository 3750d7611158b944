//! What a commit costs, in pages that the engine counts: no clock is read. Each bound is the tree's arithmetic with a
//! little room, so that a change of the algorithm shows and a change of the machine does not.

use bristlecone::backends::InMemoryBackend;
use bristlecone::{Database, TableDefinition};

const TABLE: TableDefinition<u64, &[u8]> = TableDefinition::new("t");

fn filled(rows: u64) -> Database {
    let db = Database::builder()
        .create_with_backend(InMemoryBackend::new())
        .unwrap();
    change(&db, 0..rows, true);
    db
}

fn change(db: &Database, keys: impl Iterator<Item = u64>, insert: bool) {
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(TABLE).unwrap();
        for key in keys {
            if insert {
                table.insert(key, [key as u8; 150].as_slice()).unwrap();
            } else {
                table.remove(key).unwrap();
            }
        }
    }
    txn.commit().unwrap();
}

/// Leaves written by `commits` calls of `commit`, that of the catalogue left out.
fn leaves(db: &Database, commits: u64, mut commit: impl FnMut(u64)) -> u64 {
    let before = db.engine_counters().leaf_pages_written;
    for nth in 0..commits {
        commit(nth);
    }
    db.engine_counters().leaf_pages_written - before - commits
}

#[test]
fn a_commit_that_appends_rewrites_the_last_leaf_alone() {
    let db = filled(20_000);
    let written = leaves(&db, 200, |nth| {
        let first = 20_000 + nth * 10;
        change(&db, first..first + 10, true);
    });
    // 2,000 rows of 158 bytes fill 40 leaves; each of 200 commits writes one, and one more where a leaf fills up.
    assert!(
        (200..=250).contains(&written),
        "{written} leaves for 200 commits"
    );
}

#[test]
fn a_commit_at_the_front_rewrites_few_leaves() {
    let db = filled(20_000);
    let written = leaves(&db, 200, |nth| {
        change(&db, nth * 10..nth * 10 + 10, false);
    });
    // The front leaf shrinks until it is gone; its full neighbours are not written again to share what it lacks.
    assert!(written <= 220, "{written} leaves for 200 commits");
}

#[test]
fn scattered_updates_rewrite_about_the_leaves_they_touch() {
    let db = filled(20_000);
    let written = leaves(&db, 50, |nth| {
        change(&db, (0..20).map(|idx| (nth * 7 + idx * 997) % 20_000), true);
    });
    // Rows keep their size, so no leaf overflows or turns poor.
    assert!(
        written <= 50 * 20,
        "{written} leaves for 50 commits of 20 updates"
    );
}

#[test]
fn a_bulk_load_writes_each_page_once_and_fills_it() {
    let db = Database::builder()
        .create_with_backend(InMemoryBackend::new())
        .unwrap();
    let written = leaves(&db, 1, |_| change(&db, 0..50_000, true));
    // Keys share seven of their eight bytes, and 8 KiB hold 53 rows of 1 + 150 bytes.
    let full = 50_000_u64.div_ceil(53);
    assert!(
        (full..=full + 10).contains(&written),
        "{written} leaves, {full} if all are full"
    );
}

#[test]
fn a_table_beside_a_full_one_spills_runs_worth_writing() {
    const OTHER: TableDefinition<u64, &[u8]> = TableDefinition::new("other");
    let db = Database::builder()
        .set_cache_size(1 << 20)
        .create_with_backend(InMemoryBackend::new())
        .unwrap();
    let txn = db.begin_write().unwrap();
    {
        let mut full = txn.open_table(TABLE).unwrap();
        let mut other = txn.open_table(OTHER).unwrap();
        // Just below the quarter of the budget at which buffers spill; the handle stays open.
        for key in 0..1_200 {
            full.insert(key, [1; 150].as_slice()).unwrap();
        }
        for key in 0..2_000 {
            other.insert(key, [2; 150].as_slice()).unwrap();
        }
    }
    txn.commit().unwrap();
    // 2,000 rows of 200 bytes in pieces of at least an eighth of 256 KiB.
    let spills = db.engine_counters().spills;
    assert!(spills <= 20, "{spills} spills");
}
