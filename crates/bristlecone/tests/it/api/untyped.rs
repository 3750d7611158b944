//! The untyped view, for tools: rows as stored bytes, the schema saying what they are. A copy made through it must
//! equal the original when opened with its types.

use std::ops::Bound;

use bristlecone::{
    ReadOnlyTable, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageError,
    TableDefinition, TableError, TableHandle, TableSchema, UntypedTableHandle,
};

use crate::support::{assert_sound, memory};

const PAIRS: TableDefinition<(&str, u32), Option<i64>> = TableDefinition::new("pairs");
const NUMBERS: TableDefinition<i32, &str> = TableDefinition::new("numbers");

#[test]
fn a_copy_by_stored_bytes_equals_the_original() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    {
        let mut pairs = txn.open_table(PAIRS).unwrap();
        let mut numbers = txn.open_table(NUMBERS).unwrap();
        for idx in 0..1500_u32 {
            let name = format!("name {}", idx % 7);
            let value = (idx % 3 > 0).then_some(i64::from(idx) - 700);
            pairs.insert((name.as_str(), idx), value).unwrap();
            numbers.insert(idx as i32 - 750, name.as_str()).unwrap();
        }
    }
    txn.commit().unwrap();
    let (copy, _) = memory(8192, 1 << 20);
    let read = db.begin_read().unwrap();
    let txn = copy.begin_write().unwrap();
    for handle in read.list_tables().unwrap() {
        let name = handle.name().to_owned();
        let from = read.open_untyped_table(handle).unwrap();
        let mut to = txn.open_untyped_table(&name, from.schema()).unwrap();
        for row in from
            .range_stored(Bound::Unbounded, Bound::Unbounded)
            .unwrap()
        {
            let (key, value) = row.unwrap();
            assert!(!to.insert_stored(&key, &value).unwrap());
            assert!(to.insert_stored(&key, &value).unwrap());
            let found = from.get_stored(&key).unwrap().unwrap();
            assert_eq!(found.as_ref(), value.as_ref());
        }
        assert_eq!(from.len().unwrap(), 1500);
    }
    txn.commit().unwrap();
    assert_sound(&copy);
    let copied = copy.begin_read().unwrap();
    let rows = |table: &ReadOnlyTable<(&'static str, u32), Option<i64>>| -> Vec<String> {
        let rows = table.iter().unwrap().map(Result::unwrap);
        rows.map(|(key, value)| format!("{:?} {:?}", key.value(), value.value()))
            .collect()
    };
    let original = read.open_table(PAIRS).unwrap();
    assert_eq!(rows(&copied.open_table(PAIRS).unwrap()), rows(&original));
    let numbers = copied.open_table(NUMBERS).unwrap();
    assert_eq!(numbers.first().unwrap().unwrap().0.value(), -750);
    assert_eq!(numbers.last().unwrap().unwrap().0.value(), 749);
    assert_eq!(numbers.range(-3..3).unwrap().count(), 6);
}

#[test]
fn bounds_are_stored_bytes_in_the_order_of_the_table() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    for key in [-5, -1, 0, 1, 5] {
        txn.open_table(NUMBERS).unwrap().insert(key, "x").unwrap();
    }
    txn.commit().unwrap();
    let read = db.begin_read().unwrap();
    let table = read.open_untyped_table(NUMBERS).unwrap();
    let keys: Vec<Vec<u8>> = table
        .range_stored(Bound::Unbounded, Bound::Unbounded)
        .unwrap()
        .map(|row| row.unwrap().0.to_vec())
        .collect();
    let range = table
        .range_stored(Bound::Excluded(&keys[1]), Bound::Included(&keys[3]))
        .unwrap();
    let found: Vec<Vec<u8>> = range.rev().map(|row| row.unwrap().0.to_vec()).collect();
    assert_eq!(found, [keys[3].clone(), keys[2].clone()]);
    let crossed = table.range_stored(Bound::Included(&keys[3]), Bound::Included(&keys[1]));
    assert_eq!(crossed.unwrap().count(), 0);
    assert!(table.get_stored(b"no key of this table").unwrap().is_none());
}

#[test]
fn only_encodings_of_the_types_are_stored() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    let schema = TableSchema::of::<i32, &str>();
    {
        let mut table = txn.open_untyped_table("numbers", &schema).unwrap();
        for (key, value) in [
            (&b"123"[..], &b"text"[..]),
            (b"", b"text"),
            (b"12345", b"text"),
            (b"1234", b"\xff"),
        ] {
            let error = table.insert_stored(key, value).unwrap_err();
            assert!(matches!(error, StorageError::Corrupted(_)), "{error}");
        }
        assert!(!table.insert_stored(b"1234", b"text").unwrap());
        assert!(!table.remove_stored(b"1235").unwrap());
        assert!(table.remove_stored(b"1234").unwrap());
        assert!(!table.insert_stored(b"1236", b"").unwrap());
    }
    assert_eq!(txn.open_table(NUMBERS).unwrap().len().unwrap(), 1);
    txn.commit().unwrap();
    assert_sound(&db);
}

#[test]
fn an_untyped_table_obeys_the_rules_of_typed_ones() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    drop(txn.open_table(NUMBERS).unwrap());
    let schema = TableSchema::of::<i32, &str>();
    let other = TableSchema::of::<u32, &str>();
    let error = txn.open_untyped_table("numbers", &other).unwrap_err();
    assert!(matches!(error, TableError::TableTypeMismatch { .. }));
    let table = txn.open_untyped_table("numbers", &schema).unwrap();
    let error = txn.open_table(NUMBERS).unwrap_err();
    assert!(matches!(error, TableError::TableAlreadyOpen(_, _)));
    drop(table);
    assert!(txn.open_untyped_table("", &schema).is_err());
    txn.commit().unwrap();
    let read = db.begin_read().unwrap();
    let missing = read.open_untyped_table(UntypedTableHandle::new("none"));
    assert!(matches!(missing, Err(TableError::TableDoesNotExist(_))));
}
