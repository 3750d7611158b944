//! One table at a time, through a write transaction and afterwards through a read transaction. Expectations are those
//! of a map: old values come back, lengths count, deleting and making again starts empty.

use bristlecone::{
    CommitError, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
    TableError, TableHandle, UntypedTableHandle,
};

use crate::support::{Bytes, assert_sound, commit, current, memory};

const AGES: TableDefinition<&str, u64> = TableDefinition::new("ages");

fn names(handles: impl Iterator<Item = UntypedTableHandle>) -> Vec<String> {
    handles.map(|handle| handle.name().to_owned()).collect()
}

#[test]
fn insert_and_remove_return_the_old_value() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(AGES).unwrap();
        assert!(table.insert("ann", 1).unwrap().is_none());
        assert_eq!(table.insert("ann", &2).unwrap().unwrap().value(), 1);
        assert_eq!(table.remove("ann").unwrap().unwrap().value(), 2);
        assert!(table.remove("ann").unwrap().is_none());
        assert!(table.remove("bob").unwrap().is_none());
        assert!(table.insert("ann", 3).unwrap().is_none());
    }
    txn.commit().unwrap();
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(AGES).unwrap();
        assert_eq!(table.insert("ann", 4).unwrap().unwrap().value(), 3);
        assert_eq!(table.get("ann").unwrap().unwrap().value(), 4);
        assert_eq!(table.remove("ann").unwrap().unwrap().value(), 4);
        assert!(table.get("ann").unwrap().is_none());
    }
    txn.commit().unwrap();
    let table = db.begin_read().unwrap().open_table(AGES).unwrap();
    assert!(table.is_empty().unwrap());
}

#[test]
fn first_last_len_and_is_empty_follow_the_rows() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(AGES).unwrap();
        assert!(table.is_empty().unwrap());
        assert!(table.first().unwrap().is_none());
        assert!(table.last().unwrap().is_none());
        for (idx, name) in (0..).zip(["m", "a", "z", "q"]) {
            table.insert(name, idx).unwrap();
        }
        assert_eq!(table.len().unwrap(), 4);
        assert_eq!(table.first().unwrap().unwrap().0.value(), "a");
        assert_eq!(table.last().unwrap().unwrap().0.value(), "z");
        table.remove("a").unwrap();
        table.remove("z").unwrap();
        assert_eq!(table.first().unwrap().unwrap().0.value(), "m");
        assert_eq!(table.last().unwrap().unwrap().1.value(), 3);
    }
    txn.commit().unwrap();
    let table = db.begin_read().unwrap().open_table(AGES).unwrap();
    assert_eq!(table.len().unwrap(), 2);
    assert!(!table.is_empty().unwrap());
    assert_eq!(table.first().unwrap().unwrap().1.value(), 0);
    assert_eq!(table.last().unwrap().unwrap().0.value(), "q");
}

#[test]
fn tables_exist_from_their_opening_until_their_deletion() {
    let (db, _) = memory(4096, 1 << 20);
    let missing = db.begin_read().unwrap().open_table(AGES).unwrap_err();
    assert!(matches!(missing, TableError::TableDoesNotExist(name) if name == "ages"));
    let txn = db.begin_write().unwrap();
    drop(txn.open_table(Bytes::new("b")).unwrap());
    drop(txn.open_table(AGES).unwrap());
    assert_eq!(names(txn.list_tables().unwrap()), ["ages", "b"]);
    assert!(txn.delete_table(Bytes::new("b")).unwrap());
    assert!(!txn.delete_table(Bytes::new("b")).unwrap());
    assert_eq!(names(txn.list_tables().unwrap()), ["ages"]);
    txn.commit().unwrap();
    let read = db.begin_read().unwrap();
    assert_eq!(names(read.list_tables().unwrap()), ["ages"]);
    let txn = db.begin_write().unwrap();
    let handle = txn.list_tables().unwrap().next().unwrap();
    assert!(txn.delete_table(handle).unwrap());
    txn.commit().unwrap();
    assert_eq!(names(read.list_tables().unwrap()), ["ages"]);
    assert!(read.open_table(AGES).unwrap().is_empty().unwrap());
    assert!(names(db.begin_read().unwrap().list_tables().unwrap()).is_empty());
    assert_sound(&db);
}

#[test]
fn a_table_is_open_once_at_a_time_and_the_error_says_where() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    let table = txn.open_table(AGES).unwrap();
    match txn.open_table(AGES).unwrap_err() {
        TableError::TableAlreadyOpen(name, place) => {
            assert_eq!(name, "ages");
            assert!(place.file().ends_with("tables.rs"), "{place}");
        }
        error => panic!("{error}"),
    }
    let error = txn.delete_table(AGES).unwrap_err();
    assert!(matches!(error, TableError::TableAlreadyOpen(_, _)));
    drop(table);
    assert!(txn.open_table(AGES).is_ok());
    assert!(txn.delete_table(AGES).unwrap());
    txn.commit().unwrap();
}

