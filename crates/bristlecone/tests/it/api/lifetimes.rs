//! What may outlive what: guards, ranges and tables after their transaction, transactions after their database. Each
//! test drops the owner first and then uses what is left.

use bristlecone::{
    Database, ReadOnlyTable, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageError,
    TableDefinition, TransactionError,
};

use crate::support::{Shared, assert_sound, memory};

const TABLE: TableDefinition<u32, &str> = TableDefinition::new("t");

fn filled(rows: u32) -> (Database, Shared) {
    let (db, backend) = memory(4096, 1 << 20);
    fill(&db, rows, "value");
    (db, backend)
}

fn fill(db: &Database, rows: u32, value: &str) {
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(TABLE).unwrap();
        for key in 0..rows {
            table.insert(key, value).unwrap();
        }
    }
    txn.commit().unwrap();
}

#[test]
fn tables_ranges_and_guards_outlive_their_read_transaction() {
    let (db, _) = filled(2000);
    let (table, range, guard) = {
        let txn = db.begin_read().unwrap();
        let table = txn.open_table(TABLE).unwrap();
        let range = table.range(10..1990).unwrap();
        let guard = table.get(7).unwrap().unwrap();
        (table, range, guard)
    };
    for round in 0..20 {
        fill(&db, 2000, &format!("round {round}"));
    }
    assert_eq!(guard.value(), "value");
    assert_eq!(table.get(1999).unwrap().unwrap().value(), "value");
    drop(table);
    fill(&db, 2000, "last");
    let values: Vec<_> = range.map(|row| row.unwrap().1).collect();
    assert_eq!(values.len(), 1980);
    fill(&db, 2000, "after");
    assert!(values.iter().all(|value| value.value() == "value"));
}

#[test]
fn close_gives_the_read_transaction_back_while_a_table_lives() {
    let (db, _) = filled(10);
    let txn = db.begin_read().unwrap();
    let table = txn.open_table(TABLE).unwrap();
    let Err(TransactionError::ReadTransactionStillInUse(txn)) = txn.close() else {
        panic!("closed under a live table");
    };
    assert_eq!(table.len().unwrap(), 10);
    drop(table);
    txn.close().unwrap();
    db.begin_read().unwrap().close().unwrap();
}

fn assert_closed(table: &ReadOnlyTable<u32, &'static str>) {
    let closed = |error: StorageError| matches!(error, StorageError::DatabaseClosed);
    assert!(closed(table.get(5).unwrap_err()));
    assert!(closed(table.len().unwrap_err()));
    assert!(closed(table.iter().unwrap().next().unwrap().err().unwrap()));
    assert!(closed(
        table.iter().unwrap().next_back().unwrap().err().unwrap()
    ));
    assert!(closed(table.first().unwrap_err()));
    assert!(closed(table.stats().unwrap_err()));
}

#[test]
fn readers_get_database_closed_after_the_drop() {
    let (db, backend) = filled(2000);
    let txn = db.begin_read().unwrap();
    let table = txn.open_table(TABLE).unwrap();
    let guard = table.get(3).unwrap().unwrap();
    let mut range = table.iter().unwrap();
    range.next().unwrap().unwrap();
    drop(db);
    assert!(backend.is_closed());
    assert_closed(&table);
    assert_eq!(guard.value(), "value");
    assert!(range.any(|row| matches!(row, Err(StorageError::DatabaseClosed))));
    assert!(txn.open_table(TABLE).is_err());
    assert!(txn.list_tables().is_err());
    assert!(txn.stats().is_err());
}

#[test]
fn readers_of_an_empty_table_and_of_large_values_get_database_closed_too() {
    let (db, _) = memory(4096, 1 << 20);
    let large = "x".repeat(300_000);
    let txn = db.begin_write().unwrap();
    drop(
        txn.open_table(TableDefinition::<u32, &str>::new("empty"))
            .unwrap(),
    );
    txn.open_table(TABLE)
        .unwrap()
        .insert(1, large.as_str())
        .unwrap();
    txn.commit().unwrap();
    let read = db.begin_read().unwrap();
    let empty = read
        .open_table(TableDefinition::<u32, &str>::new("empty"))
        .unwrap();
    let table = read.open_table(TABLE).unwrap();
    assert_eq!(table.get(1).unwrap().unwrap().value(), large);
    drop(db);
    assert!(matches!(table.get(1), Err(StorageError::DatabaseClosed)));
    assert!(matches!(empty.get(1), Err(StorageError::DatabaseClosed)));
    assert!(matches!(
        empty.iter().unwrap().next(),
        Some(Err(StorageError::DatabaseClosed))
    ));
}

#[test]
fn a_write_transaction_outlives_its_database_and_the_file_closes_behind_it() {
    let (db, backend) = filled(10);
    let txn = db.begin_write().unwrap();
    let read = db.begin_read().unwrap();
    drop(db);
    assert!(!backend.is_closed());
    {
        let mut table = txn.open_table(TABLE).unwrap();
        table.insert(100, "late").unwrap();
        assert_eq!(table.len().unwrap(), 11);
    }
    txn.commit().unwrap();
    assert!(backend.is_closed());
    assert!(read.open_table(TABLE).is_err());
    let db = Database::builder()
        .create_with_backend(Shared::of(backend.bytes()))
        .unwrap();
    let table = db.begin_read().unwrap().open_table(TABLE).unwrap();
    assert_eq!(table.get(100).unwrap().unwrap().value(), "late");
    assert_sound(&db);
}

#[test]
fn close_reports_an_active_write_transaction_and_the_file_closes_behind_it() {
    let (db, backend) = filled(10);
    let txn = db.begin_write().unwrap();
    let error = db.close().unwrap_err();
    assert!(matches!(
        error,
        bristlecone::DatabaseError::TransactionInProgress
    ));
    assert!(!backend.is_closed());
    txn.abort().unwrap();
    assert!(backend.is_closed());
}

#[test]
fn a_panic_in_user_code_drops_the_transaction_and_the_database_goes_on() {
    let (db, backend) = filled(10);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let txn = db.begin_write().unwrap();
        let mut table = txn.open_table(TABLE).unwrap();
        for key in 0..1000 {
            table.insert(key, "lost").unwrap();
        }
        std::panic::resume_unwind(Box::new("user code"));
    }));
    assert!(outcome.is_err());
    fill(&db, 5, "kept");
    assert_sound(&db);
    drop(db);
    let db = Database::builder()
        .create_with_backend(Shared::of(backend.bytes()))
        .unwrap();
    let table = db.begin_read().unwrap().open_table(TABLE).unwrap();
    assert_eq!(table.len().unwrap(), 10);
    assert_eq!(table.get(4).unwrap().unwrap().value(), "kept");
    assert_sound(&db);
}
