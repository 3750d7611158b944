//! Write buffers: one table's changes in key order, in memory.
//!
//! A skiplist over an append-only arena. Keys are inserted once and never removed (a delete is a tombstone), so nothing
//! moves; overwriting a key appends the new value and leaves the old bytes behind until the buffer is dropped.
//!
//! # Source
//! Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees", 1990; arena and insert-only use as in LevelDB.

use std::ops::Bound;

use crate::int;
use crate::page::leaf::Stored;
use crate::page::{ExtentRef, leaf::ValueKind};
use crate::tree::order::KeyCompare;

/// Levels of the list: enough for 4^12 keys at the branching of four.
const LEVELS: usize = 12;
/// Chunk sizes double from the first to the last.
const CHUNK_BYTES_MIN: usize = 4 << 10;
const CHUNK_BYTES_MAX: usize = 1 << 20;
/// Bookkeeping per key beyond its bytes: the node and one and a third links on average.
const NODE_BYTES: usize = std::mem::size_of::<Node>() + 6;

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    chunk: u32,
    start: u32,
    len: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: Span,
    value: Span,
    kind: ValueKind,
    /// Index of the node's first link in `links`.
    links: u32,
}

/// A position in a buffer: the number of a node, or none.
pub(crate) type Place = Option<u32>;

/// Changes of one table in key order.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    chunks: Vec<Vec<u8>>,
    chunk_bytes: usize,
    arena_bytes: usize,
    nodes: Vec<Node>,
    /// Successors, one per level of each node; node number plus one, 0 for none.
    links: Vec<u32>,
    head: [u32; LEVELS],
    height: usize,
    random: u64,
}

impl Default for WriteBuffer {
    fn default() -> WriteBuffer {
        WriteBuffer {
            chunks: Vec::new(),
            chunk_bytes: CHUNK_BYTES_MIN,
            arena_bytes: 0,
            nodes: Vec::new(),
            links: Vec::new(),
            head: [0; LEVELS],
            height: 1,
            random: 0x2545_F491_4F6C_DD1D,
        }
    }
}