#[test]
fn a_leaked_table_poisons_the_commit_and_nothing_is_kept() {
    let (db, _) = memory(4096, 1 << 20);
    commit(&db, "kept", [(&b"k"[..], Some(&b"v"[..]))]);
    let txn = db.begin_write().unwrap();
    let mut table = txn.open_table(AGES).unwrap();
    table.insert("ann", 1).unwrap();
    std::mem::forget(table);
    let error = txn.commit().unwrap_err();
    assert!(matches!(error, CommitError::TransactionPoisoned));
    assert!(db.begin_read().unwrap().open_table(AGES).is_err());
    commit(&db, "kept", [(&b"l"[..], Some(&b"w"[..]))]);
    assert_eq!(current(&db, "kept").len(), 2);
    assert_sound(&db);
}

#[test]
fn an_aborted_or_dropped_transaction_leaves_no_trace() {
    let (db, backend) = memory(4096, 64 << 10);
    commit(&db, "t", [(&b"k"[..], Some(&b"old"[..]))]);
    let size = backend.size();
    for round in 0..20 {
        let txn = db.begin_write().unwrap();
        {
            let mut table = txn.open_table(Bytes::new("t")).unwrap();
            table.insert(&b"k"[..], &b"new"[..]).unwrap();
            for idx in 0..500_u32 {
                table.insert(&idx.to_be_bytes()[..], &[7; 100][..]).unwrap();
            }
            table.insert(&b"big"[..], &[1; 100_000][..]).unwrap();
        }
        txn.delete_table(Bytes::new("t")).unwrap();
        drop(txn.open_table(AGES).unwrap());
        if round % 2 == 0 {
            txn.abort().unwrap();
        } else {
            drop(txn);
        }
        let rows = current(&db, "t");
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[&b"k"[..]], b"old");
    }
    commit(&db, "t", [(&b"l"[..], Some(&b"x"[..]))]);
    assert_sound(&db);
    assert!(backend.size() <= size + (1 << 20), "aborts leak space");
}

#[test]
fn a_table_made_again_in_the_same_transaction_starts_empty() {
    let (db, _) = memory(4096, 64 << 10);
    let big = vec![3; 200_000];
    for round in 0..4_u8 {
        let txn = db.begin_write().unwrap();
        for part in 0..3_u8 {
            let mut table = txn.open_table(Bytes::new("t")).unwrap();
            let expected = if part == 0 && round > 0 { 401 } else { 0 };
            assert_eq!(table.len().unwrap(), expected);
            for idx in 0..400_u32 {
                let old = table.insert(&idx.to_be_bytes()[..], &[part; 200][..]);
                assert_eq!(old.unwrap().is_some(), expected > 0);
            }
            table.insert(&b"big"[..], big.as_slice()).unwrap();
            drop(table);
            if part < 2 {
                assert!(txn.delete_table(Bytes::new("t")).unwrap());
            }
        }
        txn.commit().unwrap();
        let rows = current(&db, "t");
        assert_eq!(rows.len(), 401);
        assert_eq!(rows[&[0; 4][..]], [2; 200]);
        assert_sound(&db);
    }
}

#[test]
fn an_empty_value_is_a_value_and_its_table_can_go() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(Bytes::new("t")).unwrap();
        table.insert(&b""[..], &b""[..]).unwrap();
        table.insert(&b"k"[..], &b""[..]).unwrap();
        assert_eq!(table.get(&b""[..]).unwrap().unwrap().value(), b"");
    }
    txn.delete_table(Bytes::new("t")).unwrap();
    txn.commit().unwrap();
    commit(&db, "t", [(&b""[..], Some(&b""[..])), (b"k", Some(b""))]);
    let rows = current(&db, "t");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[&b""[..]], b"");
    let txn = db.begin_write().unwrap();
    txn.delete_table(Bytes::new("t")).unwrap();
    txn.commit().unwrap();
    assert_sound(&db);
}

#[test]
fn the_same_table_is_read_and_written_within_a_transaction() {
    let (db, _) = memory(4096, 32 << 10);
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(Bytes::new("t")).unwrap();
        for idx in 0..3000_u32 {
            table.insert(&idx.to_be_bytes()[..], &[1; 30][..]).unwrap();
        }
        for idx in (0..3000_u32).step_by(3) {
            table.remove(&idx.to_be_bytes()[..]).unwrap();
        }
        let found: Vec<Vec<u8>> = table
            .range(&100_u32.to_be_bytes()[..]..&110_u32.to_be_bytes()[..])
            .unwrap()
            .map(|row| row.unwrap().0.value().to_vec())
            .collect();
        let wanted = (100..110_u32).filter(|idx| idx % 3 != 0);
        assert!(
            found.iter().eq(wanted
                .map(|idx| idx.to_be_bytes().to_vec())
                .collect::<Vec<_>>()
                .iter())
        );
        assert_eq!(table.len().unwrap(), 2000);
    }
    assert_eq!(
        txn.open_table(Bytes::new("t")).unwrap().len().unwrap(),
        2000
    );
    txn.commit().unwrap();
    assert!(db.engine_counters().spills > 0);
    assert_sound(&db);
}
