//! What a bulk load costs: 5 million random rows in one transaction into an empty database.
//!
//! `page_writes_over_pages` is the leaves and branches written, those of spilled runs included, over the leaves and
//! branches of the database afterwards; 1 means that each page was written once. `log_bytes` is null: there is no log.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};
use crate::backend::CountingBackend;
use crate::rows::{self, Rows};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

const PAGE_WRITES: &str = "bulk_load.page_writes_over_pages";
const LOG_BYTES: &str = "bulk_load.log_bytes";
const ROWS: usize = 5_000_000;

fn names() -> Vec<String> {
    vec![PAGE_WRITES.to_owned(), LOG_BYTES.to_owned()]
}

fn compute(selection: &Selection) -> Result<Figures> {
    let mut figures = Figures::default();
    if selection.has(PAGE_WRITES) {
        figures.set(PAGE_WRITES, page_writes_over_pages(ROWS)?);
    }
    Ok(figures)
}

fn page_writes_over_pages(rows: usize) -> Result<f64> {
    let db = CountingBackend::new().create()?;
    rows::insert(&db, Rows::new().take(rows))?;
    let counters = db.engine_counters();
    let written = counters.leaf_pages_written + counters.branch_pages_written;
    let txn = db.begin_write()?;
    let stats = txn.stats()?;
    txn.abort()?;
    rows::verify(&db, rows as u64, Rows::new().take(rows).step_by(997))?;
    Ok(written as f64 / (stats.leaf_pages() + stats.branch_pages()) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_fits_the_budget_writes_each_page_once() {
        let ratio = page_writes_over_pages(5_000).unwrap();
        assert!((1.0..1.1).contains(&ratio), "{ratio}");
    }
}
