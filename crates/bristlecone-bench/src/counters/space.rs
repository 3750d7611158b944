//! What it costs to find and free space: operations on the allocator's state for each page that a session frees or
//! draws.
//!
//! An operation is one read or write of a word of a bitmap, a search hint, an entry of a list or of the space map's
//! levels, or one probe of a table, counted where it happens.
//!
//! A page here is a value of zeros in a unit of its own, so that ten million fit the memory. For `P` of them, in a
//! database of 4 KiB pages: a table of a million and a twentieth is put first and deleted behind a table of `P`, and
//! two small commits later its pages are the free set. One session then deletes the table of `P` and puts a million
//! values into a new one, commit included: the figure is its operations over `P` + 1,000,000. The leaves and branches
//! that hold the references, one for some eighty values, are drawn and freed beside them and are not in the divisor,
//! nor are those of the runs that the session spills. That the million came from the free set is proved by the file,
//! which must not have grown.

use anyhow::{Result, ensure};
use bristlecone::{Builder, Database, ReadableDatabase, ReadableTableMetadata, TableDefinition};

use super::figures::Figures;
use super::{Group, Selection};
use crate::backend::{BUDGET_BYTES, CountingBackend};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

/// Pages freed in the session, by the figure's name.
const FREED: [(&str, u64); 4] = [
    ("space.operations_per_page.1e4", 10_000),
    ("space.operations_per_page.1e5", 100_000),
    ("space.operations_per_page.1e6", 1_000_000),
    ("space.operations_per_page.1e7", 10_000_000),
];
/// Pages drawn in the session.
const DRAWN: u64 = 1_000_000;

/// A value of zeros, two of which do not fit a page of 4 KiB.
const VALUE: &[u8] = &[0; 2_500];
/// Values put in one transaction of the preparation: few enough to stay in the write buffer.
const BATCH: u64 = 50_000;

type Pages<'n> = TableDefinition<'n, u64, &'static [u8]>;

const SPARE: Pages = TableDefinition::new("spare");
const OLD: Pages = TableDefinition::new("old");
const NEW: Pages = TableDefinition::new("new");
const TICK: Pages = TableDefinition::new("tick");

fn names() -> Vec<String> {
    FREED.iter().map(|(name, _)| (*name).to_owned()).collect()
}

fn compute(selection: &Selection) -> Result<Figures> {
    let mut figures = Figures::default();
    for (name, freed) in FREED {
        if selection.has(name) {
            let operations = operations(freed, DRAWN)?;
            figures.set(name, operations as f64 / (freed + DRAWN) as f64);
        }
    }
    Ok(figures)
}

/// Operations of a session that frees `freed` pages and draws `drawn`.
fn operations(freed: u64, drawn: u64) -> Result<u64> {
    let backend = CountingBackend::new();
    let mut settings = Builder::new();
    settings.set_cache_size(BUDGET_BYTES).set_page_size(4096);
    let db = backend.create_with(&settings)?;
    fill(&db, SPARE, drawn + drawn.div_ceil(20))?;
    fill(&db, OLD, freed)?;
    let txn = db.begin_write()?;
    ensure!(txn.delete_table(SPARE)?, "the spare table was never made");
    txn.commit()?;
    // The header slots name the versions before for as long.
    put(&db, TICK, 0..1)?;
    put(&db, TICK, 1..2)?;
    let file_bytes = backend.file_bytes();
    bristlecone::take_probe_counts();
    let txn = db.begin_write()?;
    ensure!(txn.delete_table(OLD)?, "the old table was never made");
    let mut table = txn.open_table(NEW)?;
    for key in 0..drawn {
        table.insert(key, VALUE)?;
    }
    drop(table);
    txn.commit()?;
    let counted = bristlecone::take_probe_counts().space_operations;
    ensure!(
        backend.file_bytes() <= file_bytes,
        "the free set did not suffice"
    );
    verify(&db, drawn)?;
    Ok(counted)
}

/// Puts values into a table, a batch to a transaction.
fn fill(db: &Database, table: Pages<'_>, values: u64) -> Result<()> {
    let mut from = 0;
    while from < values {
        let to = (from + BATCH).min(values);
        put(db, table, from..to)?;
        from = to;
    }
    Ok(())
}

fn put(db: &Database, table: Pages<'_>, keys: std::ops::Range<u64>) -> Result<()> {
    let txn = db.begin_write()?;
    let mut table = txn.open_table(table)?;
    for key in keys {
        table.insert(key, VALUE)?;
    }
    drop(table);
    txn.commit()?;
    Ok(())
}

/// Demands that the new table holds its values and the others are gone.
fn verify(db: &Database, drawn: u64) -> Result<()> {
    let txn = db.begin_read()?;
    let table = txn.open_table(NEW)?;
    ensure!(table.len()? == drawn, "the new table lacks values");
    for key in (0..drawn).step_by(997) {
        let found = table.get(key)?;
        ensure!(
            found.is_some_and(|value| value.value() == VALUE),
            "a value is missing or another one"
        );
    }
    ensure!(
        txn.open_table(OLD).is_err() && txn.open_table(SPARE).is_err(),
        "a deleted table is there"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_pages_take_more_operations_and_the_same_ones_each_time() {
        let few = operations(200, 1_000).unwrap();
        assert!(few > 1_200);
        assert!(operations(2_000, 1_000).unwrap() > few + 1_800);
        assert_eq!(operations(200, 1_000).unwrap(), few);
    }
}
