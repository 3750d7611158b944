//! Positioned I/O for any system: seek, then read or write, under one mutex.
//!
//! # Concurrency
//! The mutex makes the pair of calls one; it is held for one transfer, never across two.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The right to move a file's position.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    guard: Mutex<()>,
}

impl Cursor {
    /// Reads some bytes at `offset`.
    pub(super) fn read_at(
        &self,
        mut file: &File,
        out: &mut [u8],
        offset: u64,
    ) -> io::Result<usize> {
        let _position = self.hold();
        file.seek(SeekFrom::Start(offset))?;
        file.read(out)
    }

    /// Writes some bytes at `offset`.
    pub(super) fn write_at(&self, mut file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
        let _position = self.hold();
        file.seek(SeekFrom::Start(offset))?;
        file.write(data)
    }

    // The guarded value is empty: a panic elsewhere leaves nothing half done, so poison carries no news.
    fn hold(&self) -> MutexGuard<'_, ()> {
        self.guard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
