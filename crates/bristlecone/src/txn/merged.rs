//! Merged reads: one table's rows in order, from either end, out of buffer, runs and tree.
//!
//! # Invariants
//! 1. Each row of the range is yielded once, whichever ends it is taken from, and nothing after the ends have met.
//! 2. After an error every further step is an error: rows that could not be read are never passed over in silence.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use super::buffer::{Place, WriteBuffer};
use super::value_bytes::ValueBytes;
use crate::cache::Pager;
use crate::error::{Corruption, Result};
use crate::page::Root;
use crate::page::order::KeyCompare;
use crate::tree::cursor::TreeCursor;

/// A row as read: whole stored key, value bytes.
pub(crate) type KeyAndValue = (Vec<u8>, ValueBytes);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

#[derive(Clone, Debug)]
struct TreeSource {
    cursor: TreeCursor,
    key: Vec<u8>,
    live: bool,
}

/// The sources as read in one direction.
#[derive(Clone, Debug)]
struct Side {
    direction: Direction,
    place: Option<Place>,
    trees: Vec<TreeSource>,
}

/// Rows of one table within bounds.
#[derive(Clone, Debug)]
pub(crate) struct Merged<'a> {
    pager: Arc<Pager>,
    compare: KeyCompare,
    buffer: Option<&'a WriteBuffer>,
    /// Newest first: runs, then the snapshot's tree.
    trees: Vec<Root>,
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
    front: Option<Side>,
    back: Option<Side>,
    ended: bool,
    failed: bool,
}

