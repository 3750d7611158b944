//! Gets of rows whose pages are cached: a database with two equal tables, and readers of a working set.
//!
//! Rows have the sizes of redb's benchmark, 24 bytes and 150, and follow from their number alone, so that a reader can
//! make any row again and compare what it reads with it.

use anyhow::{Result, ensure};
use bristlecone::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, TableDefinition};

use crate::backend::CountingBackend;
use crate::rows::Row;

const TABLES: [TableDefinition<&[u8], &[u8]>; 2] =
    [TableDefinition::new("x"), TableDefinition::new("y")];

/// Rows loaded by one transaction: its write buffer stays far below what would be spilled.
const BATCH: u64 = 250_000;

/// A database whose tables hold the same rows.
pub(crate) struct WarmDatabase {
    db: Database,
    rows: u64,
}

impl WarmDatabase {
    /// Loads `rows` rows into each table, in the order of their keys.
    pub(crate) fn load(rows: u64) -> Result<WarmDatabase> {
        let db = CountingBackend::new().create()?;
        for definition in TABLES {
            for first in (0..rows).step_by(BATCH as usize) {
                let txn = db.begin_write()?;
                let mut table = txn.open_table(definition)?;
                for number in first..(first + BATCH).min(rows) {
                    let row = row(number, rows);
                    table.insert(row.key.as_slice(), row.value.as_slice())?;
                }
                drop(table);
                txn.commit()?;
            }
        }
        Ok(WarmDatabase { db, rows })
    }

    /// A reader of `working_set` rows, spread evenly, from the first table or from both.
    pub(crate) fn reader(&self, working_set: u64, two_tables: bool) -> Result<Reader> {
        let txn = self.db.begin_read()?;
        let first = txn.open_table(TABLES[0])?;
        let second = txn.open_table(TABLES[usize::from(two_tables)])?;
        Ok(Reader {
            tables: [first, second],
            rows: self.rows,
            working_set: working_set.min(self.rows),
            _txn: txn,
        })
    }

    /// Pages read from the backend so far.
    pub(crate) fn pages_read(&self) -> u64 {
        self.db.cache_stats().read_misses()
    }
}

/// Reads rows of a working set in one read transaction.
pub(crate) struct Reader {
    tables: [ReadOnlyTable<&'static [u8], &'static [u8]>; 2],
    rows: u64,
    working_set: u64,
    _txn: ReadTransaction,
}

impl Reader {
    /// Reads the whole working set, from each table; every row twice, because a page that was read once may be the first
    /// one to make room for the next.
    pub(crate) fn warm_up(&self) -> Result<()> {
        for member in 0..self.working_set {
            for table in [0, 0, 1, 1] {
                self.get(table, member)?;
            }
        }
        Ok(())
    }

    /// Reads `gets` random rows of the working set, from either table in turn.
    pub(crate) fn read(&self, gets: u64, seed: u64) -> Result<()> {
        let mut random = fastrand::Rng::with_seed(seed);
        for get in 0..gets {
            self.get((get % 2) as usize, random.u64(..self.working_set))?;
        }
        Ok(())
    }

    fn get(&self, table: usize, member: u64) -> Result<()> {
        let row = row(member * (self.rows / self.working_set), self.rows);
        let found = self.tables[table].get(row.key.as_slice())?;
        ensure!(
            found.is_some_and(|value| value.value() == row.value),
            "a row that was put is missing or has another value"
        );
        Ok(())
    }
}

/// Row `number` of `rows`: the keys ascend with it, at random distances.
fn row(number: u64, rows: u64) -> Row {
    let mut random = fastrand::Rng::with_seed(number);
    let mut row = Row {
        key: [0; _],
        value: [0; _],
    };
    let step = u64::MAX / rows;
    let place = number * step + random.u64(..step);
    let (head, tail) = row.key.split_at_mut(8);
    head.copy_from_slice(&place.to_be_bytes());
    random.fill(tail);
    random.fill(&mut row.value);
    row
}
