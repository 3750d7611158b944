//! The allocator's state: what is in use, what the next header will say, and how far the file reaches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Session;
use super::bitmap::UnitMap;
use super::dead::{LiveVersions, VersionPin};
use super::map_tree::{MapRoot, MapTree};
use crate::counters::Counters;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::{Number, PageId, UNIT_BYTES};
use crate::probe;
use crate::vfs::Disk;

/// Units taken by the two header slots.
pub(crate) const HEADER_UNITS: u64 = 2;
/// Least and most units that the file grows by at a time: 64 KiB and 64 MiB.
const GROWTH_UNITS_MIN: u64 = 16;
const GROWTH_UNITS_MAX: u64 = 16 << 10;
/// Numbers that a header write reserves ahead of use.
const NUMBERS_AHEAD: u64 = 1 << 20;

/// The counter of sessions and versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Next number to use.
    pub(crate) next: Number,
    /// What a header says no number reaches.
    pub(crate) ceiling: Number,
}

/// What the header needs to know of the space once a session is settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled {
    /// Root of the map that describes the new version.
    pub(crate) map: MapRoot,
    /// Units up to the last reachable one.
    pub(crate) units: u64,
}

/// What the one mutex of the space guards.
#[derive(Debug)]
pub(super) struct State {
    /// Reachable from the published version, pending, or drawn by a session.
    pub(super) used: UnitMap,
    /// Reachable from the published version (during a flip: from the one about to be).
    pub(super) durable: UnitMap,
    pub(super) map: MapTree,
    live: LiveVersions,
    file_units: u64,
    /// One past the highest unit ever drawn, to tell reuse from growth.
    high_water: u64,
    numbers: Numbers,
}

/// Space of one database file.
#[derive(Debug)]
pub(crate) struct Space {
    pub(super) disk: Arc<Disk>,
    state: Mutex<State>,
    counters: Arc<Counters>,
}

impl Space {
    /// The space of a file whose published version reaches `durable`, as its map at `map` says.
    pub(crate) fn new(
        disk: &Arc<Disk>,
        durable: UnitMap,
        map: MapTree,
        numbers: Numbers,
        counters: &Arc<Counters>,
    ) -> Result<Arc<Space>> {
        let mut used = durable.clone();
        used.insert(0, HEADER_UNITS);
        let file_units = disk.len()? / int::wide(UNIT_BYTES);
        let high_water = used.end();
        let state = State {
            used,
            durable,
            map,
            live: LiveVersions::default(),
            file_units,
            high_water,
            numbers,
        };
        Ok(Arc::new(Space {
            disk: Arc::clone(disk),
            state: Mutex::new(state),
            counters: Arc::clone(counters),
        }))
    }

    /// The state, locked.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Only the backend's calls could panic under the lock, and each is made before or after a change, not within.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts of what the engine did.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Begins a session; the caller has made sure that numbers are left ([`Space::needs_ceiling`]).
    pub(crate) fn begin(self: &Arc<Space>) -> Session {
        Session::new(self, self.fresh_number())
    }

    /// Takes the next number.
    pub(crate) fn fresh_number(&self) -> Number {
        let mut state = self.state();
        let number = state.numbers.next;
        assert!(number < state.numbers.ceiling, "space invariant (5)");
        state.numbers.next = Number(number.0 + 1);
        number
    }

    /// Whether numbers are left beyond what a flip itself needs.
    pub(super) fn has_numbers(&self) -> bool {
        let numbers = self.state().numbers;
        numbers.next.0 + 16 < numbers.ceiling.0
    }

    /// Whether a header write should raise the ceiling before the next session begins.
    pub(crate) fn needs_ceiling(&self) -> bool {
        let numbers = self.state().numbers;
        numbers.ceiling.0.saturating_sub(numbers.next.0) < NUMBERS_AHEAD / 2
    }

    /// The ceiling that the next header write should name.
    ///
    /// # Errors
    /// `Corrupted` if a header has used up numbers that no database lives long enough to use.
    pub(crate) fn proposed_ceiling(&self) -> Result<Number> {
        let numbers = self.state().numbers;
        if numbers.ceiling.0.saturating_sub(numbers.next.0) >= NUMBERS_AHEAD / 2 {
            return Ok(numbers.ceiling);
        }
        let ceiling = numbers.next.0.saturating_add(NUMBERS_AHEAD);
        if ceiling > int::U48_MAX {
            return Err(Corruption::new("numbers of sessions and versions are used up").into());
        }
        Ok(Number(ceiling))
    }

    /// Notes that a header that names `ceiling` is durable.
    pub(crate) fn ceiling_is_durable(&self, ceiling: Number) {
        let mut state = self.state();
        state.numbers.ceiling = state.numbers.ceiling.max(ceiling);
    }

