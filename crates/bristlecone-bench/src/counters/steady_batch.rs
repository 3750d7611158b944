//! How often steady batches of writes ask for memory.
//!
//! A table of 100,000 rows in which each transaction overwrites 100 rows drawn at random, so that the table stays as
//! large as it is. Counted from `begin_write` to the return of `commit`, over all threads, as the mean of 1,000
//! transactions after 100 to warm up; the keys are drawn before, and what the backend allocates to keep the bytes is
//! left out.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};
use crate::allocations;
use crate::backend::CountingBackend;
use crate::rows::{self, Row, Rows};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

const NAME: &str = "steady_batch.heap_allocations";

fn names() -> Vec<String> {
    vec![NAME.to_owned()]
}

struct Sizes {
    rows: usize,
    batch_rows: usize,
    warm_up: usize,
    batches: usize,
}

const FULL: Sizes = Sizes {
    rows: 100_000,
    batch_rows: 100,
    warm_up: 100,
    batches: 1_000,
};

fn compute(_selection: &Selection) -> Result<Figures> {
    let mut figures = Figures::default();
    figures.set(NAME, allocations_per_batch(&FULL, allocations::of_process)?);
    Ok(figures)
}

/// `requests` counts those of the process, or of this thread where others must not disturb.
fn allocations_per_batch(sizes: &Sizes, requests: fn() -> u64) -> Result<f64> {
    let backend = CountingBackend::new();
    let db = backend.create()?;
    let mut content: Vec<Row> = Rows::new().take(sizes.rows).collect();
    rows::insert(&db, content.iter().copied())?;
    let mut fresh = Rows::new().skip(sizes.rows);
    let mut counted = 0;
    for number in 0..sizes.warm_up + sizes.batches {
        let batch: Vec<usize> = fresh
            .by_ref()
            .take(sizes.batch_rows)
            .map(|row| overwrite(&mut content, &row))
            .collect();
        let before = (requests(), backend.own_allocations());
        rows::insert(&db, batch.iter().map(|&idx| content[idx]))?;
        let all = requests() - before.0;
        let cost = all - (backend.own_allocations() - before.1);
        if number >= sizes.warm_up {
            counted += cost;
        }
    }
    rows::verify(&db, sizes.rows as u64, content.iter().copied().step_by(37))?;
    Ok(counted as f64 / sizes.batches as f64)
}

/// Gives some row of `content` the value of `fresh`; returns its place.
fn overwrite(content: &mut [Row], fresh: &Row) -> usize {
    let drawn = fresh
        .key
        .first_chunk()
        .copied()
        .map_or(0, u64::from_le_bytes);
    let idx = (drawn % content.len() as u64) as usize;
    content[idx].value = fresh.value;
    idx
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_allocates_the_same_each_time_and_more_with_more_rows() {
        let small = |batch_rows| Sizes {
            rows: 500,
            batch_rows,
            warm_up: 3,
            batches: 5,
        };
        let cost =
            |batch_rows| allocations_per_batch(&small(batch_rows), allocations::of_thread).unwrap();
        assert!(cost(2) > 0.0 && cost(100) > cost(2));
        assert_eq!(cost(100).to_bits(), cost(100).to_bits());
    }
}
