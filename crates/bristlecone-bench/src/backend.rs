//! A counting backend in memory: what an engine asked of its disk, with room for ten million pages of mostly zeros.
//!
//! The bytes are kept by blocks of 4 KiB, of each only the lines of 64 bytes that are not all zero. A page that holds
//! one large value of zeros then takes some two hundred bytes, and an unwritten block none.
//!
//! # What is counted
//! - a write: each call of `write` or `write_vectored`, however long; its bytes, zeros included, so that a log that is
//!   filled with zeros ahead of use pays for it;
//! - a sync: each `sync_data` and `sync_range`. A synchronous write of a range is one write and one sync;
//! - neither: `set_len` and `allocate`, which move no bytes.
//!
//! What the backend allocates for itself is counted apart, so that a figure of the engine's allocations can leave it
//! out.
//!
//! # Invariants
//! 1. A block's packed bytes are its lines that are not all zero, in order, one bit of the mask for each.
//! 2. Bytes past the length are zero in every block kept.
//!
//! # Concurrency
//! One read-write lock around the bytes; the counts are atomics that order nothing. Random bytes come from a counter,
//! so that every run of a figure sees the same ones.

use std::io::{self, ErrorKind, IoSlice};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Result;
use bristlecone::{Builder, Database, StorageBackend};

use crate::allocations;

/// The memory that every figure's database may use.
pub(crate) const BUDGET_BYTES: usize = 1 << 30;

/// Bytes of a block, the unit of what is kept.
const BLOCK_BYTES: usize = 4096;
/// Bytes of a line, the smallest run of zeros that is left out; a block has one line per bit of a word.
const LINE_BYTES: usize = BLOCK_BYTES / 64;

const ZERO_LINE: [u8; LINE_BYTES] = [0; LINE_BYTES];

/// What was asked of a [`CountingBackend`] so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiskCounts {
    /// Calls that wrote.
    pub(crate) writes: u64,
    /// Barriers, whole or of a range.
    pub(crate) syncs: u64,
    /// Bytes written.
    pub(crate) bytes: u64,
}

impl DiskCounts {
    /// What was asked between `earlier` and these counts.
    pub(crate) fn since(self, earlier: DiskCounts) -> DiskCounts {
        DiskCounts {
            writes: self.writes - earlier.writes,
            syncs: self.syncs - earlier.syncs,
            bytes: self.bytes - earlier.bytes,
        }
    }
}

/// A backend in memory that counts. Clones share bytes and counts: one for the database, one for whoever asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountingBackend {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    content: RwLock<Content>,
    writes: AtomicU64,
    syncs: AtomicU64,
    bytes: AtomicU64,
    /// Requests for memory made within calls.
    allocations: AtomicU64,
    /// State of the generator of [`StorageBackend::random`].
    random: AtomicU64,
}

/// The bytes.
#[derive(Debug, Default)]
struct Content {
    len: u64,
    blocks: Vec<Block>,
}

/// One block without its lines of zeros (invariant 1).
#[derive(Debug, Default)]
struct Block {
    mask: u64,
    packed: Box<[u8]>,
}

impl Block {
    /// Packs a whole block.
    fn pack(bytes: &[u8]) -> Block {
        let mut mask = 0;
        for (idx, line) in bytes.chunks_exact(LINE_BYTES).enumerate() {
            mask |= u64::from(line != ZERO_LINE) << idx;
        }
        let mut packed = Vec::with_capacity(mask.count_ones() as usize * LINE_BYTES);
        for (idx, line) in bytes.chunks_exact(LINE_BYTES).enumerate() {
            if mask >> idx & 1 == 1 {
                packed.extend_from_slice(line);
            }
        }
        Block {
            mask,
            packed: packed.into_boxed_slice(),
        }
    }

    /// Fills `out` with the block's bytes from `from` on.
    fn unpack(&self, from: usize, out: &mut [u8]) {
        if self.mask == u64::MAX {
            out.copy_from_slice(&self.packed[from..from + out.len()]);
            return;
        }
        out.fill(0);
        let end = from + out.len();
        let mut mask = self.mask;
        for line in self.packed.chunks_exact(LINE_BYTES) {
            let at = mask.trailing_zeros() as usize * LINE_BYTES;
            mask &= mask - 1;
            let (start, stop) = (at.max(from), (at + LINE_BYTES).min(end));
            if start < stop {
                out[start - from..stop - from].copy_from_slice(&line[start - at..stop - at]);
            }
        }
    }

