//! Closing and opening: after a clean close, and after the process was killed in mid-write.
//!
//! The process that is killed is a child, the [`victim`](super::victim). It acknowledges each commit on its output; every
//! acknowledged entry must be there afterwards, and a transaction that was not acknowledged must be there whole or not
//! at all.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::ending::{Wrong, expect_count};
use super::entries::{Entries, len, put_all};
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::victim::PER_TXN;
use super::{Course, Variant};
use crate::data::mix;
use crate::engine::{Durability, Engine};

/// Closing and opening.
pub(super) const COURSE: Course = Course {
    name: "reopen",
    about: "n/4 entries; closes, opens, and opens after the writing process was killed",
    variants: Variant::ALL,
    rows,
    run,
};

fn rows(_n: u64) -> Vec<Plan> {
    vec![
        Plan::seconds("close", "clean close after the load"),
        Plan::seconds("open_after_close", "open and one get"),
        Plan::seconds("open_after_kill", "open and one get").needing_commits(),
    ]
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let (count, shape) = (share(track.heat.n, 4, 10), track.shape);
    track.create(count / 4)?;
    track.prepare(|engine| put_all(engine, shape, 0..count, Durability::Synced))?;
    track.run_whole("close", |track| track.close())?;
    let open = |track: &mut Track<'_>| {
        track.open()?;
        let mut entries = Entries::new(shape);
        track.with(|engine| engine.read(&mut |reader| entries.get(reader, count / 2, 0)))
    };
    track.run_whole("open_after_close", open)?;
    track.close()?;

    let mut acknowledged = 0;
    if track.promises_commits() {
        acknowledged = kill_in_mid_write(track, count)?;
    }
    if track.run_whole("open_after_kill", open)? == Outcome::Done {
        let preloaded = track.preloaded_count();
        let whole = track.contender().promises.transactions;
        track.prepare(|engine| {
            let mut entries = Entries::new(shape);
            let more = verify(engine, &mut entries, count, acknowledged, whole)?;
            let expected = preloaded + count + acknowledged * PER_TXN + more;
            expect_count("len after the kill", len(engine)?, expected)
        })?;
    }
    Ok(())
}

/// Starts the victim and kills it while it commits. Returns how many transactions it had acknowledged.
fn kill_in_mid_write(track: &Track<'_>, count: u64) -> Result<u64> {
    let heat = track.heat;
    let goal = share(heat.n, 20_000, 10);
    let mut victim = Command::new(std::env::current_exe().context("finding this program")?)
        .arg("victim")
        .arg(serde_json::to_string(heat)?)
        .arg(count.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting the victim")?;
    let mut lines =
        BufReader::new(victim.stdout.take().context("the victim has no output")?).lines();
    let mut acknowledged = 0;
    for line in lines.by_ref().take(goal as usize) {
        acknowledged = line?.parse::<u64>().context("reading an acknowledgement")?;
    }
    // Somewhere in a transaction, another place in each round.
    sleep(Duration::from_micros(mix(u64::from(heat.round)) % 2000));
    victim.kill().context("killing the victim")?;
    victim.wait().context("waiting for the victim")?;
    for line in lines {
        acknowledged = line?.parse::<u64>().context("reading an acknowledgement")?;
    }
    ensure!(
        acknowledged >= goal,
        "the victim ended by itself after {acknowledged} transactions"
    );
    Ok(acknowledged)
}

/// Checks all entries after a kill; returns how many there are of the transaction that was not acknowledged.
fn verify(
    engine: &dyn Engine,
    entries: &mut Entries,
    count: u64,
    acknowledged: u64,
    whole: bool,
) -> Result<u64> {
    let end = count + acknowledged * PER_TXN;
    let mut more = 0;
    engine.read(&mut |reader| {
        (0..end).try_for_each(|index| entries.get(reader, index, 0))?;
        more = 0;
        for index in end..end + PER_TXN {
            more += u64::from(entries.has(reader, index, 0)?);
        }
        Ok(())
    })?;
    if whole && more != 0 && more != PER_TXN {
        let text = format!("{more} of {PER_TXN} entries of a transaction survived the kill");
        return Err(Wrong::error(text));
    }
    Ok(more)
}
