//! What finding a key costs within the pages on its path: compares, and lines of memory touched.
//!
//! A million integer keys of each distribution in 4 KiB pages, loaded in order; then 200,000 gets of random keys among
//! them. A figure is the mean over the gets. `binary` is bisection, `adaptive` what the engine does by default: today
//! that is bisection too. The searches by a model (`window`) and by the parent's separators (`knots`) do not exist.

use anyhow::{Result, ensure};
use bristlecone::{
    Builder, Database, ProbeCounts, ReadableDatabase, TableDefinition, take_probe_counts,
};

use super::distributions::{DISTRIBUTIONS, Distribution};
use super::figures::Figures;
use super::{Group, Selection};
use crate::backend::{BUDGET_BYTES, CountingBackend};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

const SEARCHES: [&str; 4] = ["window", "adaptive", "knots", "binary"];
const KEYS: u64 = 1_000_000;
const GETS: u64 = 200_000;
const PAGE_BYTES: usize = 4096;
const SEED: u64 = 12;

const TABLE: TableDefinition<u64, u64> = TableDefinition::new("integers");

fn names() -> Vec<String> {
    let mut names = Vec::new();
    for distribution in &DISTRIBUTIONS {
        for search in SEARCHES {
            let part = part(distribution, search);
            names.extend(["scalar", "vector", "lines"].map(|count| format!("{part}.{count}")));
        }
    }
    names
}

/// What the names of one distribution's figures under one search begin with.
fn part(distribution: &Distribution, search: &str) -> String {
    format!("compares_per_seek.{}.{search}", distribution.name)
}

fn compute(selection: &Selection) -> Result<Figures> {
    let mut figures = Figures::default();
    for distribution in &DISTRIBUTIONS {
        let wanted: Vec<String> = ["adaptive", "binary"]
            .map(|search| part(distribution, search))
            .into_iter()
            .filter(|part| selection.has_any_below(part))
            .collect();
        if wanted.is_empty() {
            continue;
        }
        let counts = counts_of(distribution, KEYS, GETS)?;
        for part in wanted {
            let mut mean = |name: &str, count: u64| {
                figures.set(&format!("{part}.{name}"), count as f64 / GETS as f64);
            };
            mean("scalar", counts.scalar_compares);
            mean("vector", counts.vector_compares);
            mean("lines", counts.lines);
        }
    }
    Ok(figures)
}

/// Counts over `gets` gets among `keys` keys.
fn counts_of(distribution: &Distribution, keys: u64, gets: u64) -> Result<ProbeCounts> {
    let keys = (distribution.keys)(keys);
    let settings = *Builder::new()
        .set_cache_size(BUDGET_BYTES)
        .set_page_size(PAGE_BYTES);
    let db = CountingBackend::new().create_with(&settings)?;
    load(&db, &keys)?;
    let table = db.begin_read()?.open_table(TABLE)?;
    let mut random = fastrand::Rng::with_seed(SEED);
    take_probe_counts();
    for _ in 0..gets {
        let key = keys[random.usize(..keys.len())];
        let found = table.get(key)?.map(|value| value.value());
        ensure!(
            found == Some(value_of(key)),
            "key {key} is missing or has another value"
        );
    }
    Ok(take_probe_counts())
}

fn load(db: &Database, keys: &[u64]) -> Result<()> {
    let txn = db.begin_write()?;
    let mut table = txn.open_table(TABLE)?;
    for key in keys {
        table.insert(key, value_of(*key))?;
    }
    drop(table);
    txn.commit()?;
    Ok(())
}

fn value_of(key: u64) -> u64 {
    !key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Height, rows and separators are those of 20,000 keys; bisection takes about log2 of that. The bounds are the
    /// figures of today, rounded up.
    #[test]
    fn a_seek_compares_no_more_than_bisection_does() {
        for distribution in &DISTRIBUTIONS {
            let gets = 2_000;
            let counts = counts_of(distribution, 20_000, gets).unwrap();
            let per_get = |count: u64| count as f64 / gets as f64;
            let (scalar, lines) = (per_get(counts.scalar_compares), per_get(counts.lines));
            assert!(
                (1.0..=13.6).contains(&scalar),
                "{}: {scalar}",
                distribution.name
            );
            assert!(
                (1.0..=14.0).contains(&lines),
                "{}: {lines}",
                distribution.name
            );
        }
    }
}
