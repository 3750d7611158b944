//! Phases 5 to 8: the count, gets, short ranges, gets from many threads.

use std::collections::VecDeque;

use anyhow::Result;

use super::super::ending::{Wrong, expect_count, is};
use super::super::entries::{Entries, get_randomly, in_threads, len};
use super::super::track::Track;
use crate::data::Shape;
use crate::engine::{Engine, Unsupported};

/// Entries of a range read.
const RANGE_STEPS: u64 = 10;

/// Phases 5 to 8.
pub(super) fn read(track: &mut Track<'_>, total: u64) -> Result<()> {
    let (shape, loaded) = (track.shape, track.heat.n);
    let expected = total + track.preloaded_count();
    track.run("len", |stint| {
        expect_count("len", len(stint.engine)?, expected)
    })?;
    track.run("random_reads", |stint| {
        get_randomly(stint.engine, shape, stint.ops, loaded)
    })?;
    let last = track.prepare(|engine| last_keys(engine))?;
    track.run("range_reads", |stint| {
        let mut entries = Entries::new(shape);
        stint.engine.read(&mut |reader| {
            (0..stint.ops).try_for_each(|i| {
                let seek = entries.key(shape.pick(i, loaded));
                let after = last.iter().filter(|key| key.as_slice() >= seek).count() as u64;
                let mut steps = 0;
                let mut right = true;
                reader.scan(Some(seek), &mut |key, value| {
                    right &= (steps > 0) ^ (key == seek);
                    right &= shape.revision(key, value) == Some(0);
                    steps += 1;
                    steps < RANGE_STEPS
                })?;
                if right && steps == after.min(RANGE_STEPS) {
                    Ok(())
                } else {
                    Err(Wrong::error(format!("range read {i} saw other entries")))
                }
            })
        })
    })?;
    for (row, threads) in [
        ("reads_4_threads", 4),
        ("reads_8_threads", 8),
        ("reads_16_threads", 16),
        ("reads_32_threads", 32),
    ] {
        track.run(row, |stint| {
            read_in_threads(stint.engine, shape, total, threads)
        })?;
    }
    Ok(())
}

/// The last keys of the table: a range that begins among them has fewer steps.
fn last_keys(engine: &dyn Engine) -> Result<Vec<Vec<u8>>> {
    let mut keys = VecDeque::new();
    let found = engine.read(&mut |reader| {
        keys.clear();
        reader.scan_back(None, &mut |key, _| {
            keys.push_back(key.to_vec());
            (keys.len() as u64) < RANGE_STEPS
        })
    });
    match found {
        // It has to walk there.
        Err(error) if is::<Unsupported>(&error) => engine.read(&mut |reader| {
            keys.clear();
            reader.scan(None, &mut |key, _| {
                if keys.len() as u64 == RANGE_STEPS {
                    keys.pop_front();
                }
                keys.push_back(key.to_vec());
                true
            })
        })?,
        found => found?,
    }
    Ok(keys.into())
}

/// Reads every entry once, each thread its share in a transaction of its own.
fn read_in_threads(engine: &dyn Engine, shape: Shape, total: u64, threads: u64) -> Result<()> {
    in_threads(threads, |thread| {
        let share = total * thread / threads..total * (thread + 1) / threads;
        let mut entries = Entries::new(shape);
        engine.read(&mut |reader| {
            (share.clone()).try_for_each(|i| entries.get(reader, shape.pick(i, total), 0))
        })
    })
}
