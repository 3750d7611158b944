//! Courses: groups of rows that one engine runs in one process, in one folder, from an empty database.
//!
//! A course says what it will do ([`Course::rows`], counts scaled by `n`) and does it ([`Course::run`]). It knows nothing
//! of the engine but [`crate::engine::Engine`], and engines learn nothing of the course.
//!
//! # Invariants
//! 1. Every value that comes back is compared with the computed one; a wrong or missing one ends the course with
//!    [`ending::Wrong`].
//! 2. A row that an engine cannot do leaves the table as if it had been done, where later rows depend on it.
//! 3. The body of a transaction may run twice: it sets what it counts to the start first.

use anyhow::Result;

mod commits;
pub mod ending;
mod entries;
mod fresh_reads;
mod integers;
mod large_values;
mod live;
mod memory;
mod phases;
mod plan;
mod queue;
mod reopen;
mod scans;
mod small_cache;
mod track;
mod variant;
pub mod victim;
mod ycsb;
mod zipf;

#[cfg(test)]
mod tests;

pub use plan::Plan;
pub use track::{Report, Track};
pub use variant::Variant;

/// A course.
#[derive(Clone, Copy)]
pub struct Course {
    /// Name on the command line and in the record.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// The variants it can be run in.
    pub variants: &'static [Variant],
    /// Its rows, at a count of entries.
    pub rows: fn(n: u64) -> Vec<Plan>,
    /// Runs it.
    pub run: fn(&mut Track<'_>) -> Result<()>,
}

/// Every course, in the order of a race.
pub fn courses() -> Vec<Course> {
    vec![
        phases::COURSE,
        phases::COURSE_OLD_VALUE,
        integers::COURSE,
        large_values::COURSE,
        small_cache::COURSE,
        scans::COURSE,
        fresh_reads::COURSE,
        queue::COURSE,
        commits::COURSE,
        ycsb::COURSE,
        reopen::COURSE,
        memory::COURSE,
    ]
}
