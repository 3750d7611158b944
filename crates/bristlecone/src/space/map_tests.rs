//! The space map through growth and shrinking over leaves and index levels, on a disk that stores only what is written:
//! after each flip the map is loaded from it and compared with the units that the model holds.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex};

use super::map_tree::{MapTree, load_map};
use super::{MapRoot, Numbers, Session, Space, UnitMap, VersionPin};
use crate::cache::{Budget, Pager};
use crate::counters::Counters;
use crate::page::map::MAP_LEAF_UNITS;
use crate::page::{Number, PageId, UNIT_BYTES};
use crate::vfs::{Disk, StorageBackend};

/// A file of any length that keeps only the units written.
#[derive(Debug, Default)]
struct Sparse {
    len: Mutex<u64>,
    units: Mutex<HashMap<u64, Vec<u8>>>,
}

impl StorageBackend for Sparse {
    fn len(&self) -> io::Result<u64> {
        Ok(*self.len.lock().unwrap())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let units = self.units.lock().unwrap();
        match units.get(&(offset / UNIT_BYTES as u64)) {
            Some(unit) => out.copy_from_slice(unit),
            None => out.fill(0),
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        *self.len.lock().unwrap() = len;
        let end = len / UNIT_BYTES as u64;
        self.units.lock().unwrap().retain(|unit, _| *unit < end);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        assert_eq!(data.len(), UNIT_BYTES, "map pages are one unit");
        let unit = offset / UNIT_BYTES as u64;
        self.units.lock().unwrap().insert(unit, data.to_vec());
        Ok(())
    }
}

struct Bench {
    space: Arc<Space>,
    pager: Pager,
    /// Units that pages other than the map's hold: first unit, count and birth.
    held: BTreeMap<u64, (u32, Number)>,
    pin: Arc<VersionPin>,
}

impl Bench {
    fn new() -> Bench {
        let disk = Arc::new(Disk::new(Box::<Sparse>::default()));
        disk.truncate(2 * UNIT_BYTES as u64).unwrap();
        let pager = Pager::new(Arc::clone(&disk), Budget::new(1 << 20), 8192);
        let top = MapRoot {
            top: None,
            height: 0,
        };
        let (durable, map): (UnitMap, MapTree) = load_map(&pager, top).unwrap();
        let numbers = Numbers {
            next: Number(2),
            ceiling: Number(1 << 40),
        };
        let counters = Arc::new(Counters::default());
        let space = Space::new(&disk, durable, map, numbers, &counters).unwrap();
        let pin = Arc::new(VersionPin(Number(1)));
        space.opened(&pin);
        Bench {
            space,
            pager,
            held: BTreeMap::new(),
            pin,
        }
    }

    fn draw(&mut self, session: &mut Session, units: u32) {
        let id = session.allocate(units).unwrap();
        let previous = self.held.insert(id.0, (units, session.number()));
        assert!(previous.is_none());
    }

    fn free(&mut self, session: &mut Session, first: u64) {
        let (units, birth) = self.held.remove(&first).unwrap();
        session.free(PageId(first), units, birth);
    }

    /// Flips, trims, and compares the map on the disk with the model; returns the map's height and leaves.
    fn flip(&mut self, mut session: Session) -> (u8, u64) {
        let settled = self.space.settle(&mut session).unwrap();
        let pin = Arc::new(VersionPin(self.space.fresh_number()));
        self.space.flipped(session, &pin);
        self.pin = pin;
        self.space.reap();
        self.space.trim(true).unwrap();
        let (durable, tree) = load_map(&self.pager, settled.map).unwrap();
        let mut expected = UnitMap::default();
        for (&first, &(units, _)) in &self.held {
            assert!(expected.insert(first, u64::from(units)));
        }
        for page in tree.pages() {
            assert!(
                expected.insert(page.id.0, 1),
                "map page {} is held",
                page.id.0
            );
        }
        assert_eq!(durable.difference(&expected, 8), Vec::<u64>::new());
        (settled.map.height, settled.units.div_ceil(MAP_LEAF_UNITS))
    }
}

#[test]
fn the_map_follows_a_file_that_grows_and_shrinks_over_levels() {
    let mut bench = Bench::new();
    let leaf = u32::try_from(MAP_LEAF_UNITS).unwrap();
    let mut heights = Vec::new();
    // Up over 336 leaves, where a second index page begins, by jumps that skip whole leaves, then down to nothing.
    for units in [
        10,
        leaf,
        leaf * 3,
        leaf * 100,
        5,
        leaf * 300,
        leaf * 7,
        1,
        leaf * 500,
    ] {
        let mut session = bench.space.begin();
        bench.draw(&mut session, units);
        heights.push(bench.flip(session).0);
    }
    assert_eq!(heights.last(), Some(&2));
    while let Some((&first, _)) = bench.held.last_key_value() {
        let mut session = bench.space.begin();
        bench.free(&mut session, first);
        heights.push(bench.flip(session).0);
    }
    // The map's own pages leave the tail in the flips that follow, though nothing else changes.
    let mut last = (9, 9);
    for _ in 0..4 {
        let session = bench.space.begin();
        last = bench.flip(session);
    }
    assert_eq!(last, (0, 1), "heights {heights:?}");
}

#[test]
fn random_sessions_keep_the_map_exact() {
    let mut bench = Bench::new();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = move |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % limit
    };
    for round in 0..200 {
        let mut session = bench.space.begin();
        for _ in 0..below(4) {
            let scale = [4, 1000, 40_000, 3_000_000][usize::try_from(below(4)).unwrap()];
            bench.draw(&mut session, u32::try_from(below(scale) + 1).unwrap());
        }
        let share = if round % 50 < 25 { 3 } else { 1 };
        let firsts: Vec<u64> = bench.held.keys().copied().collect();
        for first in firsts {
            if below(4) >= share {
                bench.free(&mut session, first);
            }
        }
        if below(5) == 0 {
            // Dropped: what it drew is free again, what it freed was never given up.
            let drawn: Vec<u64> = session.born().keys().copied().collect();
            let freed: Vec<_> = session.freed().to_vec();
            bench.held.retain(|first, _| !drawn.contains(first));
            bench.held.extend(
                freed
                    .iter()
                    .map(|page| (page.id.0, (page.units, page.birth))),
            );
            continue;
        }
        bench.flip(session);
    }
}
