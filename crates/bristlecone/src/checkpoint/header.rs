//! The two header slots: which one says what, and when each may be written.

use super::WriteSide;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::UNIT_BYTES;
use crate::page::slot::Slot;
use crate::space::Space;
use crate::vfs::{Disk, WholeSync, WriteStamp};

/// Byte offset of slot `idx`.
pub(crate) fn slot_offset(idx: usize) -> u64 {
    int::wide(idx * UNIT_BYTES)
}

/// The slots of an open file, and the order of their last writes.
#[derive(Debug)]
pub(crate) struct Header {
    newest: Slot,
    /// When each slot was last written; `None` if not since a barrier that covered it.
    unsettled: [Option<WriteStamp>; 2],
}

impl Header {
    /// The header of a file whose slots both say `newest` and are both durable.
    pub(super) fn new(newest: Slot) -> Header {
        Header {
            newest,
            unsettled: [None, None],
        }
    }

    /// What the newest slot says.
    pub(crate) fn newest(&self) -> &Slot {
        &self.newest
    }

    /// Notes what a whole-file sync has made durable.
    pub(crate) fn settle(&mut self, token: &WholeSync, space: &Space) {
        for (idx, stamp) in self.unsettled.iter_mut().enumerate() {
            if stamp.is_some_and(|stamp| token.covers(stamp)) {
                *stamp = None;
                space.slot_settled(idx);
            }
        }
    }

    /// Writes `slot` to slot 0, makes it durable, and writes it to slot 1.
    ///
    /// # Panics
    /// If `token` does not cover the last write to slot 1 (checkpoint invariant 2).
    pub(super) fn flip(
        &mut self,
        disk: &Disk,
        mut slot: Slot,
        token: WholeSync,
        side: &WriteSide,
    ) -> Result {
        let covered = self.unsettled[1].is_none_or(|stamp| token.covers(stamp));
        assert!(covered, "checkpoint invariant (2)");
        slot.generation = self.newest.generation + 1;
        if slot.generation > int::U48_MAX {
            return Err(Corruption::new("generations of the header are used up").into());
        }
        let block = slot.encode();
        side.space.slot_written(0, slot.version);
        self.write_slot(disk, 0, &block, side)?;
        disk.sync_range(slot_offset(0), int::wide(UNIT_BYTES))?;
        self.unsettled[0] = None;
        side.space.slot_settled(0);
        side.space.slot_written(1, slot.version);
        self.newest = slot;
        self.write_slot(disk, 1, &block, side)
    }

    fn write_slot(&mut self, disk: &Disk, idx: usize, block: &[u8], side: &WriteSide) -> Result {
        self.unsettled[idx] = Some(disk.write_header(slot_offset(idx), block)?);
        side.space.counters().header_writes.add_one();
        Ok(())
    }
}
