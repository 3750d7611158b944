//! Memory of the process after a bulk load, and after a full scan of what was loaded.

use anyhow::Result;

use super::entries::put_all;
use super::plan::{Plan, share};
use super::scans::{Way, scan};
use super::track::Track;
use super::{Course, Variant};
use crate::engine::Durability;
use crate::meter::memory;

/// Memory.
pub(super) const COURSE: Course = Course {
    name: "memory",
    about: "memory of the process that loads n/2 entries in one transaction, then scans them",
    variants: Variant::ALL,
    rows,
    run,
};

fn rows(_n: u64) -> Vec<Plan> {
    vec![
        Plan::bytes(
            "peak_after_load",
            "most that was resident, mapped files included",
        ),
        Plan::bytes("anonymous_after_load", "resident, of no file"),
        Plan::bytes(
            "peak_after_scan",
            "most that was resident, mapped files included",
        ),
        Plan::bytes("anonymous_after_scan", "resident, of no file"),
    ]
}

fn run(track: &mut Track<'_>) -> Result<()> {
    let (count, shape) = (share(track.heat.n, 2, 10), track.shape);
    track.create(count / 4)?;
    track.prepare(|engine| put_all(engine, shape, 0..count, Durability::Synced))?;
    let loaded = memory()?;
    track.record_bytes("peak_after_load", loaded.peak)?;
    track.record_bytes("anonymous_after_load", loaded.anonymous)?;
    let all = count + track.preloaded_count();
    track.prepare(|engine| scan(engine, shape, Way::Forward, all))?;
    let scanned = memory()?;
    track.record_bytes("peak_after_scan", scanned.peak)?;
    track.record_bytes("anonymous_after_scan", scanned.anonymous)
}
