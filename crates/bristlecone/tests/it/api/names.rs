//! Table names and large numbers of tables: every name that can be told apart names a table of its own. Thousands of
//! tables are made in one transaction and in many, with aborted ones in between.

use bristlecone::{
    ReadableDatabase, ReadableTableMetadata, StorageError, TableDefinition, TableError,
    TableHandle, UntypedTableHandle,
};

use crate::support::{Bytes, assert_sound, commit, current, memory};

#[test]
fn any_text_of_up_to_64_kib_names_a_table() {
    let (db, _) = memory(4096, 1 << 20);
    let long = "n".repeat(64 << 10);
    let nearly = "n".repeat((64 << 10) - 1);
    let names = [
        "a",
        "A",
        "\0",
        "\0\0",
        "a\0",
        "\u{1F332}",
        "\u{e9}",
        "e\u{301}",
        " ",
        "../x",
        &long,
        &nearly,
    ];
    for name in names {
        commit(&db, name, [(name.as_bytes(), Some(&b"v"[..]))]);
    }
    for name in names {
        let rows = current(&db, name);
        assert!(rows.into_keys().eq([name.as_bytes().to_vec()]));
    }
    let listed: Vec<String> = db
        .begin_read()
        .unwrap()
        .list_tables()
        .unwrap()
        .map(|handle| handle.name().to_owned())
        .collect();
    let mut sorted = names.map(str::to_owned).to_vec();
    sorted.sort();
    assert_eq!(listed, sorted);
    assert_sound(&db);
    let txn = db.begin_write().unwrap();
    for name in names {
        assert!(txn.delete_table(UntypedTableHandle::new(name)).unwrap());
    }
    txn.commit().unwrap();
    assert_sound(&db);
}

#[test]
fn a_longer_name_is_refused_and_harms_nothing() {
    let (db, _) = memory(4096, 1 << 20);
    let long = "n".repeat((64 << 10) + 1);
    let txn = db.begin_write().unwrap();
    let error = txn.open_table(Bytes::new(&long)).unwrap_err();
    assert!(
        matches!(error, TableError::Storage(StorageError::ValueTooLarge(len)) if len == long.len())
    );
    drop(txn.open_table(Bytes::new("t")).unwrap());
    txn.commit().unwrap();
    let error = db.begin_read().unwrap().open_table(Bytes::new(&long));
    assert!(matches!(error, Err(TableError::TableDoesNotExist(_))));
}

#[test]
#[should_panic(expected = "non-empty")]
fn an_empty_name_panics() {
    let name = String::new();
    let _definition: TableDefinition<u8, u8> = TableDefinition::new(&name);
}

#[test]
fn one_transaction_makes_and_deletes_five_thousand_tables() {
    let (db, _) = memory(4096, 4 << 20);
    let txn = db.begin_write().unwrap();
    for idx in 0..5000_u32 {
        let name = format!("table {idx}");
        let definition: TableDefinition<u32, &str> = TableDefinition::new(&name);
        txn.open_table(definition)
            .unwrap()
            .insert(idx, name.as_str())
            .unwrap();
    }
    txn.commit().unwrap();
    assert_sound(&db);
    let read = db.begin_read().unwrap();
    assert_eq!(read.list_tables().unwrap().count(), 5000);
    for idx in (0..5000_u32).step_by(7) {
        let name = format!("table {idx}");
        let definition: TableDefinition<u32, &str> = TableDefinition::new(&name);
        let table = read.open_table(definition).unwrap();
        assert_eq!(table.get(idx).unwrap().unwrap().value(), name);
    }
    let txn = db.begin_write().unwrap();
    for idx in 0..4999_u32 {
        let name = format!("table {idx}");
        assert!(txn.delete_table(UntypedTableHandle::new(name)).unwrap());
    }
    txn.commit().unwrap();
    assert_eq!(db.begin_read().unwrap().list_tables().unwrap().count(), 1);
    assert_sound(&db);
}

#[test]
fn many_transactions_make_thousands_of_tables_between_aborts() {
    let (db, _) = memory(4096, 4 << 20);
    let mut idx = 0_u32;
    while idx < 5000 {
        let txn = db.begin_write().unwrap();
        for _ in 0..50 {
            let name = format!("{idx}");
            let definition: TableDefinition<u32, u32> = TableDefinition::new(&name);
            txn.open_table(definition)
                .unwrap()
                .insert(idx, idx)
                .unwrap();
            idx += 1;
        }
        if idx.is_multiple_of(150) {
            txn.abort().unwrap();
            idx -= 49;
        } else {
            txn.commit().unwrap();
        }
    }
    let read = db.begin_read().unwrap();
    let handles: Vec<_> = read.list_tables().unwrap().collect();
    let mut rows = 0;
    for handle in &handles {
        let definition: TableDefinition<u32, u32> = TableDefinition::new(handle.name());
        rows += read.open_table(definition).unwrap().len().unwrap();
    }
    assert!(handles.len() > 4000, "{}", handles.len());
    assert!(rows >= handles.len() as u64);
    assert_sound(&db);
}
