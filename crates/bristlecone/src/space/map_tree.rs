//! The space map on disk: map leaves under a radix tree of index pages, copied on write.

use std::collections::BTreeSet;

use super::bitmap::UnitMap;
use crate::cache::Pager;
use crate::error::{Corruption, Result};
use crate::page::map::{self, MAP_BITMAP_BYTES, MAP_FANOUT, MAP_LEAF_UNITS, MapRef};
use crate::page::{Number, PageId, UNIT_BYTES};

/// Words of bitmap in a map leaf.
const LEAF_WORDS: usize = MAP_BITMAP_BYTES / 8;

/// Top page of a map and its distance from the map leaves; no page for a map in which nothing is reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapRoot {
    /// The top page.
    pub(crate) top: Option<MapRef>,
    /// Index levels.
    pub(crate) height: u8,
}

/// Position of a map page: distance from the map leaves, index within that level.
pub(crate) type MapPlace = (usize, usize);

/// A map page ready to be written.
#[derive(Debug)]
pub(crate) struct MapWrite {
    /// Its unit.
    pub(crate) id: PageId,
    /// Its bytes.
    pub(crate) bytes: Box<[u8]>,
}

/// Where every map page lies, level by level, and which must be written at the next flip.
#[derive(Clone, Debug)]
pub(crate) struct MapTree {
    levels: Vec<Vec<Option<MapRef>>>,
    /// Map leaves whose bitmap has changed.
    dirty: BTreeSet<usize>,
    /// Pages moved to a fresh unit in this flip.
    moved: BTreeSet<MapPlace>,
}

impl MapTree {
    /// The top page.
    pub(crate) fn root(&self) -> MapRoot {
        let height = self.levels.len() - 1;
        MapRoot {
            top: self.levels[height].first().copied().flatten(),
            height: u8::try_from(height).expect("five levels describe 2^48 units"),
        }
    }

    /// Notes that the bits of a run have changed.
    pub(crate) fn touch(&mut self, start: u64, count: u64) {
        let first = leaf_of(start);
        let last = leaf_of(start + count.max(1) - 1);
        self.dirty.extend(first..=last);
    }

    /// The next page that must move, or `None` when all dirty ones have; `end` is one past the last reachable unit.
    pub(crate) fn next_dirty(&mut self, end: u64) -> Option<MapPlace> {
        self.fit(leaf_of(end.saturating_sub(1)) + 1);
        for &leaf in &self.dirty {
            if leaf >= self.levels[0].len() {
                continue;
            }
            let mut idx = leaf;
            for level in 0..self.levels.len() {
                if !self.moved.contains(&(level, idx)) {
                    return Some((level, idx));
                }
                idx /= MAP_FANOUT;
            }
        }
        None
    }

    /// Extends the levels to at least `leaves` map leaves.
    fn fit(&mut self, leaves: usize) {
        if self.levels[0].len() < leaves {
            self.levels[0].resize(leaves, None);
        }
        let mut level = 0;
        while self.levels[level].len() > 1 {
            let above = self.levels[level].len().div_ceil(MAP_FANOUT);
            if self.levels.len() == level + 1 {
                self.levels.push(Vec::new());
            }
            if self.levels[level + 1].len() < above {
                let first_missing = self.levels[level + 1].len();
                self.levels[level + 1].resize(above, None);
                // An index page that did not exist is written through any leaf below it.
                for idx in first_missing..above {
                    self.dirty
                        .insert(idx * MAP_FANOUT.pow(u32::try_from(level + 1).unwrap_or(0)));
                }
            }
            level += 1;
        }
    }

    /// Gives a page its fresh unit; returns the old one.
    pub(crate) fn relocate(
        &mut self,
        place: MapPlace,
        id: PageId,
        birth: Number,
    ) -> Option<MapRef> {
        self.moved.insert(place);
        self.levels[place.0][place.1].replace(MapRef { id, birth })
    }

    /// The moved pages' bytes, leaves first.
    pub(crate) fn encode(&self, durable: &UnitMap) -> Vec<MapWrite> {
        let words = durable.words();
        self.moved
            .iter()
            .filter_map(|&(level, idx)| {
                let at = self.levels[level][idx]?;
                let bytes = match level.checked_sub(1) {
                    None => {
                        let start = (idx * LEAF_WORDS).min(words.len());
                        let end = (start + LEAF_WORDS).min(words.len());
                        map::encode_leaf(&words[start..end], at)
                    }
                    Some(below) => {
                        let start = idx * MAP_FANOUT;
                        let end = (start + MAP_FANOUT).min(self.levels[below].len());
                        let level = u8::try_from(level).expect("few levels");
                        map::encode_index(&self.levels[below][start..end], level, at)
                    }
                };
                Some(MapWrite { id: at.id, bytes })
            })
            .collect()
    }

    /// Notes that a header names the map as it is.
    pub(crate) fn written(&mut self) {
        self.dirty.clear();
        self.moved.clear();
    }
}

fn leaf_of(unit: u64) -> usize {
    usize::try_from(unit / MAP_LEAF_UNITS).expect("map leaves of a file fit the address space")
}

/// Reads a whole map: the reachable units it names, and where its pages lie.
///
/// # Errors
/// `Corrupted` if a page is damaged or the levels contradict each other.
pub(crate) fn load_map(pager: &Pager, root: MapRoot) -> Result<(UnitMap, MapTree)> {
    let file_units = pager.disk().len()? / UNIT_BYTES as u64;
    let mut levels = vec![vec![root.top]];
    for level in (1..=root.height).rev() {
        let mut below = Vec::new();
        let above = levels.last().map(Vec::as_slice).unwrap_or_default();
        for (idx, at) in above.iter().enumerate() {
            let Some(at) = at else {
                return Err(Corruption::new("index page of the space map is missing").into());
            };
            let page = pager.read_units(at.id.offset(), UNIT_BYTES)?;
            let children = map::decode_index(&page, level, *at)?;
            if idx + 1 < above.len() && children.len() != MAP_FANOUT {
                let corruption = Corruption::new("index page of the space map is not full");
                return Err(corruption.page(at.id.0).into());
            }
            below.extend(children);
            if below.len() as u64 > file_units + MAP_FANOUT as u64 {
                // Each map page takes a unit, so more of them than units means that they name each other.
                return Err(
                    Corruption::new("space map has more pages than the file has units").into(),
                );
            }
        }
        levels.push(below);
    }
    levels.reverse();
    let mut words = Vec::new();
    for (idx, at) in levels[0].iter().enumerate() {
        let Some(at) = at else { continue };
        if idx as u64 * MAP_LEAF_UNITS >= file_units {
            let corruption = Corruption::new("space map describes units past the end of the file");
            return Err(corruption.page(at.id.0).into());
        }
        let page = pager.read_units(at.id.offset(), UNIT_BYTES)?;
        words.resize(idx * LEAF_WORDS, 0);
        words.extend(map::decode_leaf(&page, *at)?);
    }
    let tree = MapTree {
        levels,
        dirty: BTreeSet::new(),
        moved: BTreeSet::new(),
    };
    Ok((UnitMap::from_words(words), tree))
}

impl MapTree {
    /// Every page of the map.
    pub(crate) fn pages(&self) -> impl Iterator<Item = MapRef> {
        self.levels.iter().flatten().flatten().copied()
    }
}