    /// Replaces the bytes from `from` on by `bytes`.
    fn patch(&mut self, from: usize, bytes: &[u8]) {
        let mut whole = [0; BLOCK_BYTES];
        self.unpack(0, &mut whole);
        whole[from..from + bytes.len()].copy_from_slice(bytes);
        *self = Block::pack(&whole);
    }
}

impl Content {
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = end_of(offset, out.len())?;
        if end > self.len {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut rest = out;
        let mut at = offset;
        while !rest.is_empty() {
            let (block, from) = place(at)?;
            let len = rest.len().min(BLOCK_BYTES - from);
            let (part, behind) = rest.split_at_mut(len);
            match self.blocks.get(block) {
                Some(block) => block.unpack(from, part),
                None => part.fill(0),
            }
            rest = behind;
            at += len as u64;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = end_of(offset, data.len())?;
        let mut rest = data;
        let mut at = offset;
        while !rest.is_empty() {
            let (block, from) = place(at)?;
            let len = rest.len().min(BLOCK_BYTES - from);
            let (part, behind) = rest.split_at(len);
            if self.blocks.len() <= block {
                self.blocks.resize_with(block + 1, Block::default);
            }
            if len == BLOCK_BYTES {
                self.blocks[block] = Block::pack(part);
            } else {
                self.blocks[block].patch(from, part);
            }
            rest = behind;
            at += len as u64;
        }
        if !data.is_empty() {
            self.len = self.len.max(end);
        }
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let (block, from) = place(len)?;
        self.blocks.truncate(block + usize::from(from > 0));
        if let Some(last) = self.blocks.get_mut(block) {
            last.patch(from, &[0; BLOCK_BYTES][from..]);
        }
        self.len = len;
        Ok(())
    }
}

/// Block and place within it of the byte at `offset`.
fn place(offset: u64) -> io::Result<(usize, usize)> {
    let offset = usize::try_from(offset).map_err(|_| ErrorKind::OutOfMemory)?;
    Ok((offset / BLOCK_BYTES, offset % BLOCK_BYTES))
}

fn end_of(offset: u64, len: usize) -> io::Result<u64> {
    offset
        .checked_add(len as u64)
        .ok_or_else(|| ErrorKind::InvalidInput.into())
}

impl CountingBackend {
    /// An empty backend.
    pub(crate) fn new() -> CountingBackend {
        CountingBackend::default()
    }

    /// What was asked so far.
    pub(crate) fn counts(&self) -> DiskCounts {
        DiskCounts {
            writes: self.shared.writes.load(Ordering::Relaxed),
            syncs: self.shared.syncs.load(Ordering::Relaxed),
            bytes: self.shared.bytes.load(Ordering::Relaxed),
        }
    }

    /// A new database on this backend with default settings and the budget that every figure has.
    pub(crate) fn create(&self) -> Result<Database> {
        self.create_with(Builder::new().set_cache_size(BUDGET_BYTES))
    }

    /// A new database on this backend.
    pub(crate) fn create_with(&self, settings: &Builder) -> Result<Database> {
        Ok(settings.create_with_backend(self.clone())?)
    }

    /// How often the backend itself asked for memory.
    pub(crate) fn own_allocations(&self) -> u64 {
        self.shared.allocations.load(Ordering::Relaxed)
    }

    /// Length of the file in bytes.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.content(|content| content.len)
    }

