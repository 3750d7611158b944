//! The keys that are in the table, in order: what rows that walk the table or take from its ends are checked against.

use std::ops::Range;

use anyhow::Result;

use super::ending::Wrong;
use crate::data::Shape;
use crate::engine::Writer;

/// Keys in ascending order, every entry at revision 0.
pub(super) struct Live {
    /// Of the values. Their keys tell the rest.
    shape: Shape,
    key_len: usize,
    keys: Vec<u8>,
}

impl Live {
    /// The keys of ranges of entries; all shapes have the same lengths.
    pub(super) fn of(ranges: &[(Shape, Range<u64>)]) -> Live {
        let shape = ranges[0].0;
        let key_len = shape.key_len;
        let mut unsorted = Vec::new();
        let mut key = Vec::new();
        for (shape, range) in ranges {
            for index in range.clone() {
                shape.key(index, &mut key);
                unsorted.extend_from_slice(&key);
            }
        }
        let mut sorted: Vec<&[u8]> = unsorted.chunks_exact(key_len).collect();
        sorted.sort_unstable();
        Live {
            shape,
            key_len,
            keys: sorted.concat(),
        }
    }

    /// Number of keys.
    pub(super) fn count(&self) -> u64 {
        (self.keys.len() / self.key_len) as u64
    }

    /// The key at a place.
    pub(super) fn key(&self, place: u64) -> &[u8] {
        let start = place as usize * self.key_len;
        &self.keys[start..start + self.key_len]
    }

    /// Whether an entry is the one at `place`, with its value.
    pub(super) fn is_at(&self, place: u64, key: &[u8], value: &[u8]) -> bool {
        place < self.count() && self.key(place) == key && self.shape.revision(key, value) == Some(0)
    }

    /// Stores the entries at these places.
    pub(super) fn put(
        &self,
        writer: &mut dyn Writer,
        mut places: impl Iterator<Item = u64>,
    ) -> Result<()> {
        let mut value = Vec::new();
        places.try_for_each(|place| {
            let key = self.key(place);
            self.shape.value(key, 0, &mut value);
            writer.put(key, &value)
        })
    }
}

/// Checks a walk over places in order.
pub(super) struct Walk<'a> {
    live: &'a Live,
    next: u64,
    end: u64,
    right: bool,
}

impl<'a> Walk<'a> {
    /// A walk that must visit exactly these places.
    pub(super) fn over(live: &'a Live, places: Range<u64>) -> Walk<'a> {
        Walk {
            live,
            next: places.start,
            end: places.end,
            right: true,
        }
    }

    /// Notes a visited entry; returns its place.
    pub(super) fn visit(&mut self, key: &[u8], value: &[u8]) -> u64 {
        let place = self.next;
        self.right &= place < self.end && self.live.is_at(place, key, value);
        self.next += 1;
        place
    }

    /// The verdict after the walk.
    pub(super) fn finish(&self, what: &str) -> Result<()> {
        if self.right && self.next == self.end {
            return Ok(());
        }
        Err(Wrong::error(format!(
            "{what} did not visit every entry in order (stopped at place {} of {})",
            self.next, self.end
        )))
    }
}
