//! The trait between the engine and the place that keeps its bytes.
//!
//! # Invariants
//! 1. The backend is one growable array of bytes; what was never written inside its length reads as zero.
//! 2. A call does all that was asked or fails; a failed write may have stored any part of its bytes.
//! 3. Reads see every write that returned before they began, synced or not.
//!
//! # Concurrency
//! Reads may run beside anything. The engine never lets two calls that change the same bytes, or the length,
//! overlap in time; writes to different places may overlap with each other and with barriers.

use std::fmt::Debug;
use std::io;

/// One growable array of bytes that keeps a database.
///
/// The methods with a default body are additions for speed or for tests; a backend that leaves them alone is
/// correct. An error from a barrier ([`sync_data`](Self::sync_data), [`sync_range`](Self::sync_range)) is final:
/// the engine stops writing and never asks again, because a system that dropped the data reports it only once.
#[expect(
    clippy::len_without_is_empty,
    reason = "the length is asked of a device, which can fail; emptiness is not a question the engine has"
)]
pub trait StorageBackend: 'static + Debug + Send + Sync {
    /// Returns the length in bytes.
    ///
    /// The length counts what was written, whether it is durable or not. Any thread may call it.
    ///
    /// # Errors
    /// Whatever the storage reports.
    fn len(&self) -> io::Result<u64>;

    /// Fills `out` with the bytes that begin at `offset`.
    ///
    /// Any thread may call it at any time, also while another one writes elsewhere.
    ///
    /// # Errors
    /// `UnexpectedEof` if the range reaches past the end; `out` may then hold anything.
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Sets the length: cuts the tail off, or grows by bytes that read as zero.
    ///
    /// Only a thread that may write calls it, one at a time.
    ///
    /// # Errors
    /// Whatever the storage reports; the length is then the old one or the wanted one.
    ///
    /// # Durability
    /// None until the next [`sync_data`](Self::sync_data).
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes everything that was written before the call durable, and the length with it.
    ///
    /// # Errors
    /// Whatever the storage reports. Any byte written since the last barrier that succeeded may then be lost, now
    /// or at the next power cut, although reads still return it.
    ///
    /// # Durability
    /// All writes, lengths and allocations that returned before the call began survive a power cut once it
    /// returns `Ok`. Of those that overlap with it in time nothing is known.
    fn sync_data(&self) -> io::Result<()>;

    /// Writes `data` at `offset`; the length grows if the range reaches past the end.
    ///
    /// Bytes between the old end and `offset` read as zero. Only a thread that may write calls it.
    ///
    /// # Errors
    /// Whatever the storage reports; any part of the range may have been written.
    ///
    /// # Durability
    /// None until the next barrier: after a power cut each disk sector of the range is the old or the new one,
    /// independently of the others and of other writes.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Lets go of whatever guards the storage, above all a lock on a file.
    ///
    /// Called once, when the database closes and after its last write. Nothing else is called afterwards.
    ///
    /// # Errors
    /// Whatever the storage reports.
    ///
    /// # Durability
    /// None: closing is not a barrier.
    fn close(&self) -> io::Result<()> {
        Ok(())
    }

    /// Makes the `len` bytes at `offset` durable, and says nothing of any other byte.
    ///
    /// A backend may do more; the default syncs everything. The engine asks for it only where it knows the rest to
    /// be durable already or does not care.
    ///
    /// # Errors
    /// As for [`sync_data`](Self::sync_data).
    ///
    /// # Durability
    /// The range as written by calls that returned before this one began, and as much of the length as reading
    /// it takes.
    fn sync_range(&self, offset: u64, len: u64) -> io::Result<()> {
        let _ = (offset, len);
        self.sync_data()
    }

    /// Reserves space for the `len` bytes at `offset`, so that later writes into the range do not fail for lack
    /// of it; the length becomes at least `offset + len`, and what was never written there reads as zero.
    ///
    /// Bytes already written keep their value. Only a thread that may write calls it. The default only sets the
    /// length, which reserves nothing on a file system with holes.
    ///
    /// # Errors
    /// `StorageFull` and the like when there is no room; part of the range may be reserved and the length may
    /// have grown.
    ///
    /// # Durability
    /// None until the next [`sync_data`](Self::sync_data).
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let end = range_end(offset, len)?;
        if self.len()? < end {
            self.set_len(end)?;
        }
        Ok(())
    }

    /// Writes `parts` one after the other from `offset` on, as if they were one buffer.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    ///
    /// # Durability
    /// As for [`write`](Self::write).
    fn write_vectored(&self, offset: u64, parts: &[io::IoSlice<'_>]) -> io::Result<()> {
        let mut position = offset;
        for part in parts.iter().filter(|part| !part.is_empty()) {
            self.write(position, part)?;
            position = range_end(position, u64::try_from(part.len()).unwrap_or(u64::MAX))?;
        }
        Ok(())
    }

    /// Fills `out` with random bytes fit for keys and salts.
    ///
    /// This is the engine's only source of randomness, so that a simulated backend makes a run repeatable.
    ///
    /// # Errors
    /// Whatever the operating system's source reports.
    fn random(&self, out: &mut [u8]) -> io::Result<()> {
        getrandom::fill(out).map_err(io::Error::other)
    }
}

