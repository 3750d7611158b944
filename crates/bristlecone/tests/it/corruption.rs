//! Damage that no checksum was recomputed for: flipped bytes, cuts, stale, swapped, misdirected and zeroed pages. A
//! damaged file must yield right data or a typed error, and `check` must name every damaged page that is reachable.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bristlecone::{
    CommitError, Database, DatabaseError, ReadableDatabase, ReadableTable, StorageError,
};

use crate::corpus::{Corpus, Flipped, Kind, UNIT, check};
use crate::support::{Bytes, Rng, Shared, assert_sound, commit, current, memory};

const XORS: [u8; 3] = [0x01, 0x80, 0xFF];

/// Whether every byte of the large file is to be tried; minutes in a release build, an hour in a debug build.
fn is_exhaustive() -> bool {
    std::env::var_os("BRISTLECONE_EXHAUSTIVE").is_some_and(|value| value == "1")
}

/// Runs `work` for 0 to `count` on all processors.
fn in_parallel(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    if idx >= count {
                        break;
                    }
                    work(idx);
                }
            });
        }
    });
}

fn try_flip(corpus: &Corpus, at: usize, xor: u8) {
    let flipped = Flipped {
        base: Arc::clone(&corpus.bytes),
        at,
        xor,
    };
    let (kind, owner) = corpus.units[at / UNIT];
    let whole = corpus.judge(flipped.clone());
    let report = check(flipped).expect("one slot is intact");
    let named = report
        .findings
        .iter()
        .any(|finding| finding.page() == Some(owner));
    if kind == Kind::Unreached {
        assert!(whole && report.findings.is_empty(), "byte {at}: {report:?}");
        return;
    }
    assert!(
        named,
        "byte {at} ^ {xor:02x} in {kind:?} {owner}: {report:?}"
    );
    if kind == Kind::Slot {
        assert!(whole, "byte {at}: one damaged slot costs data");
    }
}

#[test]
fn every_flipped_byte_is_found_and_never_yields_wrong_data() {
    if is_exhaustive() {
        let corpus = Corpus::build(200);
        assert!(corpus.units.len() >= 190, "{}", corpus.units.len());
        in_parallel(corpus.bytes.len(), |at| {
            XORS.iter().for_each(|&xor| try_flip(&corpus, at, xor));
        });
        return;
    }
    let corpus = Corpus::build(40);
    let kinds = [
        Kind::Leaf,
        Kind::Branch,
        Kind::Map,
        Kind::Names,
        Kind::Roots,
        Kind::Extent,
    ];
    let pages = kinds.map(|kind| corpus.of_kind(kind)[0] * UNIT);
    let slots = [0, UNIT];
    let mut places: Vec<usize> = slots
        .into_iter()
        .chain(pages)
        .flat_map(|start| start..start + UNIT)
        .chain((0..corpus.bytes.len()).step_by(61))
        .collect();
    places.sort_unstable();
    places.dedup();
    in_parallel(places.len(), |idx| {
        try_flip(&corpus, places[idx], XORS[places[idx] % 3]);
    });
}

#[test]
fn a_damaged_slot_is_repaired_by_the_next_opening_for_writing() {
    let corpus = Corpus::build(30);
    for (at, other) in [
        (20, UNIT + 20),
        (UNIT + 4000, 4000),
        (UNIT, 0),
        (16, UNIT + 16),
    ] {
        let mut bytes = corpus.bytes.to_vec();
        bytes[at] ^= 0x40;
        let backend = Shared::of(bytes.clone());
        let db = Database::builder()
            .create_with_backend(backend.clone())
            .unwrap();
        assert_sound(&db);
        commit(&db, "more", [(&b"k"[..], Some(&b"v"[..]))]);
        db.close().unwrap();
        assert!(
            check(Shared::of(backend.bytes()))
                .unwrap()
                .findings
                .is_empty()
        );
        // Both slots damaged: refused, and untouched.
        bytes[other] ^= 0x04;
        let backend = Shared::of(bytes.clone());
        let error = Database::builder()
            .create_with_backend(backend.clone())
            .map(drop);
        assert!(
            matches!(
                error,
                Err(DatabaseError::Storage(StorageError::Corrupted(_))
                    | DatabaseError::NotADatabase
                    | DatabaseError::UpgradeRequired(_))
            ),
            "{error:?}"
        );
        assert!(backend.bytes() == bytes);
        assert!(!corpus.judge(Shared::of(bytes)));
    }
}

