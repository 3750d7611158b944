//! The space map on disk: map leaves under a radix tree of index pages, copied on write.

use std::collections::BTreeSet;

use super::bitmap::UnitMap;
use crate::cache::Pager;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::map::{self, MAP_BITMAP_BYTES, MAP_FANOUT, MAP_LEAF_UNITS, MapRef};
use crate::page::{Number, PageId, UNIT_BYTES};
use crate::probe;

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

/// A step towards a map that describes the durable units; each may dirty further pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapStep {
    /// The page moves to a fresh unit.
    Move(MapPlace),
    /// The leaf holds no reachable unit and needs no page.
    Clear(MapPlace),
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

    /// Places of map pages, whether or not a page is there.
    pub(super) fn place_count(&self) -> usize {
        self.levels.iter().map(Vec::len).sum()
    }

    /// Notes that the bits of a run have changed.
    pub(crate) fn touch(&mut self, start: u64, count: u64) {
        let first = leaf_of(start);
        let last = leaf_of(start + count.max(1) - 1);
        probe::operated_on_space(int::wide(last - first + 1));
        self.dirty.extend(first..=last);
    }

    /// Fits the map to `end` units: exactly where `exact`, else only upwards. Returns the pages given up by it.
    ///
    /// Index pages say nothing that the leaves do not, so all of them are made afresh when the number of leaves changes.
    pub(crate) fn fit(&mut self, end: u64, exact: bool) -> Vec<MapRef> {
        let leaves = leaf_of(end.max(1) - 1) + 1;
        if leaves == self.levels[0].len() || (leaves < self.levels[0].len() && !exact) {
            return Vec::new();
        }
        let mut given_up: Vec<MapRef> = self.levels.drain(1..).flatten().flatten().collect();
        let kept = leaves.min(self.levels[0].len());
        given_up.extend(self.levels[0].drain(kept..).flatten());
        probe::operated_on_space(int::wide(given_up.len()));
        self.levels[0].resize(leaves, None);
        self.moved
            .retain(|&(level, idx)| level == 0 && idx < leaves);
        while let Some(below) = self.levels.last().map(Vec::len)
            && below > 1
        {
            self.levels.push(vec![None; below.div_ceil(MAP_FANOUT)]);
        }
        given_up
    }

    /// What must be done next for the map to describe `durable`; `None` when it does.
    pub(crate) fn next_step(&self, durable: &UnitMap) -> Option<MapStep> {
        for &leaf in self.dirty.range(..self.levels[0].len()) {
            probe::operated_on_space(int::wide(1 + self.levels.len()));
            let place = (0, leaf);
            let at = self.levels[0][leaf];
            match (is_zero(durable, leaf), at) {
                (true, Some(_)) => return Some(MapStep::Clear(place)),
                (false, None) => return Some(MapStep::Move(place)),
                (false, Some(_)) if !self.moved.contains(&place) => {
                    return Some(MapStep::Move(place));
                }
                _ => {}
            }
            let mut idx = leaf;
            for level in 1..self.levels.len() {
                idx /= MAP_FANOUT;
                if !self.moved.contains(&(level, idx)) {
                    return Some(MapStep::Move((level, idx)));
                }
            }
        }
        self.missing_index().map(MapStep::Move)
    }

    /// Has the page on `unit`, if it is a map page that has not moved in this flip, move with all above it.
    pub(crate) fn disturb(&mut self, unit: u64) -> bool {
        let mut places = self.levels.iter().enumerate().flat_map(|(level, pages)| {
            let refs = pages.iter().enumerate();
            refs.map(move |(idx, at)| ((level, idx), at))
        });
        let found = places.find(|(_, at)| {
            probe::operated_on_space(1);
            at.is_some_and(|at| at.id.0 == unit)
        });
        let Some((level, idx)) = found.map(|(place, _)| place) else {
            return false;
        };
        if self.moved.contains(&(level, idx)) {
            return false;
        }
        let leaves_below = (0..level).fold(1, |leaves, _| leaves * MAP_FANOUT);
        self.dirty.insert(idx * leaves_below)
    }

    /// An index page that has no place yet.
    fn missing_index(&self) -> Option<MapPlace> {
        let levels = self.levels.iter().enumerate().skip(1);
        levels
            .filter_map(|(level, pages)| {
                let missing = pages.iter().position(Option::is_none);
                probe::operated_on_space(int::wide(missing.map_or(pages.len(), |idx| idx + 1)));
                Some((level, missing?))
            })
            .next()
    }

    /// Gives a page its fresh unit; returns the old one.
    pub(crate) fn relocate(
        &mut self,
        place: MapPlace,
        id: PageId,
        birth: Number,
    ) -> Option<MapRef> {
        probe::operated_on_space(2);
        self.moved.insert(place);
        self.levels[place.0][place.1].replace(MapRef { id, birth })
    }

    /// Gives up the page of a leaf in which nothing is reachable; returns it.
    pub(crate) fn clear(&mut self, place: MapPlace) -> Option<MapRef> {
        probe::operated_on_space(2);
        self.moved.remove(&place);
        self.levels[place.0][place.1].take()
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
                        probe::operated_on_space(int::wide(LEAF_WORDS));
                        let start = (idx * LEAF_WORDS).min(words.len());
                        let end = (start + LEAF_WORDS).min(words.len());
                        map::encode_leaf(&words[start..end], at)
                    }
                    Some(below) => {
                        let start = idx * MAP_FANOUT;
                        let end = (start + MAP_FANOUT).min(self.levels[below].len());
                        probe::operated_on_space(int::wide(end - start));
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

/// Whether no unit of a map leaf is reachable.
fn is_zero(durable: &UnitMap, leaf: usize) -> bool {
    let words = durable.words();
    let start = (leaf * LEAF_WORDS).min(words.len());
    let end = (start + LEAF_WORDS).min(words.len());
    words[start..end].iter().all(|&word| {
        probe::operated_on_space(1);
        word == 0
    })
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