    /// Draws the lowest free run of `units` units.
    pub(super) fn draw(&self, units: u32) -> Result<PageId> {
        let mut state = self.state();
        let start = state.used.find_absent(u64::from(units));
        let end = start + u64::from(units);
        if end > state.file_units {
            state.file_units = self.grow(state.file_units, end)?;
        }
        let absent = state.used.insert(start, u64::from(units));
        assert!(absent && start >= HEADER_UNITS, "space invariant (2)");
        if start < state.high_water {
            self.counters.pages_reused.add_one();
        }
        state.high_water = state.high_water.max(end);
        Ok(PageId(start))
    }

    /// Grows the file to at least `needed` units, ahead of need where the disk has room.
    fn grow(&self, current: u64, needed: u64) -> Result<u64> {
        let ahead = (current / 8).clamp(GROWTH_UNITS_MIN, GROWTH_UNITS_MAX);
        let unit = int::wide(UNIT_BYTES);
        let target = needed.max(current + ahead);
        match self
            .disk
            .allocate(current * unit, (target - current) * unit)
        {
            Ok(()) => Ok(target),
            Err(error) if error.is_disk_full() && target > needed => {
                self.disk
                    .allocate(current * unit, (needed - current) * unit)?;
                Ok(needed)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns units that a session drew and freed again.
    pub(super) fn put_back(&self, id: PageId, units: u32) {
        let present = self.state().used.remove(id.0, u64::from(units));
        debug_assert!(present, "space invariant (3)");
    }

    /// Returns everything that a session without a flip drew.
    pub(super) fn release(&self, born: &BTreeMap<u64, u32>) {
        let mut state = self.state();
        for (&id, &units) in born {
            probe::operated_on_space(1);
            state.used.remove(id, u64::from(units));
        }
    }

    /// Ends a session whose version is published under `pin`.
    pub(crate) fn flipped(&self, session: Session, pin: &Arc<VersionPin>) {
        let freed = session.flipped();
        let mut state = self.state();
        state.map.written();
        let unreached = state.live.bury(pin.0, freed);
        state.live.register(pin);
        for page in unreached {
            probe::operated_on_space(1);
            state.used.remove(page.id.0, u64::from(page.units));
        }
        self.reap_locked(&mut state);
    }

    /// Registers the version found at open.
    pub(crate) fn opened(&self, pin: &Arc<VersionPin>) {
        self.state().live.register(pin);
    }

    /// Notes that header slot `idx` was written with `version`.
    pub(crate) fn slot_written(&self, idx: usize, version: Number) {
        self.state().live.slot_written(idx, version);
    }

    /// Notes that header slot `idx` is durable as last written.
    pub(crate) fn slot_settled(&self, idx: usize) {
        self.state().live.slot_settled(idx);
    }

    /// Frees what departed versions alone reached.
    pub(crate) fn reap(&self) {
        self.reap_locked(&mut self.state());
    }

    fn reap_locked(&self, state: &mut State) {
        for page in state.live.reap() {
            probe::operated_on_space(1);
            let present = state.used.remove(page.id.0, u64::from(page.units));
            debug_assert!(present, "space invariant (4)");
        }
    }

    /// Cuts free units off the end of the file: all of them, or all but the slack that growth would add again.
    pub(crate) fn trim(&self, all: bool) -> Result {
        let mut state = self.state();
        let end = state.used.end();
        let slack = if all {
            0
        } else {
            (end / 8).clamp(GROWTH_UNITS_MIN, GROWTH_UNITS_MAX)
        };
        if state.file_units > end + 2 * slack {
            self.disk.truncate((end + slack) * int::wide(UNIT_BYTES))?;
            state.file_units = end + slack;
        }
        Ok(())
    }

    /// Whether a version other than the published one is held.
    pub(crate) fn has_older_readers(&self) -> bool {
        self.state().live.held_count() > 1
    }

    /// Units reachable, pending and in the file.
    pub(crate) fn usage(&self) -> Usage {
        let state = self.state();
        Usage {
            reachable: state.durable.count() + HEADER_UNITS,
            pending: state.live.pending_units(),
        }
    }

    #[cfg(feature = "invariants")]
    /// Fails unless used = durable + pending + drawn, each unit once (space invariants 2 and 4).
    pub(crate) fn check_accounts(&self) -> Result {
        let state = self.state();
        let mut sum = state.durable.clone();
        sum.insert(0, HEADER_UNITS);
        for page in state.live.lists() {
            if !sum.insert(page.id.0, u64::from(page.units)) {
                return Err(
                    Corruption::new("unit is pending twice, or pending and reachable")
                        .page(page.id.0)
                        .into(),
                );
            }
        }
        match sum.difference(&state.used, 1).first() {
            None => Ok(()),
            Some(&unit) => Err(Corruption::new("unit is lost or used without an owner")
                .page(unit)
                .into()),
        }
    }
}

/// Units of the file by state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Reachable from the published version, header included.
    pub(crate) reachable: u64,
    /// Freed, but still reached by an older live version.
    pub(crate) pending: u64,
}
