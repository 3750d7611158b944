//! Durable commits of one put each, from one, two, four and eight threads: what group commit is worth.

use anyhow::Result;

use super::ending::expect_count;
use super::entries::{Ask, Entries, in_threads, insert_each, len, put_all};
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::{Course, Variant};
use crate::engine::Durability;

/// Durable commits from threads.
pub(super) const COURSE: Course = Course {
    name: "commits",
    about: "durable commits of one put each to a table of n/4 entries, from several threads",
    variants: Variant::ALL,
    rows,
    run,
};

const ROWS: [(&str, u64); 4] = [
    ("threads_1", 1),
    ("threads_2", 2),
    ("threads_4", 4),
    ("threads_8", 8),
];

fn rows(n: u64) -> Vec<Plan> {
    let commits = share(n, 4000, 5) * 8;
    ROWS.iter()
        .map(|&(row, _)| {
            Plan::writes(row, commits, "synced transactions in total").needing_commits()
        })
        .collect()
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let shape = track.shape;
    let mut count = share(track.heat.n, 4, 10);
    track.create(count / 4)?;
    track.prepare(|engine| put_all(engine, shape, 0..count, Durability::Synced))?;
    for (row, threads) in ROWS {
        let commits = track.ops(row);
        let outcome = track.run(row, |stint| {
            let engine = &*stint.engine;
            let each = commits / threads;
            in_threads(threads, |thread| {
                let begin = count + thread * each;
                insert_each(
                    engine,
                    shape,
                    begin..begin + each,
                    1,
                    Durability::Synced,
                    Ask::Nothing,
                )
            })
        })?;
        if outcome == Outcome::Done {
            count += commits;
        }
    }
    let expected = count + track.preloaded_count();
    let mut entries = Entries::new(shape);
    track.prepare(|engine| {
        expect_count("len after commits", len(engine)?, expected)?;
        engine.read(&mut |reader| (0..count).try_for_each(|index| entries.get(reader, index, 0)))
    })
}
