//! How many bytes are written for each byte put in random order.
//!
//! 200 transactions of 1,000 new random rows each into a table of one million: all bytes written by then, those of the
//! headers included, over the bytes of the keys and values put. Zeros written ahead of use count as any other byte.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};
use crate::backend::CountingBackend;
use crate::rows::{self, ROW_BYTES, Rows};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

const NAME: &str = "random_insert.bytes_written_over_bytes_put";

fn names() -> Vec<String> {
    vec![NAME.to_owned()]
}

struct Sizes {
    table_rows: usize,
    batch_rows: usize,
    batches: usize,
}

const FULL: Sizes = Sizes {
    table_rows: 1_000_000,
    batch_rows: 1_000,
    batches: 200,
};

fn compute(_selection: &Selection) -> Result<Figures> {
    let mut figures = Figures::default();
    figures.set(NAME, written_over_put(&FULL)?);
    Ok(figures)
}

fn written_over_put(sizes: &Sizes) -> Result<f64> {
    let backend = CountingBackend::new();
    let db = backend.create()?;
    rows::insert(&db, Rows::new().take(sizes.table_rows))?;
    let before = backend.counts();
    let mut fresh = Rows::new().skip(sizes.table_rows);
    for _ in 0..sizes.batches {
        rows::insert(&db, fresh.by_ref().take(sizes.batch_rows))?;
    }
    let written = backend.counts().since(before).bytes;
    let put = sizes.batches * sizes.batch_rows;
    let len = sizes.table_rows + put;
    rows::verify(&db, len as u64, Rows::new().take(len).step_by(37))?;
    Ok(written as f64 / (put as u64 * ROW_BYTES) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_batches_write_less_for_each_byte() {
        let small = |batch_rows| Sizes {
            table_rows: 20_000,
            batch_rows,
            batches: 2,
        };
        let (few, many) = (
            written_over_put(&small(10)).unwrap(),
            written_over_put(&small(5_000)).unwrap(),
        );
        assert!(many > 1.0 && few > 2.0 * many, "{few} {many}");
    }
}
