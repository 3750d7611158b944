//! Several transactions at once: one writer, many readers, two threads inside one writer. Threads run until all of
//! them are done and compare what they saw with what was committed when they began.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bristlecone::{
    Durability, ReadableDatabase, ReadableTable, ReadableTableMetadata, SetDurabilityError,
    TableDefinition, TransactionError,
};

use crate::support::{assert_sound, memory};

const TABLE: TableDefinition<u64, u64> = TableDefinition::new("t");

#[test]
fn a_second_writer_would_block_until_the_first_is_gone() {
    let (db, _) = memory(4096, 1 << 20);
    let first = db.begin_write().unwrap();
    let error = db.try_begin_write().unwrap_err();
    assert!(matches!(error, TransactionError::WouldBlock));
    drop(first);
    let second = db.try_begin_write().unwrap();
    assert!(db.try_begin_write().is_err());
    second.commit().unwrap();
    assert!(db.try_begin_write().is_ok());
}

#[test]
fn waiting_writers_come_one_after_the_other() {
    let (db, _) = memory(4096, 1 << 20);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let txn = db.begin_write().unwrap();
                    {
                        let mut table = txn.open_table(TABLE).unwrap();
                        let count = table.get(0).unwrap().map_or(0, |value| value.value());
                        table.insert(0, count + 1).unwrap();
                    }
                    txn.commit().unwrap();
                }
            });
        }
    });
    let table = db.begin_read().unwrap().open_table(TABLE).unwrap();
    assert_eq!(table.get(0).unwrap().unwrap().value(), 100);
}

#[test]
fn commits_that_need_not_be_durable_are_refused() {
    let (db, _) = memory(4096, 1 << 20);
    let mut txn = db.begin_write().unwrap();
    txn.set_durability(Durability::Immediate).unwrap();
    let error = txn.set_durability(Durability::None).unwrap_err();
    assert!(matches!(
        error,
        SetDurabilityError::NonDurableCommitUnsupported
    ));
    txn.commit().unwrap();
}

#[test]
fn an_empty_commit_writes_nothing() {
    let (db, backend) = memory(4096, 1 << 20);
    let before = backend.changes();
    db.begin_write().unwrap().commit().unwrap();
    assert_eq!(backend.changes(), before);
}

#[test]
fn two_threads_fill_two_tables_of_one_transaction() {
    let names = ["left", "right"];
    // A small budget, so that both threads spill, their own table and the other's.
    let (db, _) = memory(4096, 64 << 10);
    for round in 0..3_u64 {
        let txn = db.begin_write().unwrap();
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            for name in names {
                let (txn, barrier) = (&txn, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for part in 0..10_u64 {
                        let definition: TableDefinition<u64, &[u8]> = TableDefinition::new(name);
                        let mut table = txn.open_table(definition).unwrap();
                        for idx in 0..300_u64 {
                            let value = vec![name.len() as u8; (idx % 90) as usize];
                            table.insert(part * 300 + idx, value.as_slice()).unwrap();
                        }
                        if part == 5 {
                            table.insert(round, &[9; 100_000][..]).unwrap();
                        }
                        assert!(table.len().unwrap() >= (part + 1) * 300);
                    }
                });
            }
        });
        txn.commit().unwrap();
        assert_sound(&db);
        let read = db.begin_read().unwrap();
        for name in names {
            let definition: TableDefinition<u64, &[u8]> = TableDefinition::new(name);
            let table = read.open_table(definition).unwrap();
            assert_eq!(table.len().unwrap(), 3000);
            for row in table.iter().unwrap().skip(3) {
                let (key, value) = row.unwrap();
                assert_eq!(value.value().len() as u64, key.value() % 300 % 90);
            }
            assert_eq!(table.get(round).unwrap().unwrap().value(), [9; 100_000]);
        }
    }
    assert!(db.engine_counters().spills > 10);
}

#[test]
fn many_readers_beside_a_writer_keep_their_snapshots() {
    const ROWS: u64 = 700;
    let (db, _) = memory(4096, 256 << 10);
    let committed = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    let write = |round: u64| {
        let txn = db.begin_write().unwrap();
        {
            let mut table = txn.open_table(TABLE).unwrap();
            for key in 0..ROWS {
                table.insert(key, round).unwrap();
            }
        }
        txn.commit().unwrap();
        committed.store(round, Ordering::SeqCst);
    };
    write(0);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    let least = committed.load(Ordering::SeqCst);
                    let table = db.begin_read().unwrap().open_table(TABLE).unwrap();
                    let seen = table.get(0).unwrap().unwrap().value();
                    assert!(seen >= least, "an acknowledged commit is missing");
                    for _ in 0..3 {
                        let rows: Vec<u64> = table
                            .iter()
                            .unwrap()
                            .map(|row| row.unwrap().1.value())
                            .collect();
                        assert_eq!(rows.len() as u64, ROWS);
                        assert!(rows.iter().all(|&value| value == seen), "torn snapshot");
                    }
                }
            });
        }
        for round in 1..=120 {
            write(round);
        }
        done.store(true, Ordering::SeqCst);
    });
    assert_sound(&db);
}
