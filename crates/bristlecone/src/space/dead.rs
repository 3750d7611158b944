//! Live versions and their dead lists: what was freed and which versions still reach it.
//!
//! A freed page is reached by the live versions from some oldest `w` to some newest `v`. It lies on the list of `v`, in
//! the sublist of `w`. When `v` departs, the sublist of `v` itself is free, and every other moves whole to the next older
//! live version; when `w` departs, its sublists pass whole to the next newer one. So a page is touched when it is freed
//! and when it becomes free, and never in between.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use crate::int;
use crate::page::{Number, PageId};
use crate::probe;

/// Units freed by a flip, with the birth that decides who reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freed {
    /// First unit.
    pub(crate) id: PageId,
    /// Units.
    pub(crate) units: u32,
    /// Session that wrote them.
    pub(crate) birth: Number,
}

/// What keeps a version live: whoever holds one may read the version.
#[derive(Debug)]
pub(crate) struct VersionPin(pub(crate) Number);

/// Whole lists of freed pages, moved without looking into them.
type Sublist = Vec<Vec<Freed>>;

#[derive(Debug, Default)]
struct Live {
    pin: Weak<VersionPin>,
    dead: BTreeMap<Number, Sublist>,
}

/// The live versions of a database.
#[derive(Debug, Default)]
pub(crate) struct LiveVersions {
    versions: BTreeMap<Number, Live>,
    /// Versions that each header slot may name on disk.
    slots: [Vec<Number>; 2],
}

impl LiveVersions {
    /// Registers a version that was published or opened.
    pub(crate) fn register(&mut self, pin: &Arc<VersionPin>) {
        let live = Live {
            pin: Arc::downgrade(pin),
            dead: BTreeMap::new(),
        };
        self.versions.insert(pin.0, live);
    }

    /// Notes that slot `idx` was written with `version`: until a sync it may hold the old content or the new.
    pub(crate) fn slot_written(&mut self, idx: usize, version: Number) {
        let names = &mut self.slots[idx];
        if names.last() != Some(&version) {
            names.push(version);
        }
    }

    /// Notes that what was written last to slot `idx` is durable.
    pub(crate) fn slot_settled(&mut self, idx: usize) {
        let names = &mut self.slots[idx];
        names.drain(..names.len().saturating_sub(1));
    }

    /// Takes over what the version `death` freed; returns what no live version reaches.
    pub(crate) fn bury(&mut self, death: Number, freed: Vec<Freed>) -> Vec<Freed> {
        let mut lists: BTreeMap<(Number, Number), Vec<Freed>> = BTreeMap::new();
        let mut unreached = Vec::new();
        for page in freed {
            let mut reaching = self
                .versions
                .range(page.birth..death)
                .map(|(number, _)| *number);
            // The page, a probe for each end of the versions that reach it, and the page's place on a list.
            probe::operated_on_space(4);
            match (reaching.next(), reaching.next_back()) {
                (None, _) => unreached.push(page),
                (Some(oldest), newest) => {
                    lists
                        .entry((newest.unwrap_or(oldest), oldest))
                        .or_default()
                        .push(page);
                }
            }
        }
        for ((newest, oldest), list) in lists {
            probe::operated_on_space(2);
            if let Some(live) = self.versions.get_mut(&newest) {
                live.dead.entry(oldest).or_default().push(list);
            }
        }
        unreached
    }

    /// Finds out which versions have departed and returns what became free by it.
    pub(crate) fn reap(&mut self) -> Vec<Freed> {
        probe::operated_on_space(int::wide(self.versions.len()));
        let departed: Vec<Number> = self
            .versions
            .iter()
            .filter(|(number, live)| live.pin.strong_count() == 0 && !self.is_in_slot(**number))
            .map(|(number, _)| *number)
            .collect();
        departed
            .into_iter()
            .flat_map(|number| self.depart(number))
            .flatten()
            .collect()
    }

    fn is_in_slot(&self, number: Number) -> bool {
        self.slots.iter().any(|names| names.contains(&number))
    }

    fn depart(&mut self, number: Number) -> Sublist {
        probe::operated_on_space(1);
        let Some(live) = self.versions.remove(&number) else {
            return Vec::new();
        };
        let mut free = Vec::new();
        for (oldest, mut list) in live.dead {
            // A list is moved whole, whatever its length: the entry, and a probe for its new place.
            probe::operated_on_space(2);
            match self.versions.range_mut(..number).next_back() {
                Some((_, older)) if oldest != number => {
                    older.dead.entry(oldest).or_default().append(&mut list);
                }
                _ => free.append(&mut list),
            }
        }
        let next = self.versions.range(number..).next().map(|(next, _)| *next);
        if let Some(next) = next {
            for (_, newer) in self.versions.range_mut(number..) {
                probe::operated_on_space(1);
                if let Some(mut list) = newer.dead.remove(&number) {
                    probe::operated_on_space(1);
                    newer.dead.entry(next).or_default().append(&mut list);
                }
            }
        }
        free
    }

    /// Versions that somebody holds, the published one included.
    pub(crate) fn held_count(&self) -> usize {
        let pins = self.versions.values().map(|live| live.pin.strong_count());
        pins.filter(|&count| count > 0).count()
    }

    /// Units freed but still reached, in all.
    pub(crate) fn pending_units(&self) -> u64 {
        self.lists().map(|page| u64::from(page.units)).sum()
    }

    /// Everything freed but still reached.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &Freed> {
        self.versions
            .values()
            .flat_map(|live| live.dead.values())
            .flatten()
            .flatten()
            .inspect(|_| probe::operated_on_space(1))
    }
}
