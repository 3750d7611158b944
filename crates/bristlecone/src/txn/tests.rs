//! Write buffers against a `BTreeMap`, in both directions and under several orders; the gate against threads.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Atomic};

use super::buffer::{Place, WriteBuffer};
use super::gate::Gate;
use crate::checkpoint::{Checkpoint, OpenMode, Options, create_if_unwritten};
use crate::page::leaf::Stored;
use crate::page::order::KeyCompare;
use crate::page::{ExtentRef, Number, PageId};
use crate::vfs::{Disk, InMemoryBackend};

/// A key under a comparator, so that a map orders it as the buffer must.
#[derive(Clone)]
struct Ranked(Vec<u8>, fn(&[u8], &[u8]) -> Ordering);

impl PartialEq for Ranked {
    fn eq(&self, other: &Ranked) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        (self.1)(&self.0, &other.0)
    }
}

type Model = BTreeMap<Ranked, Option<Vec<u8>>>;

fn bytewise(left: &[u8], right: &[u8]) -> Ordering {
    left.cmp(right)
}

fn reversed(left: &[u8], right: &[u8]) -> Ordering {
    right.cmp(left)
}

fn case_blind(left: &[u8], right: &[u8]) -> Ordering {
    left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase())
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 9
}

fn value_of(stored: Stored<'_>) -> Option<Vec<u8>> {
    match stored {
        Stored::Inline(bytes) => Some(bytes.to_vec()),
        Stored::Extent(extent) => Some(extent.encode().to_vec()),
        Stored::Tombstone => None,
    }
}

fn compare_all(buffer: &WriteBuffer, model: &Model, compare: &KeyCompare) {
    let mut place = buffer.seek(Bound::Unbounded, compare);
    for (key, value) in model {
        let at = place.unwrap();
        assert_eq!(buffer.key(at), key.0);
        assert_eq!(value_of(buffer.stored(at)), *value);
        place = buffer.after(at);
    }
    assert!(place.is_none());
    let mut place = buffer.seek_back(Bound::Unbounded, compare);
    for key in model.keys().rev() {
        let at = place.unwrap();
        assert_eq!(buffer.key(at), key.0);
        place = buffer.preceding(at);
    }
    assert!(place.is_none());
}

fn compare_seeks(buffer: &WriteBuffer, model: &Model, key: &Ranked, compare: &KeyCompare) {
    let at = |place: Option<Place>| place.map(|at| buffer.key(at).to_vec());
    let first = |bounds: (Bound<&Ranked>, Bound<&Ranked>)| {
        model
            .range::<Ranked, _>(bounds)
            .next()
            .map(|(key, _)| key.0.clone())
    };
    let last = |bounds: (Bound<&Ranked>, Bound<&Ranked>)| {
        model
            .range::<Ranked, _>(bounds)
            .next_back()
            .map(|(key, _)| key.0.clone())
    };
    for bound in [Bound::Included(key), Bound::Excluded(key)] {
        let raw = bound.map(|key| key.0.as_slice());
        assert_eq!(
            at(buffer.seek(raw, compare)),
            first((bound, Bound::Unbounded))
        );
        assert_eq!(
            at(buffer.seek_back(raw, compare)),
            last((Bound::Unbounded, bound))
        );
    }
    let found = buffer.get(&key.0, compare).map(value_of);
    assert_eq!(found, model.get(key).cloned());
}

fn run(order: fn(&[u8], &[u8]) -> Ordering, compare: &KeyCompare) {
    let mut state = 42;
    let mut buffer = WriteBuffer::default();
    let mut model = Model::new();
    compare_all(&buffer, &model, compare);
    for step in 0..3000 {
        let text = format!(
            "{}{}",
            ["k", "K", "key", ""][step % 4],
            random(&mut state) % 900
        );
        let key = match random(&mut state) % 50 {
            0 => Vec::new(),
            1 => vec![b'x'; (random(&mut state) % 9000) as usize],
            _ => text.into_bytes(),
        };
        let bytes = vec![step as u8; (random(&mut state) % 300) as usize];
        let extent = ExtentRef {
            id: PageId(random(&mut state) % 1000),
            len: 1 + random(&mut state) % 100_000,
            birth: Number(3),
            hash: 4,
        };
        let stored = match random(&mut state) % 5 {
            0 => Stored::Tombstone,
            1 => Stored::Extent(extent),
            _ => Stored::Inline(&bytes),
        };
        let before = buffer.bytes();
        buffer.set(&key, stored, compare);
        assert!(buffer.bytes() >= before);
        let ranked = Ranked(key, order);
        // The newest spelling of an equal key stands.
        model.remove(&ranked);
        model.insert(ranked.clone(), value_of(stored));
        compare_seeks(&buffer, &model, &ranked, compare);
        let other = format!("k{}", random(&mut state) % 1000).into_bytes();
        compare_seeks(&buffer, &model, &Ranked(other, order), compare);
        if step % 500 == 0 {
            compare_all(&buffer, &model, compare);
        }
    }
    compare_all(&buffer, &model, compare);
    assert!(!buffer.is_empty());
}

#[test]
fn a_buffer_agrees_with_a_map_under_every_order() {
    run(bytewise, &KeyCompare::Memcmp);
    run(bytewise, &KeyCompare::Function(bytewise));
    run(reversed, &KeyCompare::Function(reversed));
    run(case_blind, &KeyCompare::Function(case_blind));
}

fn checkpoint() -> Arc<Checkpoint> {
    let disk = Disk::new(Box::new(InMemoryBackend::new()));
    let options = Options {
        cache_bytes: 0,
        page_bytes: 4096,
    };
    create_if_unwritten(&disk, &options).unwrap();
    Arc::new(Checkpoint::open(disk, OpenMode::ReadWrite, &options).unwrap())
}

#[test]
fn the_gate_admits_one_at_a_time_and_wakes_those_who_wait() {
    let gate = Gate::new(checkpoint());
    let pass = gate.enter();
    // Set by whoever is inside, this thread first.
    let inside = AtomicBool::new(true);
    assert!(gate.try_enter().is_none());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let pass = gate.enter();
                assert!(!inside.swap(true, Atomic::SeqCst), "two are inside");
                std::thread::yield_now();
                inside.store(false, Atomic::SeqCst);
                drop(pass);
            });
        }
        std::thread::yield_now();
        inside.store(false, Atomic::SeqCst);
        drop(pass);
    });
    assert!(gate.try_enter().is_some());
    assert!(gate.try_enter().is_some());
}

#[test]
fn closing_waits_for_the_last_writer_without_blocking() {
    let checkpoint = checkpoint();
    let gate = Gate::new(Arc::clone(&checkpoint));
    let pass = gate.enter();
    assert!(!gate.close().unwrap());
    assert!(checkpoint.pager().disk().check_open().is_ok());
    drop(pass);
    assert!(checkpoint.pager().disk().check_open().is_err());
}
