//! Reading: one snapshot of a file that is opened read-only.

use std::ops::Bound;
use std::path::Path;

use bristlecone::{
    ReadOnlyDatabase, ReadOnlyUntypedTable, ReadTransaction, ReadableDatabase,
    ReadableTableMetadata, StoredBytes, TableDefinition, TableError, TableHandle, TableSchema,
    UntypedRange,
};

use super::builder;
use super::failed::{Place, missing_table};
use crate::failure::Outcome;

/// A snapshot of a database.
pub(crate) struct Reader {
    snapshot: ReadTransaction,
    place: Place,
    // The snapshot reads through it.
    _database: ReadOnlyDatabase,
}

/// What a whole file takes.
pub(crate) struct FileStats {
    pub(crate) file_bytes: u64,
    pub(crate) page_bytes: u64,
    /// Units of 4 KiB in use.
    pub(crate) allocated_pages: u64,
    /// Units of 4 KiB in the file.
    pub(crate) file_pages: u64,
    /// Units of 4 KiB that only older versions hold.
    pub(crate) pinned_pages: u64,
    pub(crate) tree: TreeStats,
}

/// What a tree of pages takes.
pub(crate) struct TreeStats {
    pub(crate) height: u32,
    pub(crate) leaf_pages: u64,
    pub(crate) branch_pages: u64,
    pub(crate) stored_bytes: u64,
    pub(crate) metadata_bytes: u64,
    pub(crate) fragmented_bytes: u64,
}

impl Reader {
    /// Opens `path` without creating or changing anything.
    ///
    /// # Errors
    /// [`Failure::Open`](crate::failure::Failure::Open).
    pub(crate) fn open(path: &Path, cache: Option<usize>) -> Outcome<Self> {
        let place = Place::new(path);
        let database = builder(cache)
            .open_read_only(path)
            .map_err(|error| place.open_failed(error))?;
        let snapshot = database.begin_read().map_err(|error| place.failed(error))?;
        Ok(Reader {
            snapshot,
            place,
            _database: database,
        })
    }

    /// Names of the tables, in order.
    pub(crate) fn table_names(&self) -> Outcome<Vec<String>> {
        let tables = self
            .snapshot
            .list_tables()
            .map_err(|error| self.place.failed(error))?;
        Ok(tables.map(|table| table.name().to_owned()).collect())
    }

    /// A table of any types.
    ///
    /// # Errors
    /// [`Failure::NotFound`](crate::failure::Failure::NotFound) if there is none of this name.
    pub(crate) fn table(&self, name: &str) -> Outcome<ReadTable> {
        let handle: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new(name);
        match self.snapshot.open_untyped_table(handle) {
            Ok(table) => Ok(ReadTable {
                table,
                place: self.place.clone(),
            }),
            Err(TableError::TableDoesNotExist(_)) => Err(missing_table(name, &self.place)),
            Err(error) => Err(self.place.failed(error)),
        }
    }

    /// What the file takes.
    pub(crate) fn stats(&self) -> Outcome<FileStats> {
        let stats = self
            .snapshot
            .stats()
            .map_err(|error| self.place.failed(error))?;
        Ok(FileStats {
            file_bytes: self.place.file_bytes()?,
            page_bytes: u64::try_from(stats.page_size()).unwrap_or(u64::MAX),
            allocated_pages: stats.allocated_pages(),
            file_pages: stats.file_pages(),
            pinned_pages: stats.pinned_pages(),
            tree: TreeStats {
                height: stats.tree_height(),
                leaf_pages: stats.leaf_pages(),
                branch_pages: stats.branch_pages(),
                stored_bytes: stats.stored_bytes(),
                metadata_bytes: stats.metadata_bytes(),
                fragmented_bytes: stats.fragmented_bytes(),
            },
        })
    }
}

/// A table of a snapshot.
pub(crate) struct ReadTable {
    table: ReadOnlyUntypedTable,
    place: Place,
}

impl ReadTable {
    /// Its types.
    pub(crate) fn schema(&self) -> &TableSchema {
        self.table.schema()
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> Outcome<u64> {
        self.table.len().map_err(|error| self.place.failed(error))
    }

    /// What it takes.
    pub(crate) fn stats(&self) -> Outcome<TreeStats> {
        let stats = self
            .table
            .stats()
            .map_err(|error| self.place.failed(error))?;
        Ok(TreeStats {
            height: stats.tree_height(),
            leaf_pages: stats.leaf_pages(),
            branch_pages: stats.branch_pages(),
            stored_bytes: stats.stored_bytes(),
            metadata_bytes: stats.metadata_bytes(),
            fragmented_bytes: stats.fragmented_bytes(),
        })
    }

    /// The value of a key, both in stored form.
    pub(crate) fn get(&self, key: &[u8]) -> Outcome<Option<StoredBytes>> {
        self.table
            .get_stored(key)
            .map_err(|error| self.place.failed(error))
    }

    /// The rows between two keys in stored form.
    pub(crate) fn range(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Outcome<Rows> {
        let range = self
            .table
            .range_stored(lower, upper)
            .map_err(|error| self.place.failed(error))?;
        Ok(Rows {
            range,
            place: self.place.clone(),
        })
    }
}

/// Rows in key order, from either end.
pub(crate) struct Rows {
    range: UntypedRange,
    place: Place,
}

impl Rows {
    /// The next row from the front, or from the back if `reverse`.
    pub(crate) fn next(&mut self, reverse: bool) -> Outcome<Option<(StoredBytes, StoredBytes)>> {
        let row = if reverse {
            self.range.next_back()
        } else {
            self.range.next()
        };
        row.transpose().map_err(|error| self.place.failed(error))
    }
}
