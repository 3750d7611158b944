//! The fifteen phases of redb's benchmark, in its order, and its write phases again asking for old values.
//!
//! Counts are redb's at n = 5,000,000. Two things differ from redb's program: every key and value that comes back is
//! checked, and after a phase that removes entries, those alone are put back that it removed.

use anyhow::Result;

use super::entries::Ask;
use super::live::Live;
use super::plan::{Plan, share};
use super::track::Track;
use super::{Course, Variant};

mod finish;
mod load;
mod read;
mod shrink;

use load::{BATCH, Loaded};

/// redb's benchmark; writes do not ask for old values.
pub(super) const COURSE: Course = Course {
    name: "phases",
    about: "the fifteen phases of redb's benchmark; writes do not ask for old values",
    variants: Variant::ALL,
    rows,
    run,
};

/// Its write phases alone, asking for old values; and overwriting, with and without.
pub(super) const COURSE_OLD_VALUE: Course = Course {
    name: "phases_old_value",
    about: "the same writes, each returning the value that was there, and overwriting with and without",
    variants: Variant::ALL,
    rows: rows_old_value,
    run: run_old_value,
};

fn rows_of_writes(n: u64) -> Vec<Plan> {
    let batches = share(n, 50_000, 10);
    let loaded = Loaded::at(n);
    vec![
        Plan::writes("bulk_load", n, "puts in one synced transaction"),
        Plan::writes(
            "individual_writes",
            share(n, 5000, 10),
            "synced transactions of one put",
        )
        .needing_commits(),
        Plan::writes(
            "batch_writes",
            batches * BATCH,
            "puts in synced transactions of 1,000",
        )
        .needing_commits(),
        Plan::writes(
            "nosync_writes",
            share(n, 100, 10),
            "transactions of one put, not synced",
        ),
        Plan::writes(
            "removals",
            loaded.total / 2,
            "removals in one synced transaction",
        ),
    ]
}

fn rows_old_value(n: u64) -> Vec<Plan> {
    let mut plans = rows_of_writes(n);
    let removals = plans.pop();
    let count = share(n, 10, 10);
    plans.extend([
        Plan::writes(
            "overwrites_blind",
            count,
            "puts over other values in one synced transaction",
        ),
        Plan::writes("overwrites", count, "the same, returning the old values"),
    ]);
    plans.extend(removals);
    plans
}

fn rows(n: u64) -> Vec<Plan> {
    let mut plans = rows_of_writes(n);
    let removals = plans.pop();
    let total = Loaded::at(n).total;
    let left = total - total / 2;
    plans.extend([
        Plan::seconds("len", "one call"),
        Plan::reads("random_reads", share(n, 5, 10), "gets in one transaction").median_of(3),
        Plan::reads(
            "range_reads",
            share(n, 10, 10),
            "seeks and ten steps each, in one transaction",
        )
        .median_of(3),
        Plan::reads("reads_4_threads", total, "gets, 4 threads in total"),
        Plan::reads("reads_8_threads", total, "gets, 8 threads in total"),
        Plan::reads("reads_16_threads", total, "gets, 16 threads in total"),
        Plan::reads("reads_32_threads", total, "gets, 32 threads in total"),
    ]);
    plans.extend(removals);
    plans.extend([
        Plan::writes(
            "retain",
            left,
            "entries walked, every other one dropped, synced",
        ),
        Plan::writes(
            "extract_if",
            left / 3,
            "entries walked, every other one taken, synced",
        ),
        Plan::writes(
            "pop",
            share(n, 10, 10),
            "pops, first and last in turn, in one transaction",
        ),
        Plan::bytes("uncompacted_size", "allocated"),
        Plan::seconds("compaction", "one call").settled(),
        Plan::bytes("compacted_size", "allocated"),
        Plan::writes(
            "sorted_inserts",
            share(n, 5, 10),
            "appends in one synced transaction",
        ),
    ]);
    plans
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let total = load::load(track, Ask::Nothing)?;
    read::read(track, total)?;
    shrink::remove(track, total, 0, Ask::Nothing)?;
    let mut ranges = vec![(track.shape, total / 2..total)];
    ranges.extend(track.preloaded.map(|(shape, count)| (shape, 0..count)));
    let live = Live::of(&ranges);
    shrink::retain(track, &live)?;
    shrink::extract(track, &live)?;
    shrink::pop(track, &live)?;
    finish::compact(track)?;
    finish::append(track, live.count())
}

fn run_old_value(track: &mut Track<'_>) -> Result<()> {
    let total = load::load(track, Ask::OldValue)?;
    let updated = load::overwrite(track)?;
    shrink::remove(track, total, updated, Ask::OldValue)
}
