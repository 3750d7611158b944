//! Write buffers: one table's changes in key order, in memory.
//!
//! ```text
//! firsts   [ head, row ] [ head, row ] ...          first entry of each block: searched first, dense in memory
//! blocks   [ (head, row) x 1..=128 ] ...            entries in key order
//! rows     (key, value, kind) ...                   in order of arrival
//! arena    key and value bytes, append-only
//! ```
//! A head is the first eight bytes of a key, most significant first; it decides nearly every comparison in byte order
//! without touching the key. Keys are never removed (a delete is a tombstone); overwriting a key appends the new value
//! and leaves the old bytes behind until the buffer is dropped.

use std::cmp::Ordering;
use std::ops::Bound;

use crate::int;
use crate::page::ExtentRef;
use crate::page::leaf::{Stored, ValueKind, bisect};
use crate::page::order::KeyCompare;

/// Entries of a full block. At a million keys this splits a binary search into 13 steps in one dense array and 7 in
/// another; a skiplist of the same keys took ten times as long, at two or three cache misses a step.
const BLOCK_ENTRIES_MAX: usize = 128;
/// Chunk sizes of the arena double from the first to the last.
const CHUNK_BYTES_MIN: usize = 4 << 10;
const CHUNK_BYTES_MAX: usize = 1 << 20;
/// Bookkeeping per key beyond its bytes: the row, and its entry in a block two thirds full.
const ROW_BYTES: usize = std::mem::size_of::<Row>() + std::mem::size_of::<Entry>() * 3 / 2;

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    chunk: u32,
    start: u32,
    len: u32,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    key: Span,
    value: Span,
    kind: ValueKind,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    head: u64,
    row: u32,
}

/// A position in a buffer that stands on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    block: usize,
    idx: usize,
}

/// Changes of one table in key order.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    chunks: Vec<Vec<u8>>,
    chunk_bytes: usize,
    arena_bytes: usize,
    rows: Vec<Row>,
    firsts: Vec<Entry>,
    blocks: Vec<Vec<Entry>>,
}

impl Default for WriteBuffer {
    fn default() -> WriteBuffer {
        WriteBuffer {
            chunks: Vec::new(),
            chunk_bytes: CHUNK_BYTES_MIN,
            arena_bytes: 0,
            rows: Vec::new(),
            firsts: Vec::new(),
            blocks: Vec::new(),
        }
    }
}

/// A key being looked for, with its head.
struct Target<'k> {
    key: &'k [u8],
    head: u64,
}

