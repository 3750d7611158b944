//! A table eight times as large as the cache: reads, small durable updates, reads again.
//!
//! The file stays in the page cache of the system: what is measured is the engine's own cache, not the disk.

use anyhow::Result;

use super::entries::{Entries, put_all};
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::{Course, Variant};
use crate::data::mix;
use crate::engine::{Durability, Engine};

/// A small cache.
pub(super) const COURSE: Course = Course {
    name: "small_cache",
    about: "n/2 entries and a cache of an eighth of their bytes; reopened after the load",
    variants: Variant::ALL,
    rows,
    run,
};

const UPDATES_PER_TXN: u64 = 100;
/// No engine is given less.
const CACHE_MIN: u64 = 1 << 20;

fn rows(n: u64) -> Vec<Plan> {
    let gets = share(n, 8, 10);
    vec![
        Plan::writes(
            "bulk_load",
            share(n, 2, 100),
            "puts in one synced transaction",
        ),
        Plan::reads("gets", gets, "random gets in one transaction"),
        Plan::writes(
            "updates",
            share(n, 4000, 10) * UPDATES_PER_TXN,
            "random updates in synced transactions of 100",
        )
        .needing_commits(),
        Plan::reads("gets_after_updates", gets, "random gets in one transaction"),
    ]
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let (count, updates) = (track.ops("bulk_load"), track.ops("updates"));
    let shape = track.shape;
    let payload = count * (shape.key_len + shape.value_len) as u64;
    track.options.cache_bytes = (payload / 8).max(CACHE_MIN);
    track.create(count / 4)?;
    let load = |engine: &dyn Engine| put_all(engine, shape, 0..count, Durability::Synced);
    if track.run("bulk_load", |stint| load(stint.engine))? == Outcome::Skipped {
        track.prepare(|engine| load(engine))?;
    }
    track.close()?;
    track.open()?;
    let mut revisions = vec![0; count as usize];
    get(track, "gets", &revisions)?;

    let changes: Vec<(u64, u32)> = (0..updates)
        .map(|i| {
            let index = mix(!i) % count;
            let revision = &mut revisions[index as usize];
            *revision += 1;
            (index, *revision)
        })
        .collect();
    let mut entries = Entries::new(shape);
    let mut update = |engine: &dyn Engine| {
        changes
            .chunks(UPDATES_PER_TXN as usize)
            .try_for_each(|changes| {
                engine.write(Durability::Synced, &mut |writer| {
                    changes
                        .iter()
                        .try_for_each(|&(index, revision)| entries.put(writer, index, revision))
                })
            })
    };
    if track.run("updates", |stint| update(stint.engine))? == Outcome::Skipped {
        track.prepare(|engine| update(engine))?;
    }
    get(track, "gets_after_updates", &revisions)
}

fn get(track: &mut Track<'_>, row: &'static str, revisions: &[u32]) -> Result<()> {
    let count = revisions.len() as u64;
    let mut entries = Entries::new(track.shape);
    track.run(row, |stint| {
        stint.engine.read(&mut |reader| {
            (0..stint.ops).try_for_each(|i| {
                let index = mix(i) % count;
                entries.get(reader, index, revisions[index as usize])
            })
        })
    })?;
    Ok(())
}