impl<'a> Merged<'a> {
    /// The rows between `lower` and `upper`; bounds that cross hold none.
    pub(crate) fn new(
        pager: &Arc<Pager>,
        compare: &KeyCompare,
        buffer: Option<&'a WriteBuffer>,
        trees: Vec<Root>,
        bounds: (Bound<Vec<u8>>, Bound<Vec<u8>>),
    ) -> Merged<'a> {
        let (lower, upper) = bounds;
        Merged {
            pager: Arc::clone(pager),
            compare: compare.clone(),
            buffer: buffer.filter(|buffer| !buffer.is_empty()),
            trees,
            ended: is_empty_range(&lower, &upper, compare),
            lower,
            upper,
            front: None,
            back: None,
            failed: false,
        }
    }

    /// The next row from the front.
    pub(crate) fn next(&mut self) -> Result<Option<KeyAndValue>> {
        self.step(Direction::Forward)
    }

    /// The next row from the back.
    pub(crate) fn next_back(&mut self) -> Result<Option<KeyAndValue>> {
        self.step(Direction::Backward)
    }

    /// Makes every further step an error: its caller could not use a row.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    fn step(&mut self, direction: Direction) -> Result<Option<KeyAndValue>> {
        if self.failed {
            return Err(Corruption::new(
                "rows behind an earlier error of this range were not read",
            )
            .into());
        }
        if self.ended {
            return Ok(None);
        }
        let row = self.take(direction).inspect_err(|_| self.failed = true)?;
        match &row {
            None => self.ended = true,
            Some((key, _)) => {
                let limit = match direction {
                    Direction::Forward => &mut self.lower,
                    Direction::Backward => &mut self.upper,
                };
                // The other end stops short of what this one has yielded.
                match limit {
                    Bound::Excluded(old) => {
                        old.clear();
                        old.extend_from_slice(key);
                    }
                    _ => *limit = Bound::Excluded(key.clone()),
                }
            }
        }
        Ok(row)
    }

    fn take(&mut self, direction: Direction) -> Result<Option<KeyAndValue>> {
        let mut side = match direction {
            Direction::Forward => self.front.take(),
            Direction::Backward => self.back.take(),
        };
        if side.is_none() {
            side = Some(self.open(direction)?);
        }
        let Some(mut side) = side else {
            return Ok(None);
        };
        let row = loop {
            let Some(source) = self.choose(&side) else {
                break None;
            };
            let key = self.key(&side, source).unwrap_or_default().to_vec();
            if !self.is_within(&key, direction) {
                break None;
            }
            let value = self.value(&side, source)?;
            self.pass(&mut side, source, &key)?;
            if let Some(value) = value {
                break Some((key, value));
            }
        };
        match direction {
            Direction::Forward => self.front = Some(side),
            Direction::Backward => self.back = Some(side),
        }
        Ok(row)
    }

    fn open(&self, direction: Direction) -> Result<Side> {
        self.pager.disk().check_open()?;
        let bound = match direction {
            Direction::Forward => self.lower.as_ref().map(Vec::as_slice),
            Direction::Backward => self.upper.as_ref().map(Vec::as_slice),
        };
        let place = self.buffer.and_then(|buffer| match direction {
            Direction::Forward => buffer.seek(bound, &self.compare),
            Direction::Backward => buffer.seek_back(bound, &self.compare),
        });
        let mut trees = Vec::with_capacity(self.trees.len());
        for &root in &self.trees {
            let mut cursor = TreeCursor::new(&self.pager, Some(root), self.compare.clone());
            match direction {
                Direction::Forward => cursor.seek(bound)?,
                Direction::Backward => cursor.seek_back(bound)?,
            }
            let mut key = Vec::new();
            let live = cursor.key_into(&mut key)?;
            trees.push(TreeSource { cursor, key, live });
        }
        Ok(Side {
            direction,
            place,
            trees,
        })
    }

    /// Key of source 0 (the buffer) or `i + 1` (tree `i`).
    fn key<'k>(&'k self, side: &'k Side, source: usize) -> Option<&'k [u8]> {
        match source.checked_sub(1) {
            None => Some(self.buffer?.key(side.place?)),
            Some(idx) => side
                .trees
                .get(idx)
                .filter(|tree| tree.live)
                .map(|tree| tree.key.as_slice()),
        }
    }

    /// The source whose key comes first in the side's direction; the newest of several.
    fn choose(&self, side: &Side) -> Option<usize> {
        let first = match side.direction {
            Direction::Forward => Ordering::Less,
            Direction::Backward => Ordering::Greater,
        };
        let mut best: Option<(usize, &[u8])> = None;
        for source in 0..=side.trees.len() {
            let Some(key) = self.key(side, source) else {
                continue;
            };
            if best.is_none_or(|(_, other)| self.compare.compare(key, other) == first) {
                best = Some((source, key));
            }
        }
        best.map(|(source, _)| source)
    }

    fn is_within(&self, key: &[u8], direction: Direction) -> bool {
        match direction {
            Direction::Forward => match &self.upper {
                Bound::Unbounded => true,
                Bound::Included(upper) => self.compare.compare(key, upper).is_le(),
                Bound::Excluded(upper) => self.compare.compare(key, upper).is_lt(),
            },
            Direction::Backward => match &self.lower {
                Bound::Unbounded => true,
                Bound::Included(lower) => self.compare.compare(key, lower).is_ge(),
                Bound::Excluded(lower) => self.compare.compare(key, lower).is_gt(),
            },
        }
    }

    fn value(&self, side: &Side, source: usize) -> Result<Option<ValueBytes>> {
        match source.checked_sub(1) {
            None => match self.buffer.zip(side.place) {
                None => Ok(None),
                Some((buffer, place)) => ValueBytes::load(&self.pager, buffer.stored(place)),
            },
            Some(idx) => match side.trees[idx].cursor.current() {
                None => Ok(None),
                Some((page, row)) => ValueBytes::of_row(&self.pager, page, row),
            },
        }
    }

    /// Moves every source past `key`, which `winner` stands on.
    fn pass(&self, side: &mut Side, winner: usize, key: &[u8]) -> Result {
        for source in winner..=side.trees.len() {
            let at_key = source == winner
                || self
                    .key(side, source)
                    .is_some_and(|other| self.compare.compare(other, key).is_eq());
            if !at_key {
                continue;
            }
            match source.checked_sub(1) {
                None => {
                    side.place = self
                        .buffer
                        .zip(side.place)
                        .and_then(|(buffer, place)| match side.direction {
                            Direction::Forward => buffer.after(place),
                            Direction::Backward => buffer.preceding(place),
                        });
                }
                Some(idx) => {
                    let tree = &mut side.trees[idx];
                    match side.direction {
                        Direction::Forward => tree.cursor.next()?,
                        Direction::Backward => tree.cursor.prev()?,
                    }
                    tree.live = tree.cursor.key_into(&mut tree.key)?;
                }
            }
        }
        Ok(())
    }
}

fn is_empty_range(lower: &Bound<Vec<u8>>, upper: &Bound<Vec<u8>>, compare: &KeyCompare) -> bool {
    let (lower_key, upper_key) = match (lower, upper) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => return false,
        (
            Bound::Included(lower) | Bound::Excluded(lower),
            Bound::Included(upper) | Bound::Excluded(upper),
        ) => (lower, upper),
    };
    match compare.compare(lower_key, upper_key) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => !matches!((lower, upper), (Bound::Included(_), Bound::Included(_))),
    }
}