impl<'k> Target<'k> {
    fn new(key: &'k [u8], compare: &KeyCompare) -> Target<'k> {
        Target {
            key,
            head: head_of(key, compare),
        }
    }
}

/// The head of a key; 0 where bytes do not decide the order.
fn head_of(key: &[u8], compare: &KeyCompare) -> u64 {
    if !compare.is_memcmp() {
        return 0;
    }
    match key.first_chunk::<8>() {
        Some(head) => u64::from_be_bytes(*head),
        None => {
            let mut head = [0; 8];
            head[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(head)
        }
    }
}

impl WriteBuffer {
    /// Whether there are no changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.arena_bytes + self.rows.len() * ROW_BYTES
    }

    fn slice(&self, span: Span) -> &[u8] {
        let start = int::index(span.start);
        &self.chunks[int::index(span.chunk)][start..start + int::index(span.len)]
    }

    fn store(&mut self, bytes: &[u8]) -> Span {
        if bytes.is_empty() {
            // Any place will do for no bytes, but it must exist.
            if self.chunks.is_empty() {
                self.chunks.push(Vec::new());
            }
            return Span::default();
        }
        let fits = self
            .chunks
            .last()
            .is_some_and(|chunk| chunk.capacity() - chunk.len() >= bytes.len());
        if !fits {
            let capacity = self.chunk_bytes.max(bytes.len());
            self.chunk_bytes = (self.chunk_bytes * 2).min(CHUNK_BYTES_MAX);
            self.arena_bytes += capacity;
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let chunk = self.chunks.len() - 1;
        let target = &mut self.chunks[chunk];
        let start = target.len();
        target.extend_from_slice(bytes);
        Span {
            chunk: int::narrow(chunk),
            start: int::narrow(start),
            len: int::narrow(bytes.len()),
        }
    }

    fn order(&self, entry: Entry, target: &Target<'_>, compare: &KeyCompare) -> Ordering {
        let by_head = entry.head.cmp(&target.head);
        by_head.then_with(|| {
            let key = self.slice(self.rows[int::index(entry.row)].key);
            compare.compare(key, target.key)
        })
    }

    /// Where `target` is (`Ok`) or would stand (`Err`); the position may be one past a block's end.
    fn locate(&self, target: &Target<'_>, compare: &KeyCompare) -> Result<Place, Place> {
        let after = match bisect(self.firsts.len(), |idx| {
            self.order(self.firsts[idx], target, compare)
        }) {
            Ok(block) => return Ok(Place { block, idx: 0 }),
            Err(after) => after,
        };
        let Some(block) = after.checked_sub(1) else {
            return Err(Place { block: 0, idx: 0 });
        };
        let entries = &self.blocks[block];
        match bisect(entries.len(), |idx| {
            self.order(entries[idx], target, compare)
        }) {
            Ok(idx) => Ok(Place { block, idx }),
            Err(idx) => Err(Place { block, idx }),
        }
    }

    /// Sets what `key` stands for.
    pub(crate) fn set(&mut self, key: &[u8], value: Stored<'_>, compare: &KeyCompare) {
        let target = Target::new(key, compare);
        let found = self.locate(&target, compare);
        let (value, kind) = match value {
            Stored::Inline(bytes) => (self.store(bytes), ValueKind::Inline),
            Stored::Extent(extent) => (self.store(&extent.encode()), ValueKind::Extent),
            Stored::Tombstone => (Span::default(), ValueKind::Tombstone),
        };
        match found {
            Ok(place) => {
                let row = int::index(self.blocks[place.block][place.idx].row);
                // Equal keys may be spelt differently; the newest spelling stands, as it does across runs and the tree.
                if self.slice(self.rows[row].key) != target.key {
                    self.rows[row].key = self.store(target.key);
                }
                self.rows[row].value = value;
                self.rows[row].kind = kind;
            }
            Err(place) => {
                let row = int::narrow(self.rows.len());
                let key = self.store(target.key);
                self.rows.push(Row { key, value, kind });
                self.insert_entry(
                    place,
                    Entry {
                        head: target.head,
                        row,
                    },
                );
            }
        }
    }

    fn insert_entry(&mut self, place: Place, entry: Entry) {
        let Place { block, idx } = place;
        if self.blocks.is_empty() {
            self.blocks.push(Vec::new());
            self.firsts.push(entry);
        }
        self.blocks[block].insert(idx, entry);
        self.firsts[block] = self.blocks[block][0];
        if self.blocks[block].len() > BLOCK_ENTRIES_MAX {
            // Keys that arrive in order leave full blocks behind; others split in the middle.
            let at = if idx + 1 == self.blocks[block].len() {
                idx
            } else {
                BLOCK_ENTRIES_MAX / 2
            };
            let tail = self.blocks[block].split_off(at);
            self.firsts.insert(block + 1, tail[0]);
            self.blocks.insert(block + 1, tail);
        }
    }

    /// What `key` stands for, if it was changed.
    pub(crate) fn get(&self, key: &[u8], compare: &KeyCompare) -> Option<Stored<'_>> {
        if self.is_empty() {
            return None;
        }
        let place = self.locate(&Target::new(key, compare), compare).ok()?;
        Some(self.stored(place))
    }

    /// The change at `place`, or the first behind it if `place` is one past a block's end.
    fn settle(&self, place: Place) -> Option<Place> {
        let entries = self.blocks.get(place.block)?;
        if place.idx < entries.len() {
            return Some(place);
        }
        let next = Place {
            block: place.block + 1,
            idx: 0,
        };
        (next.block < self.blocks.len()).then_some(next)
    }

    /// The first change at or behind `bound`.
    pub(crate) fn seek(&self, bound: Bound<&[u8]>, compare: &KeyCompare) -> Option<Place> {
        match bound {
            Bound::Unbounded => self.settle(Place { block: 0, idx: 0 }),
            Bound::Included(key) | Bound::Excluded(key) => {
                match self.locate(&Target::new(key, compare), compare) {
                    Ok(place) if matches!(bound, Bound::Excluded(_)) => self.after(place),
                    Ok(place) => Some(place),
                    Err(place) => self.settle(place),
                }
            }
        }
    }

    /// The last change at or before `bound`.
    pub(crate) fn seek_back(&self, bound: Bound<&[u8]>, compare: &KeyCompare) -> Option<Place> {
        match bound {
            Bound::Unbounded => {
                let block = self.blocks.len().checked_sub(1)?;
                Some(Place {
                    block,
                    idx: self.blocks[block].len() - 1,
                })
            }
            Bound::Included(key) | Bound::Excluded(key) => {
                match self.locate(&Target::new(key, compare), compare) {
                    Ok(place) if matches!(bound, Bound::Included(_)) => Some(place),
                    Ok(place) | Err(place) => self.preceding(place),
                }
            }
        }
    }

    /// The change behind `place`.
    pub(crate) fn after(&self, place: Place) -> Option<Place> {
        self.settle(Place {
            block: place.block,
            idx: place.idx + 1,
        })
    }

    /// The change before `place`.
    pub(crate) fn preceding(&self, place: Place) -> Option<Place> {
        if let Some(idx) = place.idx.checked_sub(1) {
            return Some(Place {
                block: place.block,
                idx,
            });
        }
        let block = place.block.checked_sub(1)?;
        Some(Place {
            block,
            idx: self.blocks[block].len() - 1,
        })
    }

    fn row(&self, place: Place) -> &Row {
        &self.rows[int::index(self.blocks[place.block][place.idx].row)]
    }

    /// The key at `place`.
    pub(crate) fn key(&self, place: Place) -> &[u8] {
        self.slice(self.row(place).key)
    }

    /// What the key at `place` stands for.
    pub(crate) fn stored(&self, place: Place) -> Stored<'_> {
        let row = self.row(place);
        match row.kind {
            ValueKind::Inline => Stored::Inline(self.slice(row.value)),
            ValueKind::Tombstone => Stored::Tombstone,
            // Encoded by `set`, so it decodes.
            ValueKind::Extent => {
                ExtentRef::decode(self.slice(row.value)).map_or(Stored::Tombstone, Stored::Extent)
            }
        }
    }
}
