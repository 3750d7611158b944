//! Phases 9 to 12: removals, retain, extract_if, pop.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::super::ending::{Wrong, expect_count};
use super::super::entries::{Ask, Entries, len};
use super::super::live::{Live, Walk};
use super::super::track::{Outcome, Track};
use crate::engine::{Durability, End, Engine};

/// Pops after which a slow engine is stopped, and how long they may take.
const POPS_MIN: u64 = 5000;
const POPS_LIMIT: Duration = Duration::from_secs(1);
/// How long all pops may take.
const ALL_POPS_LIMIT: Duration = Duration::from_secs(30);

/// Phase 9: removes the first half of the entries, of which the first `updated` are at revision 1.
pub(super) fn remove(track: &mut Track<'_>, total: u64, updated: u64, ask: Ask) -> Result<()> {
    let mut entries = Entries::new(track.shape);
    let mut remove = |engine: &dyn Engine, ask| {
        engine.write(Durability::Synced, &mut |writer| {
            (0..total / 2).try_for_each(|index| {
                entries.remove(writer, index, u32::from(index < updated), ask)
            })
        })
    };
    if track.run("removals", |stint| remove(stint.engine, ask))? == Outcome::Skipped {
        track.prepare(|engine| remove(engine, Ask::Nothing))?;
    }
    let expected = total - total / 2 + track.preloaded_count();
    track.prepare(|engine| expect_count("len after removals", len(engine)?, expected))
}

/// Phase 10: walks all entries and keeps those at even places; puts the others back.
pub(super) fn retain(track: &mut Track<'_>, live: &Live) -> Result<()> {
    let count = live.count();
    let outcome = track.run("retain", |stint| {
        stint.ops = count;
        stint.engine.write(Durability::Synced, &mut |writer| {
            let mut walk = Walk::over(live, 0..count);
            writer.retain(&mut |key, value| walk.visit(key, value).is_multiple_of(2))?;
            walk.finish("retain")
        })
    })?;
    refill(
        track,
        live,
        outcome,
        (0..count).filter(|place| place % 2 == 1),
    )
}

/// Phase 11: walks the middle third and takes every other entry; puts them back.
///
/// redb's bounds, 0x55.. and 0xAA.., are those of the middle third if keys are random; places serve all orders.
pub(super) fn extract(track: &mut Track<'_>, live: &Live) -> Result<()> {
    let middle = live.count() / 3..live.count() / 3 * 2;
    let outcome = track.run("extract_if", |stint| {
        stint.ops = middle.end - middle.start;
        let (from, to) = (live.key(middle.start), live.key(middle.end));
        stint.engine.write(Durability::Synced, &mut |writer| {
            let mut walk = Walk::over(live, middle.clone());
            let mut taken = 0;
            let told = writer.extract(from, to, &mut |key, value| {
                let take = walk.visit(key, value) % 2 == 1;
                taken += u64::from(take);
                take
            })?;
            walk.finish("extract")?;
            expect_count("extract", told, taken)
        })
    })?;
    refill(track, live, outcome, middle.filter(|place| place % 2 == 1))
}

/// Phase 12: pops from both ends in turn; puts the entries back.
///
/// As in redb's benchmark, an engine that is slow at it is stopped early, and its rate is that of the pops done. Here
/// one that becomes slow is stopped as well; what it then counts is more than it would have reached.
pub(super) fn pop(track: &mut Track<'_>, live: &Live) -> Result<()> {
    let count = live.count();
    let mut done = 0;
    let outcome = track.run("pop", |stint| {
        let goal = stint.ops.min(count);
        stint.engine.write(Durability::Synced, &mut |writer| {
            let begin = Instant::now();
            done = 0;
            let in_time = |done| match done {
                POPS_MIN => begin.elapsed() <= POPS_LIMIT,
                _ => done % POPS_MIN != 0 || begin.elapsed() <= ALL_POPS_LIMIT,
            };
            while done < goal && in_time(done) {
                let (end, place) = match done % 2 {
                    0 => (End::First, done / 2),
                    _ => (End::Last, count - 1 - done / 2),
                };
                let mut right = false;
                writer.pop(end, &mut |key, value| right = live.is_at(place, key, value))?;
                if !right {
                    return Err(Wrong::error(format!("pop {done} gave another entry")));
                }
                done += 1;
            }
            Ok(())
        })?;
        stint.ops = done;
        Ok(())
    })?;
    let (first, last) = (done.div_ceil(2), done / 2);
    refill(track, live, outcome, (0..first).chain(count - last..count))
}

/// Checks that `removed` is gone, and puts it back.
fn refill(
    track: &mut Track<'_>,
    live: &Live,
    outcome: Outcome,
    removed: impl Iterator<Item = u64> + Clone,
) -> Result<()> {
    if outcome == Outcome::Skipped {
        return Ok(());
    }
    let left = live.count() - removed.clone().count() as u64;
    track.prepare(|engine| {
        expect_count("len after removing", len(engine)?, left)?;
        engine.write(Durability::Synced, &mut |writer| {
            live.put(writer, removed.clone())
        })
    })
}
