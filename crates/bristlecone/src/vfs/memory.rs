//! A backend that keeps everything in memory and forgets it when dropped.
//!
//! # Concurrency
//! One read-write lock around the bytes; each call holds it once.

use std::io::{self, ErrorKind};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::backend::{StorageBackend, range_end};
use super::transfer::past_the_end;

/// A [`StorageBackend`] in memory. Nothing outlives it; barriers do nothing.
#[derive(Debug, Default)]
pub struct InMemoryBackend {
    bytes: RwLock<Vec<u8>>,
}

impl InMemoryBackend {
    /// Returns an empty backend.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    // No call below can panic between two changes, so the bytes behind a poisoned lock are whole.
    fn shared(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.bytes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StorageBackend for InMemoryBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(to_u64(self.shared().len()))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.shared();
        let found = usize::try_from(offset)
            .ok()
            .and_then(|start| bytes.get(start..start.checked_add(out.len())?));
        match found {
            Some(found) => {
                out.copy_from_slice(found);
                Ok(())
            }
            None => Err(past_the_end(offset, out.len())),
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        resize(&mut self.exclusive(), len)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = range_end(offset, to_u64(data.len()))?;
        let mut bytes = self.exclusive();
        if to_u64(bytes.len()) < end && !data.is_empty() {
            resize(&mut bytes, end)?;
        }
        let place = usize::try_from(offset)
            .ok()
            .and_then(|start| bytes.get_mut(start..start.checked_add(data.len())?));
        if let Some(place) = place {
            place.copy_from_slice(data);
        }
        Ok(())
    }
}

/// Sets the length, or fails without a change where memory does not suffice.
fn resize(bytes: &mut Vec<u8>, len: u64) -> io::Result<()> {
    let wanted = usize::try_from(len).map_err(|_| ErrorKind::OutOfMemory)?;
    let growth = wanted.saturating_sub(bytes.len());
    bytes
        .try_reserve(growth)
        .map_err(|_| ErrorKind::OutOfMemory)?;
    bytes.resize(wanted, 0);
    Ok(())
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(backend: &InMemoryBackend) -> Vec<u8> {
        let mut out = vec![0xFF; usize::try_from(backend.len().unwrap()).unwrap()];
        backend.read(0, &mut out).unwrap();
        out
    }

    #[test]
    fn writes_grow_and_gaps_read_as_zero() {
        let backend = InMemoryBackend::new();
        backend.write(3, b"abc").unwrap();
        backend.write(4, b"x").unwrap();
        backend.write(100, b"").unwrap();
        backend.sync_data().unwrap();
        assert_eq!(contents(&backend), b"\0\0\0axc");
    }

    #[test]
    fn length_cuts_and_grows_by_zeros() {
        let backend = InMemoryBackend::new();
        backend.write(0, b"abcdef").unwrap();
        backend.set_len(2).unwrap();
        backend.set_len(4).unwrap();
        assert_eq!(contents(&backend), b"ab\0\0");
        backend.allocate(2, 4).unwrap();
        assert_eq!(contents(&backend), b"ab\0\0\0\0");
    }

    #[test]
    fn reads_past_the_end_are_errors() {
        let backend = InMemoryBackend::new();
        backend.write(0, b"abc").unwrap();
        for offset in [1, 3, 4, u64::MAX] {
            let error = backend.read(offset, &mut [0; 3]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        }
        backend.read(3, &mut []).unwrap();
    }

    #[test]
    fn impossible_lengths_are_errors_without_a_change() {
        let backend = InMemoryBackend::new();
        backend.write(0, b"abc").unwrap();
        assert_eq!(
            backend.set_len(u64::MAX).unwrap_err().kind(),
            ErrorKind::OutOfMemory
        );
        assert_eq!(
            backend.write(u64::MAX, b"ab").unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(contents(&backend), b"abc");
    }
}
