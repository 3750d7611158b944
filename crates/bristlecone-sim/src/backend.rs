//! The engine's door to a simulated disk.

use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicBool, Ordering};

use bristlecone::StorageBackend;

use crate::disk::SimDisk;

/// A [`StorageBackend`] on a [`SimDisk`], good until the process it stands for is killed.
#[derive(Debug)]
pub struct SimBackend {
    disk: SimDisk,
    /// The process that opened it; the disk refuses those of killed ones.
    process: u64,
    /// Set by `close`, read by every call. Relaxed: a call that races with `close` breaks the contract anyway.
    is_closed: AtomicBool,
}

impl SimBackend {
    pub(crate) fn new(disk: SimDisk, process: u64) -> Self {
        Self {
            disk,
            process,
            is_closed: AtomicBool::new(false),
        }
    }

    fn usable(&self) -> io::Result<()> {
        if self.is_closed.load(Ordering::Relaxed) {
            self.disk.count_after_close();
            return Err(io::Error::other("the simulated backend is closed"));
        }
        self.disk.admit(self.process)
    }
}

impl StorageBackend for SimBackend {
    fn len(&self) -> io::Result<u64> {
        self.usable()?;
        Ok(self.disk.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.usable()?;
        self.disk.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.usable()?;
        self.disk.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.usable()?;
        self.disk.sync(None)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.usable()?;
        self.disk.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.is_closed.store(true, Ordering::Relaxed);
        self.disk.count_close();
        self.disk.admit(self.process)
    }

    fn sync_range(&self, offset: u64, len: u64) -> io::Result<()> {
        self.usable()?;
        self.disk.sync(Some((offset, len)))
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.usable()?;
        self.disk.allocate(offset, len)
    }

    fn write_vectored(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.usable()?;
        // One call of the system: it counts once and may tear anywhere.
        let data: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        self.disk.write(offset, &data)
    }

    fn random(&self, out: &mut [u8]) -> io::Result<()> {
        self.usable()?;
        self.disk.random(out);
        Ok(())
    }
}
