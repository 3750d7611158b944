//! Writing: one database, batch after batch.

use std::path::Path;

use bristlecone::{
    Database, ReadableDatabase, ReadableTableMetadata, TableDefinition, TableError, TableHandle,
    TableSchema, UntypedTable, WriteTransaction,
};

use super::builder;
use super::failed::{Place, missing_table};
use crate::failure::{Failure, Outcome};

/// A database that is open for writing; no other process has it open.
pub(crate) struct Writer {
    database: Database,
    place: Place,
}

impl Writer {
    /// Opens `path`, creating it if it is missing.
    ///
    /// # Errors
    /// [`Failure::Open`].
    pub(crate) fn create(path: &Path, cache: Option<usize>) -> Outcome<Self> {
        let place = Place::new(path);
        let database = builder(cache)
            .create(path)
            .map_err(|error| place.open_failed(error))?;
        Ok(Writer { database, place })
    }

    /// Opens `path`, which must be there.
    ///
    /// # Errors
    /// [`Failure::Open`].
    pub(crate) fn open(path: &Path, cache: Option<usize>) -> Outcome<Self> {
        let place = Place::new(path);
        let database = builder(cache)
            .open(path)
            .map_err(|error| place.open_failed(error))?;
        Ok(Writer { database, place })
    }

    /// Begins a batch of changes.
    pub(crate) fn begin(&self) -> Outcome<Batch> {
        let txn = self
            .database
            .begin_write()
            .map_err(|error| self.place.failed(error))?;
        Ok(Batch {
            txn,
            place: self.place.clone(),
        })
    }

    /// How many rows a table has.
    pub(crate) fn rows(&self, name: &str) -> Outcome<u64> {
        let snapshot = self
            .database
            .begin_read()
            .map_err(|error| self.place.failed(error))?;
        let handle: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new(name);
        let table = snapshot
            .open_untyped_table(handle)
            .map_err(|error| self.place.failed(error))?;
        table.len().map_err(|error| self.place.failed(error))
    }

    /// Closes the file and reports what only then goes wrong.
    pub(crate) fn close(self) -> Outcome {
        self.database
            .close()
            .map_err(|error| self.place.failed(error))
    }
}

/// Changes that are committed together.
pub(crate) struct Batch {
    txn: WriteTransaction,
    place: Place,
}

impl Batch {
    /// Demands that a table exists.
    ///
    /// # Errors
    /// [`Failure::NotFound`].
    pub(crate) fn require(&self, name: &str) -> Outcome {
        let mut tables = self
            .txn
            .list_tables()
            .map_err(|error| self.place.failed(error))?;
        if tables.any(|table| table.name() == name) {
            Ok(())
        } else {
            Err(missing_table(name, &self.place))
        }
    }

    /// Opens a table, creating it if it is missing.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it has other types.
    pub(crate) fn open(&self, name: &str, schema: &TableSchema) -> Outcome<WriteTable<'_>> {
        match self.txn.open_untyped_table(name, schema) {
            Ok(table) => Ok(WriteTable {
                table,
                place: self.place.clone(),
            }),
            Err(
                error @ (TableError::TableTypeMismatch { .. } | TableError::TableIsMultimap(_)),
            ) => Err(self.wrong_types(&error)),
            Err(error) => Err(self.place.failed(error)),
        }
    }

    /// Makes the changes durable.
    pub(crate) fn commit(self) -> Outcome {
        self.txn.commit().map_err(|error| self.place.failed(error))
    }

    /// Drops the changes.
    pub(crate) fn abort(self) -> Outcome {
        self.txn.abort().map_err(|error| self.place.failed(error))
    }

    #[cold]
    fn wrong_types(&self, error: &TableError) -> Failure {
        match error {
            TableError::TableTypeMismatch { table, key, value } => Failure::Usage(format!(
                "table {table} of {} holds <{}, {}>; it cannot be written as asked",
                self.place,
                key.name(),
                value.name()
            )),
            other => Failure::Usage(format!("{}: {other}", self.place)),
        }
    }
}

/// A table of a batch.
pub(crate) struct WriteTable<'a> {
    table: UntypedTable<'a>,
    place: Place,
}

impl WriteTable<'_> {
    /// Stores a record, in stored form.
    pub(crate) fn insert(&mut self, key: &[u8], value: &[u8]) -> Outcome {
        self.table
            .insert_stored(key, value)
            .map(|_| ())
            .map_err(|error| self.place.failed(error))
    }

    /// Removes a record; tells whether it was there.
    pub(crate) fn remove(&mut self, key: &[u8]) -> Outcome<bool> {
        self.table
            .remove_stored(key)
            .map_err(|error| self.place.failed(error))
    }
}
