//! Phases 1 to 4: bulk load, single writes, batches, writes that are not synced; and overwriting.

use std::ops::Range;

use anyhow::Result;

use super::super::entries::{Ask, Entries, insert_each, put_all};
use super::super::plan::share;
use super::super::track::{Outcome, Track};
use crate::engine::{Durability, Engine};

/// Puts in a transaction of `batch_writes`.
pub(super) const BATCH: u64 = 1000;

/// Where the entries of each write phase lie.
pub(super) struct Loaded {
    individual: Range<u64>,
    batches: Range<u64>,
    nosync: Range<u64>,
    /// Number of entries after them.
    pub(super) total: u64,
}

impl Loaded {
    /// At a count of entries.
    pub(super) fn at(n: u64) -> Loaded {
        let individual = n..n + share(n, 5000, 10);
        let batches = individual.end..individual.end + share(n, 50_000, 10) * BATCH;
        let nosync = batches.end..batches.end + share(n, 100, 10);
        let total = nosync.end;
        Loaded {
            individual,
            batches,
            nosync,
            total,
        }
    }
}

/// Phases 1 to 4. Returns how many entries were stored.
pub(super) fn load(track: &mut Track<'_>, ask: Ask) -> Result<u64> {
    let n = track.heat.n;
    track.create(n / 4)?;
    let Loaded {
        individual,
        batches,
        nosync,
        total,
    } = Loaded::at(n);
    write(track, "bulk_load", 0..n, n, Durability::Synced, ask)?;
    write(
        track,
        "individual_writes",
        individual,
        1,
        Durability::Synced,
        ask,
    )?;
    write(
        track,
        "batch_writes",
        batches,
        BATCH,
        Durability::Synced,
        ask,
    )?;
    write(track, "nosync_writes", nosync, 1, Durability::Unsynced, ask)?;
    Ok(total)
}

/// A phase that stores entries. An engine that cannot do it gets them otherwise, so that later phases are the same.
fn write(
    track: &mut Track<'_>,
    row: &'static str,
    range: Range<u64>,
    per_txn: u64,
    durability: Durability,
    ask: Ask,
) -> Result<()> {
    let shape = track.shape;
    let outcome = track.run(row, |stint| {
        insert_each(stint.engine, shape, range.clone(), per_txn, durability, ask)
    })?;
    if outcome == Outcome::Skipped {
        track.prepare(|engine| put_all(engine, shape, range, Durability::Synced))?;
    }
    Ok(())
}

/// Overwrites two shares of the entries, one without asking for old values, one asking. Returns how many, from the first
/// on, are at revision 1.
pub(super) fn overwrite(track: &mut Track<'_>) -> Result<u64> {
    let count = track.ops("overwrites");
    let mut entries = Entries::new(track.shape);
    let mut overwrite = |engine: &dyn Engine, range: Range<u64>, ask| {
        engine.write(Durability::Synced, &mut |writer| {
            range
                .clone()
                .try_for_each(|index| entries.replace(writer, index, 1, ask))
        })
    };
    for (row, range, ask) in [
        ("overwrites_blind", 0..count, Ask::Nothing),
        ("overwrites", count..2 * count, Ask::OldValue),
    ] {
        let outcome = track.run(row, |stint| overwrite(stint.engine, range.clone(), ask))?;
        if outcome == Outcome::Skipped {
            track.prepare(|engine| overwrite(engine, range, Ask::Nothing))?;
        }
    }
    Ok(2 * count)
}
