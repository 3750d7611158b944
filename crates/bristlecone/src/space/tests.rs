//! The allocator against models that do the obvious thing: a set of units searched one by one, a list of freed pages
//! asked for each live version. Random runs with fixed seeds.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::dead::{Freed, LiveVersions};
use super::*;
use crate::cache::{Budget, Pager};
use crate::counters::Counters;
use crate::page::map::MAP_LEAF_UNITS;
use crate::page::{Number, PageId, UNIT_BYTES};
use crate::vfs::{Disk, StorageBackend};

/// xorshift64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 9) % limit
    }
}

/// A backend with holes: only units that were written take memory.
#[derive(Debug, Default)]
struct Sparse(std::sync::Mutex<(u64, BTreeMap<u64, Vec<u8>>)>);

impl StorageBackend for Sparse {
    fn len(&self) -> std::io::Result<u64> {
        Ok(self.0.lock().unwrap().0)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        let state = self.0.lock().unwrap();
        assert!(offset + out.len() as u64 <= state.0, "read past the end");
        for (idx, unit) in (offset / UNIT_BYTES as u64..).zip(out.chunks_mut(UNIT_BYTES)) {
            match state.1.get(&idx) {
                Some(found) => unit.copy_from_slice(found),
                None => unit.fill(0),
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.0 = len;
        state.1.split_off(&(len / UNIT_BYTES as u64));
        Ok(())
    }

    fn sync_data(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        let mut state = self.0.lock().unwrap();
        assert!(offset + data.len() as u64 <= state.0, "write past the end");
        for (idx, unit) in (offset / UNIT_BYTES as u64..).zip(data.chunks(UNIT_BYTES)) {
            state.1.insert(idx, unit.to_vec());
        }
        Ok(())
    }
}

fn naive_absent(set: &BTreeSet<u64>, count: u64) -> u64 {
    (0..)
        .find(|&start| (start..start + count).all(|unit| !set.contains(&unit)))
        .unwrap()
}

#[test]
fn the_unit_map_finds_the_lowest_run_that_a_search_one_by_one_finds() {
    for seed in 1..30 {
        let mut rng = Rng(seed * 77);
        let mut map = UnitMap::default();
        let mut set = BTreeSet::new();
        for _ in 0..400 {
            let count = match rng.below(4) {
                0 => 1,
                1 => 1 + rng.below(17),
                _ => 1 + rng.below(70),
            };
            let run = match rng.below(3) {
                0 => rng.below(900),
                _ => map.find_absent(count),
            };
            if rng.below(3) == 0 {
                let all = (run..run + count).all(|unit| set.contains(&unit));
                assert_eq!(map.contains_all(run, count), all);
                assert_eq!(map.remove(run, count), all);
                set.retain(|unit| !(run..run + count).contains(unit));
            } else {
                let none = (run..run + count).all(|unit| !set.contains(&unit));
                assert_eq!(map.insert(run, count), none);
                set.extend(run..run + count);
            }
            let wanted = 1 + rng.below(40);
            assert_eq!(
                map.find_absent(wanted),
                naive_absent(&set, wanted),
                "seed {seed}"
            );
        }
        assert_eq!(map.count(), set.len() as u64);
        assert_eq!(map.end(), set.last().map_or(0, |last| last + 1));
        assert!((0..1000).all(|unit| map.contains(unit) == set.contains(&unit)));
        let other = UnitMap::from_words(map.words().iter().map(|word| word ^ 0x10).collect());
        let differing: Vec<u64> = (0..map.words().len() as u64)
            .map(|idx| idx * 64 + 4)
            .collect();
        assert_eq!(map.difference(&other, 1000), differing);
        assert_eq!(map.difference(&other, 2), differing[..2]);
        assert_eq!(map.difference(&map.clone(), 9), []);
    }
}

#[test]
fn runs_at_the_end_of_the_address_space_are_not_held() {
    let mut map = UnitMap::default();
    map.insert(0, 64);
    assert!(!map.contains_all(u64::MAX, 2));
    assert!(!map.contains_all(60, u64::MAX - 60));
    assert!(!map.contains(u64::MAX));
}

/// What the free rule says, page by page.
struct Brute {
    live: LiveVersions,
    pins: Vec<Arc<VersionPin>>,
    slots: [Vec<Number>; 2],
    versions: BTreeSet<Number>,
    reachable: Vec<Freed>,
    /// With the version that freed each.
    freed: Vec<(Freed, Number)>,
    free: BTreeSet<u64>,
    next: u64,
}

impl Brute {
    fn number(&mut self) -> Number {
        self.next += 1;
        Number(self.next)
    }

    /// Publishes a version that writes and frees some pages, as a flip does.
    fn publish(&mut self, rng: &mut Rng) {
        let session = self.number();
        let version = self.number();
        let mut freed = Vec::new();
        for _ in 0..rng.below(20) {
            if !self.reachable.is_empty() {
                let idx = rng.below(self.reachable.len() as u64) as usize;
                freed.push(self.reachable.swap_remove(idx));
            }
        }
        for _ in 0..rng.below(20) {
            let id = self.next * 100 + self.reachable.len() as u64;
            self.reachable.push(Freed {
                id: PageId(id),
                units: 1 + (id % 3) as u32,
                birth: session,
            });
        }
        self.freed.extend(freed.iter().map(|page| (*page, version)));
        self.slot_written(0, version);
        self.slot_settled(0);
        self.slot_written(1, version);
        let pin = Arc::new(VersionPin(version));
        let unreached = self.live.bury(version, freed);
        self.live.register(&pin);
        self.versions.insert(version);
        // The newest version is always held; older ones only by readers.
        if let Some(last) = self.pins.pop()
            && rng.below(3) == 0
        {
            self.pins.insert(0, last);
        }
        self.pins.push(pin);
        self.take(unreached);
        self.reap();
    }

    fn slot_written(&mut self, idx: usize, version: Number) {
        self.live.slot_written(idx, version);
        self.slots[idx].push(version);
    }

    fn slot_settled(&mut self, idx: usize) {
        self.live.slot_settled(idx);
        let last = self.slots[idx].pop();
        self.slots[idx] = last.into_iter().collect();
    }

    fn take(&mut self, pages: Vec<Freed>) {
        for page in pages {
            assert!(self.free.insert(page.id.0), "freed twice");
        }
    }

    fn reap(&mut self) {
        let pages = self.live.reap();
        self.take(pages);
        let pins: BTreeSet<Number> = self.pins.iter().map(|pin| pin.0).collect();
        let named: BTreeSet<Number> = self.slots.iter().flatten().copied().collect();
        self.versions
            .retain(|version| pins.contains(version) || named.contains(version));
        let mut pending = 0;
        for (page, death) in &self.freed {
            let reached = self.versions.range(page.birth..*death).next().is_some();
            assert_eq!(
                reached,
                !self.free.contains(&page.id.0),
                "{page:?} freed by {death:?}"
            );
            pending += if reached { u64::from(page.units) } else { 0 };
        }
        assert_eq!(self.live.pending_units(), pending);
    }
}

#[test]
fn freed_pages_become_free_exactly_when_no_live_version_reaches_them() {
    for seed in 1..60 {
        let mut rng = Rng(seed * 31);
        let mut brute = Brute {
            live: LiveVersions::default(),
            pins: Vec::new(),
            slots: [Vec::new(), Vec::new()],
            versions: BTreeSet::new(),
            reachable: Vec::new(),
            freed: Vec::new(),
            free: BTreeSet::new(),
            next: 0,
        };
        for _ in 0..60 {
            brute.publish(&mut rng);
            for _ in 0..rng.below(3) {
                match rng.below(3) {
                    0 => brute.slot_settled(1),
                    1 if brute.pins.len() > 1 => {
                        let idx = rng.below(brute.pins.len() as u64 - 1) as usize;
                        brute.pins.remove(idx);
                    }
                    _ => {}
                }
                brute.reap();
            }
        }
        brute.pins.drain(..brute.pins.len() - 1);
        brute.slot_settled(1);
        brute.reap();
        assert_eq!(brute.live.pending_units(), 0, "all readers are gone");
    }
}

struct File {
    pager: Pager,
    space: Arc<Space>,
    current: Arc<VersionPin>,
}

impl File {
    fn new(ceiling: u64) -> File {
        let disk = Arc::new(Disk::new(Box::<Sparse>::default()));
        disk.truncate(HEADER_UNITS * UNIT_BYTES as u64).unwrap();
        let pager = Pager::new(Arc::clone(&disk), Budget::new(1 << 20), 4096);
        let root = MapRoot {
            top: None,
            height: 0,
        };
        let (durable, map) = load_map(&pager, root).unwrap();
        let numbers = Numbers {
            next: Number(2),
            ceiling: Number(ceiling),
        };
        let counters = Arc::new(Counters::default());
        let space = Space::new(&disk, durable, map, numbers, &counters).unwrap();
        let current = Arc::new(VersionPin(Number(1)));
        space.opened(&current);
        File {
            pager,
            space,
            current,
        }
    }

    /// Flips the session and reads the map back from the disk.
    fn flip(&mut self, mut session: Session) -> (UnitMap, MapRoot) {
        let settled = self.space.settle(&mut session).unwrap();
        let version = self.space.fresh_number();
        let pin = Arc::new(VersionPin(version));
        self.space.slot_written(0, version);
        self.space.slot_settled(0);
        self.space.flipped(session, &pin);
        self.current = pin;
        self.space.reap();
        let (durable, tree) = load_map(&self.pager, settled.map).unwrap();
        assert!(tree.pages().all(|page| durable.contains(page.id.0)));
        assert_eq!(durable.end(), settled.units);
        (durable, settled.map)
    }
}

#[test]
fn the_durable_map_is_what_sessions_drew_less_what_they_freed() {
    let mut file = File::new(1 << 20);
    let mut rng = Rng(9);
    let mut pages: Vec<(PageId, u32, Number)> = Vec::new();
    for round in 0..60 {
        let mut session = file.space.begin();
        let mut draft = pages.clone();
        for _ in 0..rng.below(60) {
            if rng.below(3) == 0 && !draft.is_empty() {
                let (id, units, birth) = draft.swap_remove(rng.below(draft.len() as u64) as usize);
                session.free(id, units, birth);
            } else {
                let units = 1 + rng.below(20) as u32;
                let id = session.allocate(units).unwrap();
                draft.push((id, units, session.number()));
            }
        }
        let mut seen = UnitMap::default();
        for (id, units, _) in &draft {
            assert!(
                seen.insert(id.0, u64::from(*units)),
                "round {round}: drawn twice"
            );
        }
        if round % 5 == 4 {
            drop(session);
            continue;
        }
        pages = draft;
        let (durable, root) = file.flip(session);
        let (_, tree) = load_map(&file.pager, root).unwrap();
        for page in tree.pages() {
            assert!(
                seen.insert(page.id.0, 1),
                "round {round}: a map page is a page"
            );
        }
        assert_eq!(durable.difference(&seen, 9), [], "round {round}");
    }
}

#[test]
fn the_map_grows_over_several_levels_and_finds_its_pages_again() {
    let mut file = File::new(1 << 20);
    let mut drawn = Vec::new();
    let mut heights = BTreeSet::new();
    let unit_counts = [
        10,
        MAP_LEAF_UNITS,
        40 * MAP_LEAF_UNITS,
        300 * MAP_LEAF_UNITS,
        5,
    ];
    for units in unit_counts {
        let mut session = file.space.begin();
        let units = u32::try_from(units).unwrap();
        let id = session.allocate(units).unwrap();
        drawn.push((id, units, session.number()));
        let (durable, root) = file.flip(session);
        heights.insert(root.height);
        for (id, units, _) in &drawn {
            assert!(durable.contains_all(id.0, u64::from(*units)));
        }
    }
    assert!(heights.contains(&2), "{heights:?}");
    for (id, units, birth) in std::mem::take(&mut drawn) {
        let mut session = file.space.begin();
        session.free(id, units, birth);
        let (durable, _) = file.flip(session);
        assert!(
            (id.0..id.0 + 10)
                .take(units as usize)
                .all(|unit| !durable.contains(unit))
        );
    }
    let mut session = file.space.begin();
    let id = session.allocate(7).unwrap();
    assert!(id.0 < 1000, "freed space is not drawn again");
}

#[test]
fn a_failed_settle_leaves_the_map_as_it_was() {
    let mut file = File::new(1 << 20);
    let mut session = file.space.begin();
    let id = session.allocate(5).unwrap();
    let birth = session.number();
    let (before, _) = file.flip(session);
    let mut session = file.space.begin();
    session.allocate(3).unwrap();
    session.free(id, 5, birth);
    session.free(PageId(500), 1, birth);
    assert!(file.space.settle(&mut session).is_err());
    drop(session);
    let mut session = file.space.begin();
    session.allocate(1).unwrap();
    let (after, _) = file.flip(session);
    assert!(after.contains_all(id.0, 5));
    assert_eq!(after.count(), before.count() + 1);
}

#[test]
fn units_freed_when_numbers_are_scarce_are_not_lost() {
    let mut file = File::new(60);
    let mut session = file.space.begin();
    let kept = session.allocate(1).unwrap();
    for _ in 0..100 {
        let id = session.allocate(2).unwrap();
        let birth = session.number();
        session.free(id, 2, birth);
    }
    let (durable, root) = file.flip(session);
    let (_, tree) = load_map(&file.pager, root).unwrap();
    assert!(durable.contains(kept.0));
    assert_eq!(durable.count(), 1 + tree.pages().count() as u64);
}
