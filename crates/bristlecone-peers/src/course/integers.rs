//! Integer keys: eight bytes, big endian, loaded in order and at random, then read.

use anyhow::Result;

use super::entries::{Entries, put_all};
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::{Course, Variant};
use crate::data::{KeyOrder, Shape, mix};
use crate::engine::Durability;

/// Integer keys.
pub(super) const COURSE: Course = Course {
    name: "integers",
    about: "8-byte big-endian keys and 8-byte values, n/2 in order and n/2 at random",
    variants: Variant::OF_FIXED_SHAPE,
    rows,
    run,
};

fn rows(n: u64) -> Vec<Plan> {
    let count = share(n, 2, 10);
    vec![
        Plan::writes(
            "sequential_load",
            count,
            "puts in key order in one synced transaction",
        ),
        Plan::writes(
            "random_load",
            count,
            "puts at random in one synced transaction",
        ),
        Plan::reads("gets", count, "gets over both in one transaction").median_of(3),
    ]
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let random = Shape {
        key_len: 8,
        value_len: 8,
        ..track.shape
    };
    let ascending = Shape {
        order: KeyOrder::Ascending,
        ..random
    };
    track.shape = random;
    let count = track.ops("gets");
    track.create(count / 4)?;
    for (row, shape) in [("sequential_load", ascending), ("random_load", random)] {
        let load = |engine: &dyn crate::engine::Engine| {
            put_all(engine, shape, 0..count, Durability::Synced)
        };
        if track.run(row, |stint| load(stint.engine))? == Outcome::Skipped {
            track.prepare(|engine| load(engine))?;
        }
    }
    track.run("gets", |stint| {
        let (mut one, mut other) = (Entries::new(ascending), Entries::new(random));
        stint.engine.read(&mut |reader| {
            (0..count).try_for_each(|i| {
                let draw = mix(i);
                let entries = if draw.is_multiple_of(2) {
                    &mut one
                } else {
                    &mut other
                };
                entries.get(reader, (draw >> 1) % count, 0)
            })
        })
    })?;
    Ok(())
}
