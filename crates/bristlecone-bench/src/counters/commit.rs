//! What a durable commit costs: medians over commits of one row and of 1,000 rows.
//!
//! New rows at random places of a table of 100,000 rows; each figure counts from `begin_write` to the return of
//! `commit`. There is no checkpoint apart from the commit, so no commit is left out for holding a step of one.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};
use crate::backend::{CountingBackend, DiskCounts};
use crate::rows::{self, Rows};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

/// Rows in the table before anything is counted.
const TABLE_ROWS: usize = 100_000;

/// Commits of one size.
struct Commits {
    name: &'static str,
    rows: usize,
    commits: usize,
}

const SIZES: [Commits; 2] = [
    Commits {
        name: "durable_commit_1",
        rows: 1,
        commits: 1_001,
    },
    Commits {
        name: "durable_commit_1000",
        rows: 1_000,
        commits: 101,
    },
];

fn names() -> Vec<String> {
    let names = SIZES.iter().flat_map(|size| {
        ["writes", "syncs", "bytes"].map(|counted| format!("{}.{counted}", size.name))
    });
    names.collect()
}

fn compute(selection: &Selection) -> Result<Figures> {
    let mut figures = Figures::default();
    for size in SIZES {
        if selection.has_any_below(size.name) {
            let median = median_of(TABLE_ROWS, &size)?;
            figures.set_count(&format!("{}.writes", size.name), median.writes);
            figures.set_count(&format!("{}.syncs", size.name), median.syncs);
            figures.set_count(&format!("{}.bytes", size.name), median.bytes);
        }
    }
    Ok(figures)
}

/// The median of each count, on its own.
fn median_of(table_rows: usize, size: &Commits) -> Result<DiskCounts> {
    let backend = CountingBackend::new();
    let db = backend.create()?;
    rows::insert(&db, Rows::new().take(table_rows))?;
    let mut fresh = Rows::new().skip(table_rows);
    let mut costs = Vec::with_capacity(size.commits);
    for _ in 0..size.commits {
        let before = backend.counts();
        rows::insert(&db, fresh.by_ref().take(size.rows))?;
        costs.push(backend.counts().since(before));
    }
    let put = table_rows + size.rows * size.commits;
    rows::verify(&db, put as u64, Rows::new().take(put).step_by(37))?;
    let median = |count: fn(&DiskCounts) -> u64| {
        let mut counts: Vec<u64> = costs.iter().map(count).collect();
        counts.sort_unstable();
        counts[counts.len() / 2]
    };
    Ok(DiskCounts {
        writes: median(|cost| cost.writes),
        syncs: median(|cost| cost.syncs),
        bytes: median(|cost| cost.bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_commit_writes_more_and_syncs_as_often() {
        let cost = |rows| {
            let commits = Commits {
                name: "",
                rows,
                commits: 9,
            };
            median_of(2_000, &commits).unwrap()
        };
        let (small, large) = (cost(1), cost(100));
        assert!(small.bytes > rows::ROW_BYTES && small.bytes < large.bytes);
        assert!(small.syncs >= 1 && small.syncs == large.syncs);
        assert!(small.writes < large.writes);
    }
}