/// The byte after the range, or `InvalidInput` where the sum has no 64-bit value.
pub(super) fn range_end(offset: u64, len: u64) -> io::Result<u64> {
    offset.checked_add(len).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("the range of {len} bytes at {offset} ends past the largest offset"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A backend with the required methods only, so that the defaults run.
    #[derive(Debug, Default)]
    struct Minimal {
        bytes: Mutex<Vec<u8>>,
        syncs: Mutex<u32>,
    }

    impl StorageBackend for Minimal {
        fn len(&self) -> io::Result<u64> {
            Ok(self.bytes.lock().unwrap().len() as u64)
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            out.copy_from_slice(&self.bytes.lock().unwrap()[offset as usize..][..out.len()]);
            Ok(())
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.bytes.lock().unwrap().resize(len as usize, 0);
            Ok(())
        }

        fn sync_data(&self) -> io::Result<()> {
            *self.syncs.lock().unwrap() += 1;
            Ok(())
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            let mut bytes = self.bytes.lock().unwrap();
            let end = offset as usize + data.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[offset as usize..end].copy_from_slice(data);
            Ok(())
        }
    }

    #[test]
    fn default_allocate_grows_and_never_shrinks() {
        let backend = Minimal::default();
        backend.allocate(10, 20).unwrap();
        assert_eq!(backend.len().unwrap(), 30);
        backend.allocate(0, 5).unwrap();
        assert_eq!(backend.len().unwrap(), 30);
        assert_eq!(
            backend.allocate(u64::MAX, 1).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }

    #[test]
    fn default_vectored_write_is_one_write_after_the_other() {
        let backend = Minimal::default();
        let parts = [
            io::IoSlice::new(b"ab"),
            io::IoSlice::new(b""),
            io::IoSlice::new(b"cde"),
        ];
        backend.write_vectored(1, &parts).unwrap();
        let mut out = [0xFF; 6];
        backend.read(0, &mut out).unwrap();
        assert_eq!(&out, b"\0abcde");
    }

    #[test]
    fn default_range_barrier_syncs_everything_and_close_is_quiet() {
        let backend = Minimal::default();
        backend.sync_range(0, 1).unwrap();
        assert_eq!(*backend.syncs.lock().unwrap(), 1);
        backend.close().unwrap();
    }

    #[test]
    fn default_random_fills_all_of_the_buffer() {
        let backend = Minimal::default();
        let (mut one, mut two) = ([0; 32], [0; 32]);
        backend.random(&mut one).unwrap();
        backend.random(&mut two).unwrap();
        assert_ne!(one, two);
    }
}
