//! Tables read and written as stored bytes: for tools that have a schema but not the program's types.

use std::fmt;
use std::ops::{Bound, Deref};
use std::sync::Arc;

use super::stats::table_stats;
use super::{ReadableTableMetadata, TableHandle, TableStats, WriteTransaction};
use crate::error::{Corruption, Result, StorageError};
use crate::txn::merged::{KeyAndValue, Merged};
use crate::txn::snapshot::{Snapshot, TableView};
use crate::txn::table_state::TableState;
use crate::txn::value_bytes::ValueBytes;
use crate::types::TableSchema;

/// Bytes as stored: a key in stored form, or a value.
#[derive(Clone)]
pub struct StoredBytes(ValueBytes);

impl AsRef<[u8]> for StoredBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl Deref for StoredBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl fmt::Debug for StoredBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredBytes({} bytes)", self.len())
    }
}

/// A table of a snapshot, read as stored bytes.
#[derive(Debug)]
pub struct ReadOnlyUntypedTable {
    name: String,
    view: TableView,
    schema: TableSchema,
    /// Whether keys can be compared without the program's types.
    ordered: bool,
    _in_use: Arc<()>,
}

impl ReadOnlyUntypedTable {
    pub(super) fn new(
        name: String,
        view: TableView,
        schema: TableSchema,
        ordered: bool,
        in_use: &Arc<()>,
    ) -> Self {
        Self {
            name,
            view,
            schema,
            ordered,
            _in_use: Arc::clone(in_use),
        }
    }

    /// The table's types.
    pub fn schema(&self) -> &TableSchema {
        &self.schema
    }

    /// The value of a stored key.
    ///
    /// # Errors
    /// `Unsupported` for a table that only its program can order.
    pub fn get_stored(&self, key: &[u8]) -> Result<Option<StoredBytes>> {
        if !self.ordered {
            return Err(StorageError::Unsupported);
        }
        Ok(self.view.get(key)?.map(StoredBytes))
    }

    /// The rows between two stored keys, in order.
    ///
    /// # Errors
    /// `Unsupported` for bounds in a table that only its program can order.
    pub fn range_stored(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<UntypedRange> {
        let bounded = !matches!((lower, upper), (Bound::Unbounded, Bound::Unbounded));
        if bounded && !self.ordered {
            return Err(StorageError::Unsupported);
        }
        let rows = self
            .view
            .range((lower.map(<[u8]>::to_vec), upper.map(<[u8]>::to_vec)));
        Ok(UntypedRange {
            rows,
            end: if self.ordered {
                End::Either
            } else {
                End::Undecided
            },
            _pin: self.view.snapshot().clone(),
        })
    }
}

impl TableHandle for ReadOnlyUntypedTable {
    fn name(&self) -> &str {
        &self.name
    }
}

impl ReadableTableMetadata for ReadOnlyUntypedTable {
    fn stats(&self) -> Result<TableStats> {
        table_stats(self.view.snapshot().pager(), self.view.root().as_ref())
    }

    fn len(&self) -> Result<u64> {
        self.view.snapshot().pager().disk().check_open()?;
        Ok(self.view.len())
    }
}

/// Rows as stored bytes, in key order, from either end. After an error every further step is an error.
///
/// The rows of a table that only its program can order come from one end alone: where two ends meet, keys would have to
/// be compared. Asking for both is `Unsupported`.
#[derive(Clone, Debug)]
pub struct UntypedRange {
    rows: Merged<'static>,
    end: End,
    _pin: Snapshot,
}

fn pair(row: Result<Option<KeyAndValue>>) -> Option<Result<(StoredBytes, StoredBytes)>> {
    let row = row.transpose()?;
    Some(row.map(|(key, value)| (StoredBytes(ValueBytes::Owned(key)), StoredBytes(value))))
}

/// Which ends of a range may be asked for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Both, in any order.
    Either,
    /// The one that is asked first.
    Undecided,
    /// The front.
    Front,
    /// The back.
    Back,
}

impl UntypedRange {
    /// Takes `end` for the only one of an unordered table; false if it was the other.
    fn may_step(&mut self, end: End) -> bool {
        if self.end == End::Undecided {
            self.end = end;
        }
        self.end == End::Either || self.end == end
    }
}

impl Iterator for UntypedRange {
    type Item = Result<(StoredBytes, StoredBytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.may_step(End::Front) {
            return Some(Err(StorageError::Unsupported));
        }
        pair(self.rows.next())
    }
}

impl DoubleEndedIterator for UntypedRange {
    fn next_back(&mut self) -> Option<Self::Item> {
        if !self.may_step(End::Back) {
            return Some(Err(StorageError::Unsupported));
        }
        pair(self.rows.next_back())
    }
}

/// A table of a write transaction, written as stored bytes.
pub struct UntypedTable<'txn> {
    txn: &'txn WriteTransaction,
    name: String,
    state: Option<Box<TableState>>,
}

impl<'txn> UntypedTable<'txn> {
    pub(super) fn new(txn: &'txn WriteTransaction, name: &str, state: Box<TableState>) -> Self {
        Self {
            txn,
            name: name.to_owned(),
            state: Some(state),
        }
    }

    fn state(&mut self) -> &mut TableState {
        self.state.as_deref_mut().expect("held until drop")
    }

    /// Sets the value of a stored key; returns whether the key existed.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are no encoding of the table's types; `ValueTooLarge` beyond the limits.
    pub fn insert_stored(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let schema = &self.state().schema;
        let encoded = schema.key().shape.from_stored(schema.order(), key);
        if !schema.key().shape.validate(&encoded) || !schema.value().shape.validate(value) {
            return Err(Corruption::new("row is no encoding of its table's types").into());
        }
        let txn = self.txn;
        Ok(txn.inner().put(self.state(), key, value)?.is_some())
    }

    /// Deletes a stored key; returns whether it existed.
    pub fn remove_stored(&mut self, key: &[u8]) -> Result<bool> {
        let txn = self.txn;
        Ok(txn.inner().remove(self.state(), key)?.is_some())
    }
}

impl Drop for UntypedTable<'_> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            self.txn.inner().close_table(&self.name, state);
        }
    }
}

impl fmt::Debug for UntypedTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UntypedTable")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
