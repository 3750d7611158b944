//! Full disks: a database grows until the disk refuses, by each of the three errors that mean it. The error must say so,
//! everything acknowledged must be there, at once and after a reopen, and with room again writing must go on.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, like the tests"
)]

use bristlecone::{
    CommitError, Database, Error, ReadableDatabase, ReadableTableMetadata, StorageError,
    TableDefinition,
};
use bristlecone_sim::{ErrorCode, Fault, OperationClass, SimDisk};

const ROWS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("rows");

fn open(disk: &SimDisk) -> Database {
    let mut builder = Database::builder();
    builder.set_cache_size(64 * 1024);
    builder.create_with_backend(disk.backend()).unwrap()
}

/// Commits rows of 900 bytes, ten at a time, from `first` on.
fn commit_ten(database: &Database, first: u64) -> Result<(), Error> {
    let txn = database.begin_write()?;
    {
        let mut table = txn.open_table(ROWS)?;
        for key in first..first + 10 {
            table.insert(key, [7_u8; 900].as_slice())?;
        }
    }
    Ok(txn.commit()?)
}

/// Commits until one fails; returns the rows acknowledged and the error.
fn fill(database: &Database, mut rows: u64) -> (u64, Error) {
    loop {
        match commit_ten(database, rows) {
            Ok(()) => rows += 10,
            Err(error) => return (rows, error),
        }
    }
}

fn row_count(database: &Database) -> u64 {
    let txn = database.begin_read().unwrap();
    txn.open_table(ROWS).unwrap().len().unwrap()
}

fn is_disk_full(error: &Error) -> bool {
    // The superset has the cause as text alone; a commit's own error has the predicate.
    let text = error.to_string();
    ["disk full", "quota", "file too large"]
        .iter()
        .any(|cause| text.contains(cause))
}

#[test]
fn a_full_disk_loses_nothing_and_says_what_it_is() {
    let disk = SimDisk::new(1);
    disk.quota(Some(300 << 10));
    let database = open(&disk);
    let (rows, error) = fill(&database, 0);
    assert!(rows > 50, "{rows}");
    assert!(is_disk_full(&error), "{error}");
    assert_eq!(row_count(&database), rows);
    drop(database);
    let mut database = open(&disk);
    assert_eq!(row_count(&database), rows);
    assert!(database.check_integrity().unwrap());
    disk.quota(None);
    commit_ten(&database, rows).unwrap();
    assert_eq!(row_count(&database), rows + 10);
}

#[test]
fn a_full_disk_halts_nothing() {
    let disk = SimDisk::new(1);
    disk.quota(Some(300 << 10));
    let database = open(&disk);
    let (rows, _) = fill(&database, 0);
    disk.quota(None);
    commit_ten(&database, rows).unwrap();
    assert_eq!(row_count(&database), rows + 10);
}

#[test]
fn all_errors_that_mean_full_are_recognised() {
    let codes = [ErrorCode::Enospc, ErrorCode::Edquot, ErrorCode::Efbig];
    for (code, class) in codes.into_iter().zip([
        OperationClass::Change,
        OperationClass::Write,
        OperationClass::Change,
    ]) {
        let disk = SimDisk::new(1);
        let database = open(&disk);
        commit_ten(&database, 0).unwrap();
        disk.fail_from(class, 1, Fault::Fail(code));
        let txn = database.begin_write().unwrap();
        txn.open_table(ROWS)
            .unwrap()
            .insert(1000, [1_u8].as_slice())
            .unwrap();
        match txn.commit().unwrap_err() {
            CommitError::Storage(error) => assert!(error.is_disk_full(), "{error}"),
            error => panic!("{error}"),
        }
        assert_eq!(row_count(&database), 10);
    }
}

#[test]
fn other_errors_are_not_taken_for_a_full_disk() {
    let disk = SimDisk::new(1);
    let database = open(&disk);
    disk.fail_from(OperationClass::Write, 1, Fault::Fail(ErrorCode::Eio));
    let txn = database.begin_write().unwrap();
    txn.open_table(ROWS)
        .unwrap()
        .insert(1, [1_u8].as_slice())
        .unwrap();
    match txn.commit().unwrap_err() {
        CommitError::Storage(error @ StorageError::Io(_)) => assert!(!error.is_disk_full()),
        error => panic!("{error}"),
    }
}
