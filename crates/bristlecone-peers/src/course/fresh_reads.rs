//! Reads straight after writes: a store that buffers writes must look through its buffers.
//!
//! Only the reads are on the clock.

use anyhow::Result;

use super::entries::{Ask, Entries, insert_each, put_all};
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::{Course, Variant};
use crate::data::mix;
use crate::engine::Durability;

/// Reads straight after writes.
pub(super) const COURSE: Course = Course {
    name: "fresh_reads",
    about: "n/4 entries; after each transaction of 100 puts, 100 gets in a new read transaction",
    variants: Variant::ALL,
    rows,
    run,
};

const PER_TXN: u64 = 100;

fn rows(n: u64) -> Vec<Plan> {
    let gets = share(n, 2500, 10) * PER_TXN;
    vec![
        Plan::reads(
            "after_unsynced",
            gets,
            "gets, half of entries just put, half of older ones",
        )
        .settled(),
        Plan::reads(
            "after_synced",
            gets,
            "gets, half of entries just put, half of older ones",
        )
        .settled()
        .needing_commits(),
    ]
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let (shape, gets) = (track.shape, track.ops("after_unsynced"));
    let mut count = share(track.heat.n, 4, 10);
    track.create(count / 4)?;
    track.prepare(|engine| put_all(engine, shape, 0..count, Durability::Synced))?;
    let mut entries = Entries::new(shape);
    for (row, durability) in [
        ("after_unsynced", Durability::Unsynced),
        ("after_synced", Durability::Synced),
    ] {
        let begin = count;
        let outcome = track.run(row, |stint| {
            for txn in 0..gets / PER_TXN {
                let fresh = begin + txn * PER_TXN;
                let end = fresh + PER_TXN;
                stint.aside(|engine| {
                    insert_each(engine, shape, fresh..end, PER_TXN, durability, Ask::Nothing)
                })?;
                stint.engine.read(&mut |reader| {
                    (0..PER_TXN).try_for_each(|i| {
                        let draw = mix(fresh + i);
                        let index = match i % 2 {
                            0 => fresh + draw % PER_TXN,
                            _ => draw % fresh,
                        };
                        entries.get(reader, index, 0)
                    })
                })?;
            }
            Ok(())
        })?;
        if outcome == Outcome::Done {
            count += gets;
        }
    }
    Ok(())
}
