//! Large values: two megabytes each, with small ones in the same transaction, one per transaction, and read.
//!
//! Values share a few buffers, made beforehand, and differ in their first bytes, the key: making two megabytes anew for
//! each would cost about as much as storing them.

use anyhow::Result;

use super::ending::Wrong;
use super::entries::Entries;
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::{Course, Variant};
use crate::data::{Shape, fill, mix};
use crate::engine::{Durability, Engine, Reader, Writer};

/// Large values.
pub(super) const COURSE: Course = Course {
    name: "large_values",
    about: "values of 2,000,000 bytes",
    variants: Variant::OF_FIXED_VALUES,
    rows,
    run,
};

const LARGE_LEN: usize = 2_000_000;
const BUFFERS: u64 = 16;
/// Small entries for each large one in the first transaction, as in redb's benchmark.
const SMALL_PER_LARGE: u64 = 250;
/// Numbers of large entries start here, past those of small ones.
const LARGE_FIRST: u64 = 1 << 40;

fn rows(n: u64) -> Vec<Plan> {
    let (load, single) = (share(n, 10_000, 20), share(n, 20_000, 10));
    let all = load + single;
    vec![
        Plan::writes(
            "load",
            load,
            "large puts, each with 250 small, in one synced transaction",
        ),
        Plan::writes(
            "durable_writes",
            single,
            "synced transactions of one large put",
        )
        .needing_commits(),
        Plan::reads("gets", all, "gets in one transaction").median_of(3),
    ]
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let (load, single, all) = (
        track.ops("load"),
        track.ops("durable_writes"),
        track.ops("gets"),
    );
    track.create(load * SMALL_PER_LARGE)?;
    let mut large = Large::new(track.shape);
    let mut small = Entries::new(track.shape);
    let loaded = track.run("load", |stint| {
        stint.engine.write(Durability::Synced, &mut |writer| {
            (0..load).try_for_each(|index| large.put(writer, index))?;
            (0..load * SMALL_PER_LARGE).try_for_each(|index| small.put(writer, index, 0))
        })
    })?;
    if loaded == Outcome::Skipped {
        for row in ["durable_writes", "gets"] {
            track.skip(row, "it has no values of this length")?;
        }
        return Ok(());
    }
    let mut write_singly = |engine: &dyn Engine| {
        (load..load + single).try_for_each(|index| {
            engine.write(Durability::Synced, &mut |writer| large.put(writer, index))
        })
    };
    if track.run("durable_writes", |stint| write_singly(stint.engine))? == Outcome::Skipped {
        track.prepare(|engine| write_singly(engine))?;
    }
    track.run("gets", |stint| {
        stint
            .engine
            .read(&mut |reader| (0..all).try_for_each(|i| large.get(reader, mix(i) % all)))
    })?;
    Ok(())
}

/// Makes and checks large entries.
struct Large {
    shape: Shape,
    key: Vec<u8>,
    buffers: Vec<Vec<u8>>,
}

impl Large {
    fn new(shape: Shape) -> Large {
        let buffers = (0..BUFFERS).map(|number| {
            let mut buffer = Vec::with_capacity(LARGE_LEN);
            fill(mix(number), LARGE_LEN, &mut buffer);
            buffer
        });
        Large {
            shape,
            key: Vec::new(),
            buffers: buffers.collect(),
        }
    }

    fn put(&mut self, writer: &mut dyn Writer, index: u64) -> Result<()> {
        self.shape.key(LARGE_FIRST + index, &mut self.key);
        let value = &mut self.buffers[(index % BUFFERS) as usize];
        value[..self.key.len()].copy_from_slice(&self.key);
        writer.put(&self.key, value)
    }

    fn get(&mut self, reader: &mut dyn Reader, index: u64) -> Result<()> {
        self.shape.key(LARGE_FIRST + index, &mut self.key);
        let (key, buffer) = (&self.key, &self.buffers[(index % BUFFERS) as usize]);
        let mut right = false;
        reader.get(key, &mut |value| {
            right = value.len() == LARGE_LEN
                && value[..key.len()] == *key
                && value[key.len()..] == buffer[key.len()..];
        })?;
        match right {
            true => Ok(()),
            false => Err(Wrong::error(format!(
                "large value {index} is wrong or missing"
            ))),
        }
    }
}
