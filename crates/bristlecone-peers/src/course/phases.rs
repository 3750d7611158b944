//! The fifteen phases of redb's benchmark, in its order, and its write phases again asking for old values.
//!
//! Counts are redb's at n = 5,000,000. Two things differ from redb's program: every key and value that comes back is
//! checked, and after a phase that removes entries, those alone are put back that it removed.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::ending::{Declined, Wrong, expect_count};
use super::entries::{Ask, Entries, get_randomly, in_threads, insert_each, len, put_all};
use super::live::{Live, Walk};
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::{Course, Variant};
use crate::data::Shape;
use crate::engine::{Durability, End, Engine};
use crate::meter::size_of;

/// redb's benchmark; writes do not ask for old values.
pub(super) const COURSE: Course = Course {
    name: "phases",
    about: "the fifteen phases of redb's benchmark; writes do not ask for old values",
    variants: Variant::ALL,
    rows,
    run,
};

/// Its write phases alone, asking for old values.
pub(super) const COURSE_OLD_VALUE: Course = Course {
    name: "phases_old_value",
    about: "the same writes, each returning the value that was there",
    variants: Variant::ALL,
    rows: rows_of_writes,
    run: run_old_value,
};

const BATCH: u64 = 1000;
const RANGE_STEPS: u64 = 10;
/// Pops after which a slow engine is stopped, and how long they may take.
const POPS_MIN: u64 = 5000;
const POPS_LIMIT: Duration = Duration::from_secs(1);
/// Bytes of the keys of sorted inserts, which lie past all others.
const LAST_KEY_LEN: usize = 32;

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

/// Where the entries of each write phase lie.
struct Loaded {
    individual: Range<u64>,
    batches: Range<u64>,
    nosync: Range<u64>,
    total: u64,
}

impl Loaded {
    fn at(n: u64) -> Loaded {
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

fn run(track: &mut Track<'_>) -> Result<()> {
    let total = load(track, Ask::Nothing)?;
    read(track, total)?;
    remove(track, total, Ask::Nothing)?;
    let mut ranges = vec![(track.shape, total / 2..total)];
    ranges.extend(track.preloaded.map(|(shape, count)| (shape, 0..count)));
    let live = Live::of(&ranges);
    retain(track, &live)?;
    extract(track, &live)?;
    pop(track, &live)?;
    compact(track)?;
    append(track, live.count())
}

fn run_old_value(track: &mut Track<'_>) -> Result<()> {
    let total = load(track, Ask::OldValue)?;
    remove(track, total, Ask::OldValue)
}

/// Phases 1 to 4. Returns how many entries were stored.
fn load(track: &mut Track<'_>, ask: Ask) -> Result<u64> {
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

/// Phases 5 to 8.
fn read(track: &mut Track<'_>, total: u64) -> Result<()> {
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
    let mut keys = Vec::new();
    engine.read(&mut |reader| {
        keys.clear();
        reader.scan_back(None, &mut |key, _| {
            keys.push(key.to_vec());
            (keys.len() as u64) < RANGE_STEPS
        })
    })?;
    Ok(keys)
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

/// Phase 9.
fn remove(track: &mut Track<'_>, total: u64, ask: Ask) -> Result<()> {
    let mut entries = Entries::new(track.shape);
    let mut remove = |engine: &dyn Engine, ask| {
        engine.write(Durability::Synced, &mut |writer| {
            (0..total / 2).try_for_each(|index| entries.remove(writer, index, ask))
        })
    };
    if track.run("removals", |stint| remove(stint.engine, ask))? == Outcome::Skipped {
        track.prepare(|engine| remove(engine, Ask::Nothing))?;
    }
    let expected = total - total / 2 + track.preloaded_count();
    track.prepare(|engine| expect_count("len after removals", len(engine)?, expected))
}

/// Phase 10: walks all entries and keeps those at even places; puts the others back.
fn retain(track: &mut Track<'_>, live: &Live) -> Result<()> {
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
fn extract(track: &mut Track<'_>, live: &Live) -> Result<()> {
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
/// As in redb's benchmark, an engine that is slow at it is stopped early, and its rate is that of the pops done.
fn pop(track: &mut Track<'_>, live: &Live) -> Result<()> {
    let count = live.count();
    let mut done = 0;
    let outcome = track.run("pop", |stint| {
        let goal = stint.ops.min(count);
        stint.engine.write(Durability::Synced, &mut |writer| {
            let begin = Instant::now();
            done = 0;
            while done < goal && (done != POPS_MIN || begin.elapsed() <= POPS_LIMIT) {
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

/// Phases 13 and 14.
fn compact(track: &mut Track<'_>) -> Result<()> {
    track.record_bytes("uncompacted_size", size_of(&track.dir())?.allocated)?;
    let outcome = track.run("compaction", |stint| match stint.engine.compact()? {
        true => Ok(()),
        false => Err(Declined("it has no call that compacts").into()),
    })?;
    match outcome {
        Outcome::Done => track.record_bytes("compacted_size", size_of(&track.dir())?.allocated),
        Outcome::Skipped => track
            .skip("compacted_size", "it has no call that compacts")
            .map(drop),
    }
}

/// Phase 15, with keys and values made beforehand.
fn append(track: &mut Track<'_>, live: u64) -> Result<()> {
    let count = track.ops("sorted_inserts");
    let shape = track.shape;
    let pairs: Vec<(Vec<u8>, Vec<u8>)> = (0..count)
        .map(|index| {
            let mut key = vec![0xFF; LAST_KEY_LEN - 8];
            key.extend_from_slice(&index.to_be_bytes());
            let mut value = Vec::new();
            shape.value(&key, 0, &mut value);
            (key, value)
        })
        .collect();
    track.run("sorted_inserts", |stint| {
        stint.engine.write(Durability::Synced, &mut |writer| {
            pairs
                .iter()
                .try_for_each(|(key, value)| writer.append(key, value))
        })
    })?;
    track.prepare(|engine| expect_count("len after sorted inserts", len(engine)?, live + count))
}
