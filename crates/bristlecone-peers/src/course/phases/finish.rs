//! Phases 13 to 15: sizes before and after compaction, and appends.

use anyhow::Result;

use super::super::ending::{Declined, expect_count};
use super::super::entries::len;
use super::super::track::{Outcome, Track};
use crate::engine::Durability;
use crate::meter::size_of;

/// Bytes of the keys of sorted inserts, which lie past all others.
const LAST_KEY_LEN: usize = 32;

/// Phases 13 and 14.
pub(super) fn compact(track: &mut Track<'_>) -> Result<()> {
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
pub(super) fn append(track: &mut Track<'_>, live: u64) -> Result<()> {
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
        stint
            .engine
            .write(Durability::Synced, &mut |writer| writer.append(&pairs))
    })?;
    track.prepare(|engine| expect_count("len after sorted inserts", len(engine)?, live + count))
}
