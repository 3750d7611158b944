//! A queue: entries are put past the last and taken from the front; its length stays the same.
//!
//! The first and the last quarter show whether it gets slower as removed entries pile up at the front.

use std::ops::Range;

use anyhow::Result;

use super::ending::Wrong;
use super::entries::{Entries, put_all};
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::{Course, Variant};
use crate::data::{KeyOrder, Shape};
use crate::engine::{Durability, End, Engine};

/// A queue.
pub(super) const COURSE: Course = Course {
    name: "queue",
    about: "a queue of n/20 entries; synced transactions of 100 pushes and 100 pops",
    variants: Variant::OF_FIXED_ORDER,
    rows,
    run,
};

const PER_TXN: u64 = 100;

fn rows(n: u64) -> Vec<Plan> {
    let quarter = share(n, 4000, 1) * PER_TXN;
    vec![
        Plan::writes("first_quarter", quarter, "pushes, each with a pop").needing_commits(),
        Plan::writes("middle", quarter * 2, "pushes, each with a pop").needing_commits(),
        Plan::writes("last_quarter", quarter, "pushes, each with a pop").needing_commits(),
    ]
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let length = share(track.heat.n, 20, PER_TXN);
    track.shape.order = KeyOrder::Ascending;
    let shape = track.shape;
    track.create(length)?;
    track.prepare(|engine| put_all(engine, shape, 0..length, Durability::Synced))?;
    let mut front = 0;
    for row in ["first_quarter", "middle", "last_quarter"] {
        let pops = front..front + track.ops(row);
        let outcome = track.run(row, |stint| {
            turn_over(stint.engine, shape, pops.clone(), length)
        })?;
        if outcome == Outcome::Done {
            front = pops.end;
        }
    }
    Ok(())
}

/// Pops these entries, and pushes as many at the other end.
fn turn_over(engine: &dyn Engine, shape: Shape, pops: Range<u64>, length: u64) -> Result<()> {
    let mut entries = Entries::new(shape);
    for begin in pops.step_by(PER_TXN as usize) {
        engine.write(Durability::Synced, &mut |writer| {
            (begin..begin + PER_TXN).try_for_each(|front| {
                entries.put(writer, front + length, 0)?;
                let expected = entries.key(front);
                let mut right = false;
                writer.pop(End::First, &mut |key, value| {
                    right = key == expected && shape.revision(key, value) == Some(0);
                })?;
                match right {
                    true => Ok(()),
                    false => Err(Wrong::error(format!(
                        "the queue's front was not entry {front}"
                    ))),
                }
            })
        })?;
    }
    Ok(())
}