#[test]
fn the_newest_state_survives_the_loss_of_either_slot() {
    let (db, backend) = memory(4096, 1 << 20);
    let mut images = Vec::new();
    for round in 0..10_u8 {
        commit(&db, "t", [(&[round][..], Some(&b"v"[..]))]);
        images.push((backend.bytes(), usize::from(round) + 1));
    }
    db.close().unwrap();
    images.push((backend.bytes(), 10));
    for (image, rows) in images {
        for slot in [0, UNIT] {
            let mut bytes = image.clone();
            bytes[slot..slot + UNIT].fill(0);
            let db = Database::builder()
                .create_with_backend(Shared::of(bytes))
                .unwrap();
            assert_eq!(current(&db, "t").len(), rows);
            assert_sound(&db);
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error_and_one_with_a_tail_is_not() {
    let corpus = Corpus::build(30);
    let len = corpus.bytes.len();
    let cuts = (0..len)
        .step_by(UNIT)
        .flat_map(|at| [at, at + 1, at + 511, at + 4095]);
    for cut in cuts.filter(|&cut| cut < len) {
        let bytes = corpus.bytes[..cut].to_vec();
        assert!(!corpus.judge(Shared::of(bytes.clone())), "cut at {cut}");
        assert!(check(Shared::of(bytes.clone())).is_none(), "cut at {cut}");
        if cut > 0 {
            let backend = Shared::of(bytes);
            assert!(
                Database::builder()
                    .create_with_backend(backend.clone())
                    .is_err()
            );
            assert_eq!(backend.changes(), 0, "cut at {cut}");
        }
    }
    for tail in [1, 4095, 4096, 100_000] {
        let mut bytes = corpus.bytes.to_vec();
        bytes.extend(std::iter::repeat_n(0xA5, tail));
        assert!(corpus.judge(Shared::of(bytes.clone())));
        let db = Database::builder()
            .create_with_backend(Shared::of(bytes))
            .unwrap();
        commit(&db, "more", [(&b"k"[..], Some(&[1; 50_000][..]))]);
        assert_sound(&db);
    }
}

/// Replaces units of the file and demands that the damage shows wherever it is reachable.
fn judge_with(corpus: &Corpus, what: &str, places: [usize; 2], change: impl FnOnce(&mut [u8])) {
    let mut bytes = corpus.bytes.to_vec();
    change(&mut bytes);
    if bytes == *corpus.bytes {
        return;
    }
    let whole = corpus.judge(Shared::of(bytes.clone()));
    let report = check(Shared::of(bytes)).expect("one slot is intact");
    let damaged: Vec<(Kind, u64)> = places
        .map(|unit| corpus.units[unit])
        .into_iter()
        .filter(|(kind, _)| *kind != Kind::Unreached)
        .collect();
    // Of two damaged pages one may hide the other.
    let named = damaged.iter().any(|(_, owner)| {
        report
            .findings
            .iter()
            .any(|finding| finding.page() == Some(*owner))
    });
    assert!(
        named || damaged.is_empty(),
        "{what} at {places:?}: {report:?}"
    );
    let needed = |kind: Kind| !matches!(kind, Kind::Slot | Kind::Map);
    assert!(
        !whole || !damaged.iter().any(|(kind, _)| needed(*kind)),
        "{what} at {places:?}"
    );
}

#[test]
fn zeroed_swapped_and_misdirected_pages_are_found() {
    let corpus = Corpus::build(40);
    let mut rng = Rng::new(5);
    let count = corpus.units.len();
    let place = |unit: usize| unit * UNIT..(unit + 1) * UNIT;
    for unit in 0..count {
        judge_with(&corpus, "zeros", [unit; 2], |bytes| {
            bytes[place(unit)].fill(0)
        });
        judge_with(&corpus, "ones", [unit; 2], |bytes| {
            bytes[place(unit)].fill(0xFF)
        });
        let half = unit * UNIT + UNIT / 2..(unit + 1) * UNIT;
        judge_with(&corpus, "half", [unit; 2], |bytes| bytes[half].fill(0));
    }
    for _ in 0..200 {
        let (unit, other) = (
            2 + rng.below(count as u64 - 2) as usize,
            2 + rng.below(count as u64 - 2) as usize,
        );
        judge_with(&corpus, "copy", [unit; 2], |bytes| {
            bytes.copy_within(place(other), unit * UNIT);
        });
        judge_with(&corpus, "swap", [unit, other], |bytes| {
            let saved = bytes[place(unit)].to_vec();
            bytes.copy_within(place(other), unit * UNIT);
            bytes[place(other)].copy_from_slice(&saved);
        });
    }
}

#[test]
fn a_stale_page_put_back_is_found() {
    let (db, backend) = memory(4096, 1 << 20);
    let write = |round: u8| {
        let rows: Vec<_> = (0..150_u8).map(|idx| ([idx], [round; 300])).collect();
        commit(
            &db,
            "t",
            rows.iter().map(|(key, value)| (&key[..], Some(&value[..]))),
        );
        let value = vec![round; 10_000];
        commit(&db, "t", [(&b"big"[..], Some(&value[..]))]);
    };
    for round in 0..6 {
        write(round);
    }
    let old = backend.bytes();
    for round in 6..9 {
        write(round);
    }
    let rows = current(&db, "t");
    let new = backend.bytes();
    let mut replaced = 0;
    for unit in 2..old.len().min(new.len()) / UNIT {
        let place = unit * UNIT..(unit + 1) * UNIT;
        if old[place.clone()] == new[place.clone()] {
            continue;
        }
        let mut bytes = new.clone();
        bytes[place.clone()].copy_from_slice(&old[place]);
        let found = check(Shared::of(bytes.clone())).unwrap().findings;
        replaced += usize::from(!found.is_empty());
        let builder = Database::builder();
        let Ok(db) = builder.open_read_only_with_backend(Shared::of(bytes)) else {
            continue;
        };
        let read = db.begin_read().unwrap();
        let Ok(table) = read.open_table(Bytes::new("t")) else {
            continue;
        };
        for (row, expected) in table.iter().unwrap().zip(&rows) {
            let Ok((key, value)) = row else { break };
            assert_eq!(
                (key.value(), value.value()),
                (&expected.0[..], &expected.1[..])
            );
        }
    }
    assert!(replaced > 10, "{replaced}");
}

#[test]
fn an_error_in_a_range_is_never_passed_over() {
    let corpus = Corpus::build(40);
    let leaves = corpus.of_kind(Kind::Leaf);
    let rows = &corpus
        .tables
        .iter()
        .find(|(name, _)| name == "rows")
        .unwrap()
        .1;
    let mut damaged = 0;
    for leaf in leaves {
        let backend = Flipped {
            base: Arc::clone(&corpus.bytes),
            at: leaf * UNIT + 100,
            xor: 1,
        };
        let db = Database::builder()
            .open_read_only_with_backend(backend)
            .unwrap();
        let Ok(table) = db.begin_read().unwrap().open_table(Bytes::new("rows")) else {
            continue;
        };
        let mut range = table.iter().unwrap();
        let ahead = range.by_ref().take_while(Result::is_ok).count();
        if ahead == rows.len() {
            continue;
        }
        damaged += 1;
        for _ in 0..10 {
            assert!(range.next().unwrap().is_err());
            assert!(range.next_back().unwrap().is_err());
        }
        let behind = table
            .iter()
            .unwrap()
            .rev()
            .take_while(Result::is_ok)
            .count();
        assert!(ahead + behind < rows.len());
    }
    assert!(damaged > 10, "{damaged}");
}

#[test]
fn a_commit_that_meets_damage_fails_and_the_rest_stays_usable() {
    let corpus = Corpus::build(40);
    let rows = &corpus
        .tables
        .iter()
        .find(|(name, _)| name == "rows")
        .unwrap()
        .1;
    let mut failed = 0;
    for leaf in corpus.of_kind(Kind::Leaf) {
        let mut bytes = corpus.bytes.to_vec();
        bytes[leaf * UNIT + 200] ^= 0x10;
        let before = check(Shared::of(bytes.clone())).unwrap().findings;
        let backend = Shared::of(bytes);
        let db = Database::builder().create_with_backend(backend).unwrap();
        let txn = db.begin_write().unwrap();
        let filled = (|| {
            let mut table = txn.open_table(Bytes::new("rows"))?;
            for (key, _) in rows {
                table
                    .insert(key.as_slice(), &b"changed"[..])
                    .map_err(bristlecone::TableError::Storage)?;
            }
            Ok::<_, bristlecone::TableError>(())
        })();
        let outcome = match filled {
            Ok(()) => txn.commit(),
            Err(_) => txn
                .abort()
                .map_err(CommitError::Storage)
                .and(Err(CommitError::TransactionPoisoned)),
        };
        if outcome.is_ok() {
            continue;
        }
        failed += 1;
        commit(&db, "more", [(&b"k"[..], Some(&b"v"[..]))]);
        assert_eq!(current(&db, "more").len(), 1);
        let after = db.check(&mut |_| {}).unwrap().findings;
        assert_eq!(before.len(), after.len(), "{after:?}");
    }
    assert!(failed > 10, "{failed}");
}
