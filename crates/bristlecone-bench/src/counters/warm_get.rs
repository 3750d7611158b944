//! What a get of a row costs when its pages are cached.
//!
//! Two tables of 5 million rows each; a working set of 20,000 rows a table, which the budget holds, is read and
//! then counted: by one thread, by 64 threads that each warm up for themselves, and by one thread that asks two tables
//! in turn. A figure is the mean over the gets, the use and the drop of the guard included. Locks count as they cost
//! when nobody else wants them, so that the figures of 64 threads do not hang on the scheduler.

use std::sync::Barrier;
use std::thread;

use anyhow::{Result, anyhow, ensure};
use bristlecone::take_probe_counts;

use super::figures::Figures;
use super::{Group, Selection};
use crate::allocations;
use crate::warm::{Reader, WarmDatabase};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

const ONE: &str = "warm_get";
const MANY: &str = "warm_get_64_threads";
const TWO_TABLES: &str = "warm_get_two_tables";

const ROWS: u64 = 5_000_000;
const WORKING_SET: u64 = 20_000;
const GETS: u64 = 200_000;
const THREADS: u64 = 64;
const GETS_OF_A_THREAD: u64 = 20_000;

fn names() -> Vec<String> {
    let counts = ["shared_page_lookups", "shared_stores", "heap_allocations"];
    let figures = [ONE, MANY, TWO_TABLES];
    figures
        .iter()
        .flat_map(|figure| counts.map(|count| format!("{figure}.{count}")))
        .collect()
}

fn compute(selection: &Selection) -> Result<Figures> {
    let mut figures = Figures::default();
    let db = WarmDatabase::load(ROWS)?;
    if selection.has_any_below(ONE) {
        let reader = db.reader(WORKING_SET, false)?;
        counts_of_one(&db, &reader, GETS)?.put_into(&mut figures, ONE, GETS);
    }
    if selection.has_any_below(MANY) {
        let gets = THREADS * GETS_OF_A_THREAD;
        counts_of_many(&db, GETS_OF_A_THREAD)?.put_into(&mut figures, MANY, gets);
    }
    if selection.has_any_below(TWO_TABLES) {
        let reader = db.reader(WORKING_SET, true)?;
        counts_of_one(&db, &reader, GETS)?.put_into(&mut figures, TWO_TABLES, GETS);
    }
    Ok(figures)
}

/// What gets cost, in all.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    page_lookups: u64,
    shared_stores: u64,
    allocations: u64,
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            page_lookups: self.page_lookups + other.page_lookups,
            shared_stores: self.shared_stores + other.shared_stores,
            allocations: self.allocations + other.allocations,
        }
    }

    fn put_into(self, figures: &mut Figures, name: &str, gets: u64) {
        let mut mean = |count: &str, total: u64| {
            figures.set(&format!("{name}.{count}"), total as f64 / gets as f64);
        };
        mean("shared_page_lookups", self.page_lookups);
        mean("shared_stores", self.shared_stores);
        mean("heap_allocations", self.allocations);
    }
}

/// Counts what this thread does for `gets` gets.
fn count(reader: &Reader, gets: u64, seed: u64) -> Result<Counts> {
    let allocations = allocations::of_thread();
    take_probe_counts();
    reader.read(gets, seed)?;
    let counts = take_probe_counts();
    Ok(Counts {
        page_lookups: counts.page_lookups,
        shared_stores: counts.shared_stores,
        allocations: allocations::of_thread() - allocations,
    })
}

fn counts_of_one(db: &WarmDatabase, reader: &Reader, gets: u64) -> Result<Counts> {
    reader.warm_up()?;
    let read_before = db.pages_read();
    let counts = count(reader, gets, 0)?;
    ensure!(db.pages_read() == read_before, "the cache was not warm");
    Ok(counts)
}

/// All threads warm up, then all count.
fn counts_of_many(db: &WarmDatabase, gets: u64) -> Result<Counts> {
    let all_warm = Barrier::new(THREADS as usize);
    let work = |seed: u64| -> Result<Counts> {
        let warm = db.reader(WORKING_SET, false).and_then(|reader| {
            reader.warm_up()?;
            Ok(reader)
        });
        // Whoever failed meets the others too, or they would wait for ever.
        all_warm.wait();
        count(&warm?, gets, seed)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|seed| scope.spawn(move || work(seed)))
            .collect();
        let mut total = Counts::default();
        for thread in threads {
            let counts = thread.join().map_err(|_| anyhow!("a reader panicked"))??;
            total = total.plus(counts);
        }
        Ok(total)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds are the figures of today for a tree of three levels; a better engine may lower them.
    #[test]
    fn a_warm_get_stores_no_more_than_today_and_never_allocates() {
        let db = WarmDatabase::load(20_000).unwrap();
        for two_tables in [false, true] {
            let reader = db.reader(2_000, two_tables).unwrap();
            let gets = 4_000;
            let counts = counts_of_one(&db, &reader, gets).unwrap();
            assert!(counts.page_lookups <= 3 * gets, "{counts:?}");
            assert!(counts.shared_stores <= 20 * gets, "{counts:?}");
            assert_eq!(counts.allocations, 0);
        }
    }
}
