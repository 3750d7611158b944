//! Instructions executed by the engine's basic operations, counted by callgrind: `cargo xtask instructions`.
//!
//! Each benchmark works on 20,000 rows of 24 and 150 bytes in memory, warmed by one scan, with default settings; making
//! them is not counted, nor is dropping them. Every run counts the same. `commit` of 10,000 entries stands for a
//! checkpoint of as many: there is none apart from the commit.
//!
//! # One SIMD mode
//! The engine's checksum is built without run-time dispatch. The C library dispatches its copies and compares at run
//! time; valgrind shows it a processor of its own, with AVX2 only where the host has it, so AVX2 and all that is newer
//! is turned off by the tunables below, in the names that releases before and since 2.33 use. What is left is SSE2,
//! which every x86-64 has. With AVX2 a commit of 10,000 entries counts 13 % more.

#![allow(
    missing_docs,
    reason = "the attribute and the macros make public items of their own"
)]

use std::hint::black_box;

use bristlecone::backends::InMemoryBackend;
use bristlecone::{
    Builder, Database, ReadTransaction, ReadableDatabase, TableDefinition, WriteTransaction,
};
use gungraun::{
    Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};

const TABLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("x");
const KEY_BYTES: usize = 24;
const VALUE_BYTES: usize = 150;
/// Rows before anything is counted.
const ROWS: u32 = 20_000;

/// The processor features that the C library may choose its routines by, turned off.
const NO_AVX: &str = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-AVX512F,-AVX512VL,-AVX512BW,\
-AVX512F_Usable,-ERMS,-FSRM,-BMI2,-SSE4_2,-SSE4_1,-SSSE3,-Fast_Unaligned_Copy";

type Row = ([u8; KEY_BYTES], [u8; VALUE_BYTES]);

/// The row numbered `idx`: the same on every run.
fn row(idx: u32) -> Row {
    let mut random = fastrand::Rng::with_seed(u64::from(idx) + 1);
    let mut row = ([0; KEY_BYTES], [0; VALUE_BYTES]);
    random.fill(&mut row.0);
    random.fill(&mut row.1);
    row
}

fn rows(from: u32, count: u32) -> Vec<Row> {
    (from..from + count).map(row).collect()
}

fn insert(txn: &WriteTransaction, rows: &[Row]) {
    let mut table = txn.open_table(TABLE).expect("the table opens");
    for (key, value) in rows {
        table
            .insert(key.as_slice(), value.as_slice())
            .expect("a row goes in");
    }
}

fn loaded() -> Database {
    let db = Builder::new()
        .create_with_backend(InMemoryBackend::new())
        .expect("a database in memory");
    let txn = db.begin_write().expect("nobody else writes");
    insert(&txn, &rows(0, ROWS));
    txn.commit().expect("memory suffices");
    let txn = db.begin_read().expect("a snapshot");
    assert_eq!(scan_all(&txn), ROWS as usize);
    db
}

fn scan_all(txn: &ReadTransaction) -> usize {
    let table = txn.open_table(TABLE).expect("the table opens");
    let range = table.range::<&[u8]>(..).expect("a range");
    range.inspect(|row| assert!(row.is_ok())).count()
}

/// A database with a snapshot of it and rows to ask for.
fn reading(count: u32) -> (Database, ReadTransaction, Vec<Row>) {
    let db = loaded();
    let txn = db.begin_read().expect("a snapshot");
    // A step that has no common factor with the number of rows visits all parts of the key space.
    let wanted = (0..count).map(|idx| row(idx * 7919 % ROWS)).collect();
    (db, txn, wanted)
}

/// A database with an open write transaction and rows to put into it.
fn writing(count: u32) -> (Database, WriteTransaction, Vec<Row>) {
    let db = loaded();
    let txn = db.begin_write().expect("nobody else writes");
    (db, txn, rows(ROWS, count))
}

/// A write transaction that has `count` rows in its buffer.
fn ready_to_commit(count: u32) -> (Database, WriteTransaction) {
    let (db, txn, rows) = writing(count);
    insert(&txn, &rows);
    (db, txn)
}

#[library_benchmark]
#[bench::times_1000(args = (1000), setup = reading)]
fn get(
    (db, txn, wanted): (Database, ReadTransaction, Vec<Row>),
) -> (Database, ReadTransaction, Vec<Row>) {
    let table = txn.open_table(TABLE).expect("the table opens");
    for (key, value) in &wanted {
        let found = table.get(key.as_slice()).expect("a look-up");
        let found = found.expect("the key is there");
        assert!(black_box(found.value()) == value);
    }
    drop(table);
    (db, txn, wanted)
}

#[library_benchmark]
#[bench::times_1000(args = (1000), setup = writing)]
fn put(
    (db, txn, rows): (Database, WriteTransaction, Vec<Row>),
) -> (Database, WriteTransaction, Vec<Row>) {
    insert(&txn, &rows);
    (db, txn, rows)
}

#[library_benchmark]
#[bench::times_1000(args = (1000), setup = reading)]
fn scan_step(
    (db, txn, rows): (Database, ReadTransaction, Vec<Row>),
) -> (Database, ReadTransaction, Vec<Row>) {
    let table = txn.open_table(TABLE).expect("the table opens");
    let range = table.range::<&[u8]>(..).expect("a range");
    for row in range.take(rows.len()) {
        let (key, value) = row.expect("a row");
        black_box((key.value(), value.value()));
    }
    drop(table);
    (db, txn, rows)
}

#[library_benchmark]
#[bench::of_1_entry(args = (1), setup = ready_to_commit)]
#[bench::of_10000_entries(args = (10_000), setup = ready_to_commit)]
fn commit((db, txn): (Database, WriteTransaction)) -> Database {
    txn.commit().expect("memory suffices");
    db
}

library_benchmark_group!(name = engine, benchmarks = [get, put, scan_step, commit]);

main!(
    config = LibraryBenchmarkConfig::default()
        .env("GLIBC_TUNABLES", NO_AVX)
        .tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = engine
);
