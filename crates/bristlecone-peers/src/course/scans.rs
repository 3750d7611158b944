//! Scans over the whole table, forward, backward, and forward again when all of it has been read.

use anyhow::Result;

use super::ending::{Wrong, expect_count};
use super::entries::put_all;
use super::plan::{Plan, share};
use super::track::Track;
use super::{Course, Variant};
use crate::data::Shape;
use crate::engine::{Durability, Engine};

/// Scans.
pub(super) const COURSE: Course = Course {
    name: "scans",
    about: "full scans of n/2 entries, reopened after the load",
    variants: Variant::ALL,
    rows,
    run,
};

fn rows(n: u64) -> Vec<Plan> {
    let count = share(n, 2, 10);
    vec![
        Plan::reads("forward", count, "entries, ascending"),
        Plan::reads("reverse", count, "entries, descending"),
        Plan::reads("forward_again", count, "entries, ascending").median_of(3),
    ]
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let (count, shape) = (track.ops("forward"), track.shape);
    track.create(count / 4)?;
    track.prepare(|engine| put_all(engine, shape, 0..count, Durability::Synced))?;
    track.close()?;
    track.open()?;
    let all = count + track.preloaded_count();
    for (row, way) in [
        ("forward", Way::Forward),
        ("reverse", Way::Reverse),
        ("forward_again", Way::Forward),
    ] {
        track.run(row, |stint| {
            stint.ops = all;
            scan(stint.engine, shape, way, all)
        })?;
    }
    Ok(())
}

/// The direction of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Ascending.
    Forward,
    /// Descending.
    Reverse,
}

/// Scans the whole table, which must hold `count` entries at revision 0 in order.
pub(super) fn scan(engine: &dyn Engine, shape: Shape, way: Way, count: u64) -> Result<()> {
    let (mut seen, mut right) = (0, true);
    let mut last = Vec::new();
    engine.read(&mut |reader| {
        (seen, right) = (0, true);
        last.clear();
        let mut see = |key: &[u8], value: &[u8]| {
            let ordered = match way {
                Way::Forward => key > last.as_slice(),
                Way::Reverse => key < last.as_slice(),
            };
            right &= (ordered || seen == 0) && shape.revision(key, value) == Some(0);
            last.clear();
            last.extend_from_slice(key);
            seen += 1;
            true
        };
        match way {
            Way::Forward => reader.scan(None, &mut see),
            Way::Reverse => reader.scan_back(None, &mut see),
        }
    })?;
    if !right {
        return Err(Wrong::error(format!("{way:?} scan met a wrong entry")));
    }
    expect_count("entries of a scan", seen, count)
}
