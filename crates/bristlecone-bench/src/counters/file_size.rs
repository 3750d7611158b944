//! How large the file is beside the live data: its length over the bytes of the live keys and values.
//!
//! Redb's sequence at one million random rows: all put in one transaction, then the first half of the stream removed in
//! one. The database stays open, as it does there. `after_compaction` is null: there is no compaction.

use anyhow::{Result, ensure};
use bristlecone::Database;

use super::figures::Figures;
use super::{Group, Selection};
use crate::backend::CountingBackend;
use crate::rows::{self, ROW_BYTES, Row, Rows, TABLE};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

const AFTER_BULK_LOAD: &str = "file_over_live.after_bulk_load";
const AFTER_REMOVALS: &str = "file_over_live.after_removals";
const AFTER_COMPACTION: &str = "file_over_live.after_compaction";
const ROWS: usize = 1_000_000;

fn names() -> Vec<String> {
    [AFTER_BULK_LOAD, AFTER_REMOVALS, AFTER_COMPACTION]
        .map(str::to_owned)
        .to_vec()
}

fn compute(selection: &Selection) -> Result<Figures> {
    let mut figures = Figures::default();
    if selection.has(AFTER_BULK_LOAD) || selection.has(AFTER_REMOVALS) {
        let (loaded, removed) = file_over_live(ROWS)?;
        figures.set(AFTER_BULK_LOAD, loaded);
        figures.set(AFTER_REMOVALS, removed);
    }
    Ok(figures)
}

/// After the load, and after the removal of the first half.
fn file_over_live(rows: usize) -> Result<(f64, f64)> {
    let backend = CountingBackend::new();
    let db = backend.create()?;
    let ratio = |live: usize| backend.file_bytes() as f64 / (live as u64 * ROW_BYTES) as f64;
    rows::insert(&db, Rows::new().take(rows))?;
    rows::verify(&db, rows as u64, Rows::new().take(rows).step_by(97))?;
    let loaded = ratio(rows);
    let removed = rows / 2;
    remove(&db, Rows::new().take(removed))?;
    let left = rows - removed;
    let kept = Rows::new().take(rows).skip(removed).step_by(97);
    rows::verify(&db, left as u64, kept)?;
    Ok((loaded, ratio(left)))
}

fn remove(db: &Database, rows: impl Iterator<Item = Row>) -> Result<()> {
    let txn = db.begin_write()?;
    let mut table = txn.open_table(TABLE)?;
    for row in rows {
        let old = table.remove(row.key.as_slice())?;
        ensure!(
            old.is_some_and(|value| value.value() == row.value),
            "a row to remove is missing or has another value"
        );
    }
    drop(table);
    txn.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_the_live_rows_and_not_many_times_them() {
        let (loaded, removed) = file_over_live(20_000).unwrap();
        assert!((1.0..1.6).contains(&loaded), "{loaded}");
        assert!((loaded..8.0).contains(&removed), "{removed}");
    }
}