impl WriteBuffer {
    /// Whether there are no changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.arena_bytes + self.nodes.len() * NODE_BYTES
    }

    fn slice(&self, span: Span) -> &[u8] {
        let start = int::index(span.start);
        &self.chunks[int::index(span.chunk)][start..start + int::index(span.len)]
    }

    fn store(&mut self, bytes: &[u8]) -> Span {
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

    fn next(&self, node: u32, level: usize) -> u32 {
        match node.checked_sub(1) {
            None => self.head[level],
            Some(idx) => self.links[int::index(self.nodes[int::index(idx)].links) + level],
        }
    }

    fn set_next(&mut self, node: u32, level: usize, next: u32) {
        match node.checked_sub(1) {
            None => self.head[level] = next,
            Some(idx) => {
                let at = int::index(self.nodes[int::index(idx)].links) + level;
                self.links[at] = next;
            }
        }
    }

    fn node_key(&self, node: u32) -> &[u8] {
        self.slice(self.nodes[int::index(node - 1)].key)
    }

    /// The last node before `key` on each level, 0 standing for the head.
    fn before(&self, key: &[u8], compare: &KeyCompare) -> [u32; LEVELS] {
        let mut path = [0; LEVELS];
        let mut node = 0;
        for level in (0..self.height).rev() {
            loop {
                let next = self.next(node, level);
                if next == 0 || compare.compare(self.node_key(next), key).is_ge() {
                    break;
                }
                node = next;
            }
            path[level] = node;
        }
        path
    }

    fn random_height(&mut self) -> usize {
        // xorshift64: the heights need no more than to be spread, and the same run gives the same list.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let quarters = self.random.trailing_zeros() / 2;
        (int::index(quarters) + 1).min(LEVELS)
    }

    /// Sets what `key` stands for.
    pub(crate) fn set(&mut self, key: &[u8], value: Stored<'_>, compare: &KeyCompare) {
        let path = self.before(key, compare);
        let found = self.next(path[0], 0);
        let (span, kind) = match value {
            Stored::Inline(bytes) => (self.store(bytes), ValueKind::Inline),
            Stored::Extent(extent) => (self.store(&extent.encode()), ValueKind::Extent),
            Stored::Tombstone => (Span::default(), ValueKind::Tombstone),
        };
        if found != 0 && compare.compare(self.node_key(found), key).is_eq() {
            // Equal keys may be spelt differently; the newest spelling stands, as it does across runs and the tree.
            let spelling = (self.node_key(found) != key).then(|| self.store(key));
            let node = &mut self.nodes[int::index(found - 1)];
            node.key = spelling.unwrap_or(node.key);
            node.value = span;
            node.kind = kind;
            return;
        }
        let key = self.store(key);
        let height = self.random_height();
        self.height = self.height.max(height);
        let links = int::narrow(self.links.len());
        self.nodes.push(Node {
            key,
            value: span,
            kind,
            links,
        });
        let node = int::narrow(self.nodes.len());
        for (level, &before) in path.iter().enumerate().take(height) {
            self.links.push(self.next(before, level));
            self.set_next(before, level, node);
        }
    }

    /// What `key` stands for, if it was changed.
    pub(crate) fn get(&self, key: &[u8], compare: &KeyCompare) -> Option<Stored<'_>> {
        if self.nodes.is_empty() {
            return None;
        }
        let place = self.seek(Bound::Included(key), compare)?;
        (compare.compare(self.node_key(place), key).is_eq()).then(|| self.stored(place))
    }

    /// The first change at or behind `bound`.
    pub(crate) fn seek(&self, bound: Bound<&[u8]>, compare: &KeyCompare) -> Place {
        let found = match bound {
            Bound::Unbounded => self.head[0],
            Bound::Included(key) => self.next(self.before(key, compare)[0], 0),
            Bound::Excluded(key) => {
                let found = self.next(self.before(key, compare)[0], 0);
                if found != 0 && compare.compare(self.node_key(found), key).is_eq() {
                    self.next(found, 0)
                } else {
                    found
                }
            }
        };
        (found != 0).then_some(found)
    }

    /// The last change at or before `bound`.
    pub(crate) fn seek_back(&self, bound: Bound<&[u8]>, compare: &KeyCompare) -> Place {
        let found = match bound {
            Bound::Unbounded => self.last(),
            Bound::Excluded(key) => self.before(key, compare)[0],
            Bound::Included(key) => {
                let before = self.before(key, compare)[0];
                let next = self.next(before, 0);
                if next != 0 && compare.compare(self.node_key(next), key).is_eq() {
                    next
                } else {
                    before
                }
            }
        };
        (found != 0).then_some(found)
    }

    fn last(&self) -> u32 {
        let mut node = 0;
        for level in (0..self.height).rev() {
            while self.next(node, level) != 0 {
                node = self.next(node, level);
            }
        }
        node
    }

    /// The change behind `place`.
    pub(crate) fn after(&self, place: u32) -> Place {
        let next = self.next(place, 0);
        (next != 0).then_some(next)
    }

    /// The change before `place`.
    pub(crate) fn preceding(&self, place: u32, compare: &KeyCompare) -> Place {
        let before = self.before(self.node_key(place), compare)[0];
        (before != 0).then_some(before)
    }

    /// The key at `place`.
    pub(crate) fn key(&self, place: u32) -> &[u8] {
        self.node_key(place)
    }

    /// What the key at `place` stands for.
    pub(crate) fn stored(&self, place: u32) -> Stored<'_> {
        let node = &self.nodes[int::index(place - 1)];
        let bytes = self.slice_or_empty(node);
        match node.kind {
            ValueKind::Inline => Stored::Inline(bytes),
            ValueKind::Tombstone => Stored::Tombstone,
            ValueKind::Extent => ExtentRef::decode(bytes).map_or(Stored::Tombstone, Stored::Extent),
        }
    }

    fn slice_or_empty(&self, node: &Node) -> &[u8] {
        match node.kind {
            ValueKind::Tombstone => &[],
            _ => self.slice(node.value),
        }
    }
}
