//! Sessions: one transaction's dealings with the space of the file, whole from construction.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Space;
use super::dead::Freed;
use crate::counters::Counters;
use crate::error::Result;
use crate::page::{Number, PageId};
use crate::probe;

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
    /// Drawn and freed again when no number was left below the durable ceiling to tell a second write of the place from
    /// the first: given back when the session ends.
    parked: Vec<(PageId, u32)>,
    /// A unit was drawn and freed under the current number: the next draw takes a fresh one, so that no two writes of a
    /// place ever carry the same birth.
    stale_number: bool,
    ending: Ending,
}

/// What becomes of the units drawn when the session is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// All are free again: nothing names them.
    Release,
    /// They are the new version's.
    Flipped,
    /// A header may or may not name them, so nothing is free until the file is opened again.
    Abandoned,
}

impl Session {
    pub(super) fn new(space: &Arc<Space>, number: Number) -> Session {
        Session {
            space: Arc::clone(space),
            number,
            first: number,
            born: BTreeMap::new(),
            freed: Vec::new(),
            parked: Vec::new(),
            stale_number: false,
            ending: Ending::Release,
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
        probe::operated_on_space(1);
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
    ///
    /// Returns whether the place may be written again within this session.
    pub(crate) fn free(&mut self, id: PageId, units: u32, birth: Number) -> bool {
        // A probe of what was drawn, and an entry that leaves it or joins what was freed.
        probe::operated_on_space(2);
        let ours = birth >= self.first && self.born.get(&id.0) == Some(&units);
        if !ours {
            self.freed.push(Freed { id, units, birth });
            return false;
        }
        self.born.remove(&id.0);
        if birth == self.number && !self.space.has_numbers() {
            self.parked.push((id, units));
            return false;
        }
        self.stale_number |= birth == self.number;
        self.space.put_back(id, units);
        true
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
        probe::operated_on_space(1);
        self.born.insert(id.0, units);
    }

    /// Takes back a draw of one unit that was not written; returns whether it was this session's.
    pub(super) fn forget_born(&mut self, id: PageId) -> bool {
        probe::operated_on_space(1);
        self.born.remove(&id.0).is_some()
    }

    pub(super) fn record_freed(&mut self, freed: Freed) {
        probe::operated_on_space(1);
        self.freed.push(freed);
    }

    /// Ends the session by its flip: the units drawn are the new version's.
    pub(super) fn flipped(mut self) -> Vec<Freed> {
        self.ending = Ending::Flipped;
        std::mem::take(&mut self.freed)
    }

    /// Ends the session with its outcome unknown: a header may or may not name what it wrote, so nothing is reused.
    pub(crate) fn abandon(mut self) {
        self.ending = Ending::Abandoned;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.ending == Ending::Abandoned {
            return;
        }
        if self.ending == Ending::Release {
            self.space.release(&self.born);
        }
        for &(id, units) in &self.parked {
            self.space.put_back(id, units);
        }
    }
}