    // A call that panics leaves whole blocks behind, so the bytes behind a poisoned lock can be read.
    fn content<T>(&self, look: impl FnOnce(&Content) -> T) -> T {
        look(
            &self
                .shared
                .content
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn change<T>(&self, change: impl FnOnce(&mut Content) -> T) -> T {
        let before = allocations::of_thread();
        let content = self.shared.content.write();
        let outcome = change(&mut content.unwrap_or_else(PoisonError::into_inner));
        let own = allocations::of_thread() - before;
        self.shared.allocations.fetch_add(own, Ordering::Relaxed);
        outcome
    }

    fn count_write(&self, bytes: usize) {
        self.shared.writes.fetch_add(1, Ordering::Relaxed);
        self.shared.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn count_sync(&self) {
        self.shared.syncs.fetch_add(1, Ordering::Relaxed);
    }
}

impl StorageBackend for CountingBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file_bytes())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.content(|content| content.read(offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|content| content.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.count_sync();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.count_write(data.len());
        self.change(|content| content.write(offset, data))
    }

    fn write_vectored(&self, offset: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.count_write(parts.iter().map(|part| part.len()).sum());
        self.change(|content| {
            let mut at = offset;
            for part in parts {
                content.write(at, part)?;
                at = end_of(at, part.len())?;
            }
            Ok(())
        })
    }

    fn random(&self, out: &mut [u8]) -> io::Result<()> {
        for byte in out {
            // The step is the golden ratio's fraction: the upper bits of its multiples are spread evenly.
            let state = self
                .shared
                .random
                .fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
            *byte = (state >> 56) as u8;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The model: one vector.
    #[derive(Default)]
    struct Plain(Vec<u8>);

    impl Plain {
        fn write(&mut self, offset: usize, data: &[u8]) {
            let end = offset + data.len();
            if self.0.len() < end && !data.is_empty() {
                self.0.resize(end, 0);
            }
            if !data.is_empty() {
                self.0[offset..end].copy_from_slice(data);
            }
        }
    }

    fn bytes_of(backend: &CountingBackend) -> Vec<u8> {
        let mut out = vec![0xFF; backend.len().unwrap() as usize];
        backend.read(0, &mut out).unwrap();
        out
    }

    #[test]
    fn random_calls_leave_what_a_vector_would_hold() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..40 {
            let (backend, mut plain) = (CountingBackend::new(), Plain::default());
            for _ in 0..60 {
                let step = [1, LINE_BYTES, BLOCK_BYTES][random.usize(0..3)];
                let offset = random.usize(0..6 * BLOCK_BYTES) / step * step;
                match random.u8(0..8) {
                    0 => {
                        backend.set_len(offset as u64).unwrap();
                        plain.0.resize(offset, 0);
                    }
                    1 => {
                        let len = random.usize(0..9000);
                        let end = (offset + len).max(plain.0.len());
                        backend.allocate(offset as u64, len as u64).unwrap();
                        plain.0.resize(end, 0);
                    }
                    kind => {
                        let mut data = vec![0; random.usize(0..9000)];
                        let ones = if kind < 4 {
                            data.len()
                        } else {
                            data.len().min(3)
                        };
                        for _ in 0..ones {
                            let at = random.usize(0..data.len());
                            data[at] = random.u8(..);
                        }
                        backend.write(offset as u64, &data).unwrap();
                        plain.write(offset, &data);
                    }
                }
                assert_eq!(bytes_of(&backend), plain.0);
                if !plain.0.is_empty() {
                    let from = random.usize(0..plain.0.len());
                    let mut out = vec![0xFF; random.usize(0..=plain.0.len() - from)];
                    backend.read(from as u64, &mut out).unwrap();
                    assert_eq!(out, plain.0[from..from + out.len()]);
                }
            }
        }
    }

    #[test]
    fn zeros_take_no_memory_and_count_as_bytes_written() {
        let backend = CountingBackend::new();
        backend.write(0, &[0; 10 * BLOCK_BYTES]).unwrap();
        backend.write(4096 + 100, &[1]).unwrap();
        let kept = |content: &Content| content.blocks.iter().map(|block| block.packed.len()).sum();
        assert_eq!(backend.content::<usize>(kept), LINE_BYTES);
        backend.write(4096 + 100, &[0]).unwrap();
        assert_eq!(backend.content::<usize>(kept), 0);
        assert_eq!(backend.counts().bytes, 10 * BLOCK_BYTES as u64 + 2);
    }

    #[test]
    fn a_call_counts_once_and_a_length_not_at_all() {
        let backend = CountingBackend::new();
        backend.set_len(100).unwrap();
        backend.allocate(0, 1000).unwrap();
        assert_eq!(backend.counts(), DiskCounts::default());
        backend.write(0, &[1; 9000]).unwrap();
        let before = backend.counts();
        let parts = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
        backend.write_vectored(8998, &parts).unwrap();
        backend.sync_range(0, 10).unwrap();
        backend.sync_data().unwrap();
        let expected = DiskCounts {
            writes: 1,
            syncs: 2,
            bytes: 5,
        };
        assert_eq!(backend.counts().since(before), expected);
        assert_eq!(&bytes_of(&backend)[8996..], b"\x01\x01abcde");
    }

    #[test]
    fn reads_past_the_end_and_impossible_ranges_are_errors() {
        let backend = CountingBackend::new();
        backend.write(0, b"abc").unwrap();
        for offset in [1, 3, 4096] {
            let error = backend.read(offset, &mut [0; 3]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        }
        let error = backend.write(u64::MAX, b"ab").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(bytes_of(&backend), b"abc");
    }

    #[test]
    fn two_backends_draw_the_same_random_bytes() {
        let (mut one, mut two) = ([0; 32], [0; 32]);
        CountingBackend::new().random(&mut one).unwrap();
        CountingBackend::new().random(&mut two).unwrap();
        assert_eq!(one, two);
        assert_ne!(one[..16], one[16..]);
    }
}
