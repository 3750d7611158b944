//! Sessions: one transaction's dealings with the space of the file, whole from construction.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Space;
use super::dead::Freed;
use crate::counters::Counters;
use crate::error::Result;
use crate::page::{Number, PageId};

/// What a session has drawn and freed.
///
/// Dropping it before its flip returns every unit it drew; what it freed was never given up.
#[derive(Debug)]
pub(crate) struct Session {
    space: Arc<Space>,
    /// Number of the pages written next; the first is the session's own.
    number: Number,
    first: Number,
    born: BTreeMap<u64, u32>,
    freed: Vec<Freed>,
    /// Drawn and freed when no number was left to tell two writes of a place apart: free when the session has ended.
    spent: BTreeMap<u64, u32>,
    /// A unit was drawn and freed under the current number: the next draw takes a fresh one, so that no two writes of a
    /// place ever carry the same birth.
    stale_number: bool,
    /// Whether the units drawn stay drawn when the session ends.
    kept: bool,
}

impl Session {
    pub(super) fn new(space: &Arc<Space>, number: Number) -> Session {
        Session {
            space: Arc::clone(space),
            number,
            first: number,
            born: BTreeMap::new(),
            freed: Vec::new(),
            spent: BTreeMap::new(),
            stale_number: false,
            kept: false,
        }
    }

    /// Birth of the pages written next.
    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// The session's first number, above that of every page written before it.
    pub(super) fn first(&self) -> Number {
        self.first
    }

    /// Counts of what the engine did.
    pub(crate) fn counters(&self) -> &Counters {
        self.space.counters()
    }

    /// Draws the lowest free run of `units` units, growing the file if there is none.
    ///
    /// # Errors
    /// `Io` if the file cannot grow; nothing is drawn then.
    pub(crate) fn allocate(&mut self, units: u32) -> Result<PageId> {
        self.refresh_number();
        let id = self.space.draw(units)?;
        let previous = self.born.insert(id.0, units);
        debug_assert!(previous.is_none(), "space invariant (2)");
        Ok(id)
    }

    /// Takes a fresh number if a place written under the current one may be written again.
    pub(super) fn refresh_number(&mut self) {
        if self.stale_number {
            self.number = self.space.fresh_number();
            self.stale_number = false;
        }
    }

    /// Frees a page or extent: at once if this session drew it, at the flip otherwise.
    pub(crate) fn free(&mut self, id: PageId, units: u32, birth: Number) {
        let ours = birth >= self.first && self.born.get(&id.0) == Some(&units);
        if !ours {
            self.freed.push(Freed { id, units, birth });
            return;
        }
        self.born.remove(&id.0);
        if birth == self.number && !self.space.has_numbers() {
            self.spent.insert(id.0, units);
            return;
        }
        self.stale_number |= birth == self.number;
        self.space.put_back(id, units);
    }

    /// Units drawn, by first unit.
    pub(super) fn born(&self) -> &BTreeMap<u64, u32> {
        &self.born
    }

    /// Units freed.
    pub(super) fn freed(&self) -> &[Freed] {
        &self.freed
    }

    pub(super) fn record_born(&mut self, id: PageId, units: u32) {
        self.born.insert(id.0, units);
    }

    pub(super) fn record_freed(&mut self, freed: Freed) {
        self.freed.push(freed);
    }

    /// Ends the session by its flip: the units drawn are the new version's.
    pub(super) fn flipped(mut self) -> Vec<Freed> {
        self.kept = true;
        self.space.release(&self.spent);
        std::mem::take(&mut self.freed)
    }

    /// Ends the session with its outcome unknown: a header may or may not name what it wrote, so nothing is reused.
    pub(crate) fn abandon(mut self) {
        self.kept = true;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.kept {
            self.space.release(&self.born);
            self.space.release(&self.spent);
        }
    }
}
