//! The database in terms of the model: typed tables behind one set of calls with [`Key`] and bytes.

use std::ops::Bound;

use bristlecone::{
    AccessGuard, Database, Error, ReadTransaction, ReadableTable, ReadableTableMetadata,
    TableDefinition, TableError, TableHandle, Value, WriteTransaction,
};

use crate::content::{Key, Recipe, TableId};
use crate::model::Rows;

use crate::backend::SimBackend;

/// Memory for the engine; small, so that it evicts and spills.
pub(crate) const CACHE_BYTES: usize = 64 * 1024;
/// The smallest page, so that trees grow tall.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Opens or creates the database on `backend`.
pub(crate) fn open(backend: SimBackend) -> Result<Database, Error> {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder.set_page_size(PAGE_BYTES);
    Ok(builder.create_with_backend(backend)?)
}

/// The types of a table and the way between them and the model.
trait Kind {
    type K: bristlecone::Key + 'static;
    type V: Value + 'static;

    fn key(key: &Key) -> Option<<Self::K as Value>::SelfType<'_>>;
    fn own_key(key: <Self::K as Value>::SelfType<'_>) -> Key;
    fn value(bytes: &[u8]) -> <Self::V as Value>::SelfType<'_>;
    fn own_value(value: <Self::V as Value>::SelfType<'_>) -> Vec<u8>;
}

struct BytesKind;
struct NumbersKind;
struct PairsKind;

impl Kind for BytesKind {
    type K = &'static [u8];
    type V = &'static [u8];

    fn key(key: &Key) -> Option<&[u8]> {
        match key {
            Key::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn own_key(key: &[u8]) -> Key {
        Key::Bytes(key.to_vec())
    }

    fn value(bytes: &[u8]) -> &[u8] {
        bytes
    }

    fn own_value(value: &[u8]) -> Vec<u8> {
        value.to_vec()
    }
}

impl Kind for NumbersKind {
    type K = u64;
    type V = &'static [u8];

    fn key(key: &Key) -> Option<u64> {
        match key {
            Key::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn own_key(key: u64) -> Key {
        Key::Number(key)
    }

    fn value(bytes: &[u8]) -> &[u8] {
        bytes
    }

    fn own_value(value: &[u8]) -> Vec<u8> {
        value.to_vec()
    }
}

impl Kind for PairsKind {
    type K = (&'static str, u32);
    type V = &'static str;

    fn key(key: &Key) -> Option<(&str, u32)> {
        match key {
            Key::Pair(name, number) => Some((name, *number)),
            _ => None,
        }
    }

    fn own_key((name, number): (&str, u32)) -> Key {
        Key::Pair(name.to_owned(), number)
    }

    fn value(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    fn own_value(value: &str) -> Vec<u8> {
        value.as_bytes().to_vec()
    }
}

/// Calls a generic function with the kind of `table`.
macro_rules! for_table {
    ($table:expr, $function:ident($($argument:expr),*)) => {
        match $table {
            TableId::Bytes | TableId::Spare => $function::<BytesKind>($($argument),*),
            TableId::Numbers => $function::<NumbersKind>($($argument),*),
            TableId::Pairs => $function::<PairsKind>($($argument),*),
        }
    };
}

fn definition<T: Kind>(table: TableId) -> TableDefinition<'static, T::K, T::V> {
    TableDefinition::new(table.name())
}

fn owned<T: Kind>(guard: Option<AccessGuard<'_, T::V>>) -> Option<Vec<u8>> {
    guard.map(|guard| T::own_value(guard.value()))
}

/// Inserts rows one after the other through one table handle; returns the old values.
pub(crate) fn insert(
    txn: &WriteTransaction,
    table: TableId,
    rows: &[(Key, Recipe)],
) -> Result<Vec<Option<Vec<u8>>>, Error> {
    for_table!(table, insert_rows(txn, table, rows))
}

fn insert_rows<T: Kind>(
    txn: &WriteTransaction,
    table: TableId,
    rows: &[(Key, Recipe)],
) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let mut handle = txn.open_table(definition::<T>(table))?;
    let mut old = Vec::with_capacity(rows.len());
    for (key, recipe) in rows {
        let bytes = recipe.bytes(table);
        if let Some(key) = T::key(key) {
            old.push(owned::<T>(handle.insert(key, T::value(&bytes))?));
        }
    }
    Ok(old)
}

/// Removes keys one after the other through one table handle; returns the old values.
pub(crate) fn remove(
    txn: &WriteTransaction,
    table: TableId,
    keys: &[Key],
) -> Result<Vec<Option<Vec<u8>>>, Error> {
    for_table!(table, remove_rows(txn, table, keys))
}

fn remove_rows<T: Kind>(
    txn: &WriteTransaction,
    table: TableId,
    keys: &[Key],
) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let mut handle = txn.open_table(definition::<T>(table))?;
    let mut old = Vec::with_capacity(keys.len());
    for key in keys.iter().filter_map(T::key) {
        old.push(owned::<T>(handle.remove(key)?));
    }
    Ok(old)
}

/// Drops a table; returns whether it existed.
pub(crate) fn drop_table(txn: &WriteTransaction, table: TableId) -> Result<bool, Error> {
    for_table!(table, drop_one(txn, table))
}

fn drop_one<T: Kind>(txn: &WriteTransaction, table: TableId) -> Result<bool, Error> {
    Ok(txn.delete_table(definition::<T>(table))?)
}

/// What to read of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Query<'a> {
    /// One key.
    Key(&'a Key),
    /// So many rows between two keys, from either end.
    Range {
        from: &'a Key,
        to: &'a Key,
        count: usize,
        is_reverse: bool,
    },
}

/// Rows as the database gave them.
pub(crate) type Found = Vec<(Key, Vec<u8>)>;

/// Reads in the view of a write transaction; opening the table creates it.
pub(crate) fn query_in_write(
    txn: &WriteTransaction,
    table: TableId,
    query: Query<'_>,
) -> Result<Found, Error> {
    for_table!(table, query_write(txn, table, query))
}

fn query_write<T: Kind>(
    txn: &WriteTransaction,
    table: TableId,
    query: Query<'_>,
) -> Result<Found, Error> {
    query_table::<T, _>(&txn.open_table(definition::<T>(table))?, query)
}

/// Reads in a snapshot; `None` if the table does not exist.
pub(crate) fn query_in_read(
    txn: &ReadTransaction,
    table: TableId,
    query: Query<'_>,
) -> Result<Option<Found>, Error> {
    for_table!(table, query_read(txn, table, query))
}

fn query_read<T: Kind>(
    txn: &ReadTransaction,
    table: TableId,
    query: Query<'_>,
) -> Result<Option<Found>, Error> {
    match txn.open_table(definition::<T>(table)) {
        Ok(handle) => query_table::<T, _>(&handle, query).map(Some),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn query_table<T: Kind, H: ReadableTable<T::K, T::V>>(
    handle: &H,
    query: Query<'_>,
) -> Result<Found, Error> {
    match query {
        Query::Key(key) => {
            let found = match T::key(key) {
                Some(borrowed) => owned::<T>(handle.get(borrowed)?),
                None => None,
            };
            Ok(found
                .map(|value| (key.clone(), value))
                .into_iter()
                .collect())
        }
        Query::Range {
            from,
            to,
            count,
            is_reverse,
        } => {
            let lower = T::key(from).map_or(Bound::Unbounded, Bound::Included);
            let upper = T::key(to).map_or(Bound::Unbounded, Bound::Excluded);
            let mut range = handle.range((lower, upper))?;
            let mut found = Vec::new();
            while found.len() < count {
                let next = if is_reverse {
                    range.next_back()
                } else {
                    range.next()
                };
                let Some((key, value)) = next.transpose()? else {
                    break;
                };
                found.push((T::own_key(key.value()), T::own_value(value.value())));
            }
            Ok(found)
        }
    }
}

/// Compares all of a table with the model, in both directions; returns what differs.
pub(crate) fn difference(
    txn: &ReadTransaction,
    table: TableId,
    rows: Option<&Rows>,
) -> Result<Option<String>, Error> {
    for_table!(table, table_difference(txn, table, rows))
}

fn table_difference<T: Kind>(
    txn: &ReadTransaction,
    table: TableId,
    rows: Option<&Rows>,
) -> Result<Option<String>, Error> {
    let handle = match txn.open_table(definition::<T>(table)) {
        Ok(handle) => handle,
        Err(TableError::TableDoesNotExist(_)) => {
            return Ok(rows.map(|_| "the table is missing".to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    let Some(rows) = rows else {
        return Ok(Some("the table should not exist".to_owned()));
    };
    let (len, wanted) = (handle.len()?, rows.len());
    if usize::try_from(len).ok() != Some(wanted) {
        return Ok(Some(format!("len() is {len}, the model has {wanted} rows")));
    }
    let mut wanted = rows.iter();
    for entry in handle.iter()? {
        let (key, value) = entry?;
        let key = T::own_key(key.value());
        if let Some(difference) =
            row_difference(table, wanted.next(), &key, &T::own_value(value.value()))
        {
            return Ok(Some(difference));
        }
    }
    if let Some((key, _)) = wanted.next() {
        return Ok(Some(format!("the iteration ends before {key:?}")));
    }
    let mut wanted = rows.keys().rev();
    for entry in handle.iter()?.rev() {
        let (key, _) = entry?;
        let key = T::own_key(key.value());
        if wanted.next() != Some(&key) {
            return Ok(Some(format!(
                "the reverse iteration has {key:?} at the wrong place"
            )));
        }
    }
    Ok(wanted
        .next()
        .map(|key| format!("the reverse iteration ends before {key:?}")))
}

fn row_difference(
    table: TableId,
    wanted: Option<(&Key, &Recipe)>,
    key: &Key,
    value: &[u8],
) -> Option<String> {
    let Some((wanted_key, recipe)) = wanted else {
        return Some(format!("{key:?} comes after the last key of the model"));
    };
    if wanted_key != key {
        return Some(format!("{key:?} comes where the model has {wanted_key:?}"));
    }
    if recipe.bytes(table) != value {
        let (len, found) = (recipe.len, value.len());
        return Some(format!(
            "the value of {key:?} differs: {found} bytes, the model has {len}"
        ));
    }
    None
}

/// The names of all tables, sorted.
pub(crate) fn table_names(txn: &ReadTransaction) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = txn
        .list_tables()?
        .map(|handle| handle.name().to_owned())
        .collect();
    names.sort_unstable();
    Ok(names)
}
