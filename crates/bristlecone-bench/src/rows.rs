//! Rows of 24-byte keys and 150-byte values, the sizes of redb's benchmark: the same stream on every run.

use anyhow::{Result, ensure};
use bristlecone::{Database, ReadableDatabase, ReadableTableMetadata, TableDefinition};

/// The table that the rows go to.
pub(crate) const TABLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("x");
/// Bytes of a key and its value together.
pub(crate) const ROW_BYTES: u64 = KEY_BYTES as u64 + VALUE_BYTES as u64;

const KEY_BYTES: usize = 24;
const VALUE_BYTES: usize = 150;
/// Seed of the stream.
const SEED: u64 = 3;

/// A key and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) key: [u8; KEY_BYTES],
    pub(crate) value: [u8; VALUE_BYTES],
}

/// The endless stream of random rows; clones go on alike.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    random: fastrand::Rng,
}

impl Rows {
    /// The stream from its beginning.
    pub(crate) fn new() -> Rows {
        Rows {
            random: fastrand::Rng::with_seed(SEED),
        }
    }
}

impl Iterator for Rows {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let mut row = Row {
            key: [0; KEY_BYTES],
            value: [0; VALUE_BYTES],
        };
        self.random.fill(&mut row.key);
        self.random.fill(&mut row.value);
        Some(row)
    }
}

/// Inserts `rows` in one transaction.
pub(crate) fn insert(db: &Database, rows: impl Iterator<Item = Row>) -> Result<()> {
    let txn = db.begin_write()?;
    let mut table = txn.open_table(TABLE)?;
    for row in rows {
        table.insert(row.key.as_slice(), row.value.as_slice())?;
    }
    drop(table);
    txn.commit()?;
    Ok(())
}

/// Demands that the table holds `len` rows, and each of `rows` with its value.
pub(crate) fn verify(db: &Database, len: u64, rows: impl Iterator<Item = Row>) -> Result<()> {
    let table = db.begin_read()?.open_table(TABLE)?;
    let found = table.len()?;
    ensure!(found == len, "the table has {found} rows instead of {len}");
    for row in rows {
        let found = table.get(row.key.as_slice())?;
        ensure!(
            found.is_some_and(|value| value.value() == row.value),
            "a row that was put is missing or has another value"
        );
    }
    Ok(())
}
