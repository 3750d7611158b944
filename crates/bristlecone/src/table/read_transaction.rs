//! Read transactions.

use std::sync::Arc;

use super::stats::{DatabaseStats, database_stats};
use super::{
    ReadOnlyTable, ReadOnlyUntypedTable, TableDefinition, TableHandle, UntypedTableHandle,
};
use crate::error::{Result, TableError, TransactionError};
use crate::page::order::KeyCompare;
use crate::txn::catalog::NameEntry;
use crate::txn::schema_check::{check_kind, check_schema, untyped_compare};
use crate::txn::snapshot::{Snapshot, TableView};
use crate::types::{Key, KeyOrder, TableSchema, Value};

/// A snapshot of the database: what was committed when it began, for as long as it lives.
///
/// It keeps the space of its version from being reused; drop it when done.
#[derive(Debug)]
pub struct ReadTransaction {
    snapshot: Snapshot,
    in_use: Arc<()>,
}

/// Order of a typed table's keys.
pub(super) fn typed_compare<K: Key>() -> KeyCompare {
    match K::order() {
        KeyOrder::Memcmp => KeyCompare::Memcmp,
        // Known orders, too, by the type's own function: it is the engine's, and needs no shape to be walked.
        _ => KeyCompare::Function(K::compare),
    }
}

impl ReadTransaction {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            in_use: Arc::new(()),
        }
    }

    fn find(&self, name: &str) -> Result<NameEntry, TableError> {
        match self.snapshot.find(name).map_err(TableError::Storage)? {
            Some(entry) => Ok(entry),
            None => Err(TableError::TableDoesNotExist(name.to_owned())),
        }
    }

    fn view(&self, entry: &NameEntry, compare: KeyCompare) -> Result<TableView, TableError> {
        let root = self
            .snapshot
            .root_of(entry.id)
            .map_err(TableError::Storage)?;
        Ok(TableView::new(self.snapshot.clone(), root, compare))
    }

    /// Opens a table.
    ///
    /// # Errors
    /// `TableDoesNotExist`, or a mismatch of types that names those the table was made with.
    pub fn open_table<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<K, V>,
    ) -> Result<ReadOnlyTable<K, V>, TableError> {
        let entry = self.find(definition.name())?;
        check_schema(definition.name(), &TableSchema::of::<K, V>(), &entry.schema)?;
        let view = self.view(&entry, typed_compare::<K>())?;
        Ok(ReadOnlyTable::new(definition.name(), view, &self.in_use))
    }

    /// Opens a table by name alone; rows are read as stored bytes, and the schema says what they are.
    ///
    /// # Errors
    /// `TableDoesNotExist`, or `TableIsMultimap`.
    pub fn open_untyped_table(
        &self,
        handle: impl TableHandle,
    ) -> Result<ReadOnlyUntypedTable, TableError> {
        let entry = self.find(handle.name())?;
        check_kind(handle.name(), &entry.schema, false)?;
        let compare = untyped_compare(&entry.schema);
        let view = self.view(&entry, compare.clone().unwrap_or(KeyCompare::Memcmp))?;
        let name = handle.name().to_owned();
        Ok(ReadOnlyUntypedTable::new(
            name,
            view,
            entry.schema,
            compare.is_some(),
            &self.in_use,
        ))
    }

    /// The tables, in the order of their names.
    pub fn list_tables(&self) -> Result<impl Iterator<Item = UntypedTableHandle> + '_> {
        let tables = self.snapshot.list()?;
        let plain = tables
            .into_iter()
            .filter(|(_, entry)| !entry.schema.is_multimap());
        Ok(plain.map(|(name, _)| UntypedTableHandle::new(name)))
    }

    /// Sizes of the database as this snapshot has it. Reads every page.
    pub fn stats(&self) -> Result<DatabaseStats> {
        database_stats(&self.snapshot)
    }

    /// Ends the transaction.
    ///
    /// # Errors
    /// `ReadTransactionStillInUse` gives the transaction back if a table opened by it is still alive.
    pub fn close(self) -> Result<(), TransactionError> {
        if Arc::strong_count(&self.in_use) > 1 {
            return Err(TransactionError::ReadTransactionStillInUse(Box::new(self)));
        }
        Ok(())
    }
}
