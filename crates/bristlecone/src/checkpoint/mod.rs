//! Checkpoint: makes a session's pages the database's state by one header flip.
//!
//! ```text
//! write pages -> write dirty map pages -> sync whole file -> write slot 0 -> sync it -> write slot 1 -> publish
//!                                                                             |
//!                                                                             commit point
//! ```
//! Slot 1 becomes durable with the next whole-file sync, which begins the next flip; a clean close syncs both.
//!
//! # Invariants
//! 1. A header names only pages that a whole-file sync has covered.
//! 2. A slot is written only after a whole-file sync that began after the last write to the other slot returned.
//! 3. Before a failed sync nothing is lost: the session is dropped and the published version stays. After one, or after
//!    a failed header write, the disk is halted.
//! 4. The published version changes only after its slot is durable.
//!
//! # Concurrency
//! The header mutex covers a whole flip; the current-version mutex is held for one pointer copy.

mod header;
mod open;
mod version;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use open::{OpenMode, Options, create_if_unwritten};
pub(crate) use version::{Roots, Version};

use crate::cache::Pager;
use crate::counters::Counters;
use crate::error::Result;
use crate::space::{Session, Space, VersionPin};
use crate::vfs::Disk;
use header::Header;

/// The state of an open database file: its published version and everything needed to replace it.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pager: Arc<Pager>,
    counters: Arc<Counters>,
    /// `None` for a file opened read-only.
    write: Option<WriteSide>,
    current: Mutex<Arc<Version>>,
    /// Whether the file was sound before the first commit; damage found then is no commit's fault.
    #[cfg(feature = "invariants")]
    pub(crate) was_sound: std::sync::OnceLock<bool>,
}

#[derive(Debug)]
struct WriteSide {
    space: Arc<Space>,
    header: Mutex<Header>,
}

/// Stops writing if a user's backend panics in the middle of a flip: what the disk then holds is unknown.
struct HaltOnPanic<'d> {
    disk: &'d Disk,
    /// A flip may run in a destructor while its thread unwinds from something else; only a further panic counts.
    was_panicking: bool,
}

impl HaltOnPanic<'_> {
    fn new(disk: &Disk) -> HaltOnPanic<'_> {
        let was_panicking = std::thread::panicking();
        HaltOnPanic {
            disk,
            was_panicking,
        }
    }
}

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.was_panicking {
            self.disk.halt();
        }
    }
}

impl Checkpoint {
    /// Where pages are read.
    pub(crate) fn pager(&self) -> &Arc<Pager> {
        &self.pager
    }

    /// Counts of what the engine did.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Space of the file; `None` if it was opened read-only.
    pub(crate) fn space(&self) -> Option<&Arc<Space>> {
        self.write.as_ref().map(|side| &side.space)
    }

    fn disk(&self) -> &Disk {
        self.pager.disk()
    }

    /// The published version. Never waits for I/O.
    pub(crate) fn current(&self) -> Arc<Version> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether any snapshot is alive.
    pub(crate) fn has_readers(&self) -> bool {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let older = self.space().is_some_and(|space| space.has_older_readers());
        Arc::strong_count(&current) > 1 || older
    }

    fn write_side(&self) -> Result<&WriteSide> {
        self.write
            .as_ref()
            .ok_or(crate::error::StorageError::Unsupported)
    }

    fn header<'a>(&self, side: &'a WriteSide) -> MutexGuard<'a, Header> {
        side.header.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session, raising the durable ceiling of numbers first where few are left below it.
    ///
    /// # Errors
    /// `PreviousIo` once the disk is halted; `Io` if the ceiling cannot be made durable.
    pub(crate) fn begin_session(&self) -> Result<Session> {
        self.disk().check_writable()?;
        let side = self.write_side()?;
        if side.space.needs_ceiling() {
            let _guard = HaltOnPanic::new(self.disk());
            let mut header = self.header(side);
            let ceiling = side.space.proposed_ceiling()?;
            let token = self.disk().sync_all()?;
            header.settle(&token, &side.space);
            let mut slot = header.newest().clone();
            slot.ceiling = ceiling;
            slot.clean = false;
            header.flip(self.disk(), slot, token, side)?;
            side.space.ceiling_is_durable(ceiling);
        }
        Ok(side.space.begin())
    }

    /// Publishes `roots`, written in `session`, as the next version: the commit point of everything in it.
    ///
    /// # Errors
    /// Before the sync: nothing has changed and the database goes on. From the sync on: the outcome is unknown until
    /// the file is opened again, and writing has stopped.
    ///
    /// # Durability
    /// On return the version is durable and visible.
    pub(crate) fn publish(&self, mut session: Session, roots: Roots) -> Result<Arc<Version>> {
        let side = self.write_side()?;
        let _guard = HaltOnPanic::new(self.disk());
        let mut header = self.header(side);
        let ceiling = side.space.proposed_ceiling()?;
        let settled = side.space.settle(&mut session)?;
        let number = side.space.fresh_number();
        let mut slot = header.newest().clone();
        slot.version = number;
        slot.ceiling = ceiling;
        slot.units = settled.units;
        slot.map = settled.map.top;
        slot.map_height = settled.map.height;
        slot.names = roots.names;
        slot.roots = roots.tables;
        slot.next_table = roots.next_table;
        slot.clean = false;
        let flip = self.disk().sync_all().and_then(|token| {
            header.settle(&token, &side.space);
            header.flip(self.disk(), slot, token, side)
        });
        if let Err(error) = flip {
            // A slot may name what the session wrote; the halt keeps everything else off those pages.
            session.abandon();
            return Err(error);
        }
        side.space.ceiling_is_durable(ceiling);
        let pin = Arc::new(VersionPin(number));
        side.space.flipped(session, &pin);
        let version = Arc::new(Version::new(pin, roots, settled.map));
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&version);
        side.space.reap();
        drop(header);
        self.counters.commits.add_one();
        // The commit is durable; a file that stays longer than needed is no reason to report it as failed.
        let _trimmed = side.space.trim(false);
        Ok(version)
    }

    /// What is wrong with the header slots, read from the disk while no flip runs.
    pub(crate) fn damaged_slots(&self) -> Result<Vec<crate::error::Corruption>> {
        let _header = self.write.as_ref().map(|side| self.header(side));
        open::damaged_slots(self.disk())
    }

    /// Ends writing: trims the file and marks both slots clean, unless nothing was written or writing has stopped.
    ///
    /// # Errors
    /// Any I/O error; everything committed is durable all the same.
    pub(crate) fn close(&self) -> Result {
        let written = match &self.write {
            Some(side) if !self.disk().is_halted() => self.close_written(side),
            _ => Ok(()),
        };
        // The backend is closed whatever happened: its lock must not outlive the database.
        let closed = self.disk().close();
        written.and(closed)
    }

    fn close_written(&self, side: &WriteSide) -> Result {
        let mut header = self.header(side);
        if header.newest().clean {
            return Ok(());
        }
        side.space.reap();
        let token = self.disk().sync_all()?;
        header.settle(&token, &side.space);
        side.space.reap();
        side.space.trim(true)?;
        let mut slot = header.newest().clone();
        slot.clean = true;
        let token = self.disk().sync_all()?;
        header.flip(self.disk(), slot, token, side)?;
        let _whole = self.disk().sync_all()?;
        Ok(())
    }
}
