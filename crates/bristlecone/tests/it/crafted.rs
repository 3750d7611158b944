//! Hostile files: fields of pages and header slots are changed and the checksums recomputed, so that the layers above
//! the checksum must cope. Whatever comes out is allowed, except a panic, a hang, or memory beyond what the file holds.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use bristlecone::{
    Database, ReadableDatabase, ReadableTableMetadata, TableHandle, UntypedTableHandle,
    check_backend,
};

use crate::corpus::{Corpus, Kind, UNIT, checksum, u64_at};
use crate::support::{Bytes, Rng, Shared};

/// More rows or findings than any file of these tests has room for.
const MANY: usize = 1 << 20;

/// Fails the test if `work` is not done in time; a panic in it is passed on.
fn within(time: Duration, what: &str, work: impl FnOnce() + Send + 'static) {
    let (done, wait) = channel();
    let worker = std::thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    match wait.recv_timeout(time) {
        Ok(()) => worker.join().unwrap(),
        Err(RecvTimeoutError::Disconnected) => {
            eprintln!("in {what}");
            std::panic::resume_unwind(worker.join().unwrap_err());
        }
        Err(RecvTimeoutError::Timeout) => panic!("{what} hangs"),
    }
}

/// Recomputes the checksum of the page or header slot that lies at `place`.
fn reseal(bytes: &mut [u8], place: std::ops::Range<usize>) {
    let block = &mut bytes[place.clone()];
    if place.start < 2 * UNIT {
        block[8..16].fill(0);
        let sum = checksum(block);
        block[8..16].copy_from_slice(&sum.to_le_bytes());
    } else {
        let at = block.len() - 8;
        let sum = checksum(&block[..at]);
        block[at..].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Reads everything there is, as far as it can be read. Errors are fine.
fn read_all(db: &impl ReadableDatabase) {
    let Ok(read) = db.begin_read() else { return };
    let _stats = read.stats();
    let Ok(handles) = read.list_tables() else {
        return;
    };
    for handle in handles.take(MANY) {
        let name = handle.name().to_owned();
        let Ok(table) = read.open_untyped_table(handle) else {
            continue;
        };
        let _stats = table.stats();
        let mut rows = 0;
        let range = || {
            table
                .range_stored(Bound::Unbounded, Bound::Unbounded)
                .unwrap()
        };
        for row in range() {
            let Ok((key, _)) = row else { break };
            let _found = table.get_stored(&key);
            rows += 1;
            assert!(rows < MANY, "table {name} has no end");
        }
        for row in range().rev().take(MANY) {
            if row.is_err() {
                break;
            }
        }
        let _found = table.get_stored(b"row 000100");
        if let Ok(typed) = read.open_table(Bytes::new(&name)) {
            let range = typed.range(&b"row 000050"[..]..&b"row 000060"[..]).unwrap();
            // An error repeats for ever, so that the first one ends the loop.
            let _rows = range.take_while(Result::is_ok).take(MANY).count();
        }
    }
}

/// Changes and deletes rows and tables, as far as that works.
fn write_all(db: &Database, rng: &mut Rng) {
    for _ in 0..3 {
        let Ok(txn) = db.begin_write() else { return };
        if let Ok(mut table) = txn.open_table(Bytes::new("rows")) {
            for _ in 0..30 {
                let key = format!("row {:06}", rng.below(400));
                let failed = if rng.below(3) == 0 {
                    table.remove(key.as_bytes()).is_err()
                } else {
                    table.insert(key.as_bytes(), &[9; 120][..]).is_err()
                };
                if failed {
                    break;
                }
            }
        }
        if let Ok(mut table) = txn.open_table(Bytes::new("big")) {
            let _old = table.insert(&b"b"[..], &[1; 30_000][..]).is_ok();
            let _old = table.remove(&b"c"[..]).is_ok();
        }
        if rng.below(3) == 0 {
            let name = ["rows", "numbers", "big"][rng.below(3) as usize];
            let _gone = txn.delete_table(UntypedTableHandle::new(name));
        }
        let _committed = txn.commit();
    }
}

fn explore(bytes: Vec<u8>, seed: u64, writes: bool) {
    match check_backend(Shared::of(bytes.clone()), &mut |_| {}) {
        Err(error) => drop(error.to_string()),
        Ok(report) => {
            assert!(report.findings.len() < MANY, "findings without end");
            report
                .findings
                .iter()
                .for_each(|found| drop(found.to_string()));
        }
    }
    let mut builder = Database::builder();
    builder.set_cache_size(256 << 10);
    if let Ok(db) = builder.open_read_only_with_backend(Shared::of(bytes.clone())) {
        read_all(&db);
    }
    if !writes {
        return;
    }
    let backend = Shared::of(bytes);
    if let Ok(db) = builder.create_with_backend(backend.clone()) {
        write_all(&db, &mut Rng::new(seed));
        read_all(&db);
        let _closed = db.close();
    }
    if let Ok(db) = builder.create_with_backend(Shared::of(backend.bytes())) {
        write_all(&db, &mut Rng::new(seed + 1));
    }
}

/// A number that is likely to break something.
fn odd_number(rng: &mut Rng, corpus: &Corpus, old: u64) -> u64 {
    match rng.below(12) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => u64::MAX >> 1,
        4 => (1 << 48) - 1,
        5 => u64::from(u32::MAX),
        6 => old.wrapping_add(1),
        7 => old.wrapping_sub(1),
        8 => old << rng.below(40),
        9 => rng.below(corpus.units.len() as u64 + 2),
        10 => rng.below(300),
        _ => rng.next(),
    }
}

/// Changes one to three fields of a page's header, its own fields or its content.
fn mutate(
    bytes: &mut [u8],
    place: std::ops::Range<usize>,
    kind: Kind,
    rng: &mut Rng,
    corpus: &Corpus,
) {
    for _ in 0..=rng.below(3) {
        let page = &mut bytes[place.clone()];
        let len = page.len();
        let (at, width) = match rng.below(6) {
            // Header fields of a page, or of a slot.
            0 | 1 if kind == Kind::Slot => {
                let fields = [
                    (24, 4),
                    (28, 4),
                    (48, 8),
                    (56, 8),
                    (64, 8),
                    (72, 8),
                    (80, 8),
                    (88, 8),
                ];
                fields[rng.below(8) as usize]
            }
            0 | 1 => {
                let fields = [
                    (0, 1),
                    (1, 1),
                    (2, 1),
                    (3, 1),
                    (4, 4),
                    (8, 8),
                    (16, 8),
                    (24, 4),
                    (28, 4),
                ];
                fields[rng.below(9) as usize]
            }
            // A slot's roots, a page's own fields.
            2 if kind == Kind::Slot => {
                let root = [96, 128, 160][rng.below(3) as usize];
                let fields = [(0, 6), (6, 6), (12, 6), (18, 4), (24, 1), (8, 8)];
                let (offset, width) = fields[rng.below(6) as usize];
                (root + offset, width)
            }
            2 => (32 + 4 * rng.below(4) as usize, 4),
            // Near the start of the content: counts, ends, children.
            3 => (48 + rng.below(200) as usize, 1 + rng.below(6) as usize),
            // A copy of one 24-byte child or row over another.
            4 => {
                let first = 48 + 24 * rng.below(8) as usize;
                page.copy_within(first..first + 24, 48 + 24 * rng.below(8) as usize);
                continue;
            }
            _ => (
                rng.below(len as u64 - 8) as usize,
                1 + rng.below(8) as usize,
            ),
        };
        let old = u64_at(page, at.min(len - 8));
        let number = odd_number(rng, corpus, old).to_le_bytes();
        let end = (at + width).min(len);
        page[at..end].copy_from_slice(&number[..end - at]);
    }
    reseal(bytes, place);
}

#[test]
fn changed_fields_under_a_right_checksum_neither_panic_nor_hang() {
    let corpus = Arc::new(Corpus::build(24));
    let kinds = [
        Kind::Slot,
        Kind::Leaf,
        Kind::Branch,
        Kind::Map,
        Kind::Names,
        Kind::Roots,
    ];
    let cases = if std::env::var_os("BRISTLECONE_EXHAUSTIVE").is_some() {
        100_000
    } else {
        6000
    };
    for part in 0..cases / 50 {
        let corpus = Arc::clone(&corpus);
        let what = format!("cases {}..{}", part * 50, (part + 1) * 50);
        within(Duration::from_secs(120), &what, move || {
            for seed in part * 50..(part + 1) * 50 {
                let mut rng = Rng::new(seed + 1);
                let kind = kinds[seed as usize % kinds.len()];
                let pages = corpus.of_kind(kind);
                let page = pages[rng.below(pages.len() as u64) as usize];
                let place = corpus.place_of(page);
                let mut bytes = corpus.bytes.to_vec();
                mutate(&mut bytes, place.clone(), kind, &mut rng, &corpus);
                if kind == Kind::Slot {
                    bytes.copy_within(place, UNIT - page * UNIT);
                }
                eprintln!("seed {seed}: {kind:?} {page}");
                explore(bytes, seed, seed % 3 == 0);
            }
        });
    }
}

/// Writes a branch whose children are all `child`, as a unit of its own at the end of the file.
fn append_branch(bytes: &mut Vec<u8>, child: &[u8], count: u32, level: u8) -> Vec<u8> {
    let id = (bytes.len() / UNIT) as u64;
    let birth = &child[6..12];
    let mut page = vec![2, 0, level, 0];
    page.extend(count.to_le_bytes());
    page.extend(id.to_le_bytes());
    page.extend(birth);
    page.extend([0, 0]);
    page.extend(1_u32.to_le_bytes());
    let content = 48 + 24 * count + 2 * (count - 1);
    page.extend(content.to_le_bytes());
    page.extend([0; 16]);
    for _ in 0..count {
        page.extend(child);
    }
    page.resize(UNIT, 0);
    bytes.extend(page);
    let at = bytes.len() - UNIT;
    let end = bytes.len();
    reseal(bytes, at..end);
    let mut parent = id.to_le_bytes()[..6].to_vec();
    parent.extend(birth);
    // Rows: as many as 48 bits hold at most.
    parent.extend(&1_000_000_u64.to_le_bytes()[..6]);
    parent.extend(1_u32.to_le_bytes());
    parent.extend(500_u16.to_le_bytes());
    parent
}

/// A file whose branches name one child many times over: read naively it has more rows than could ever be read.
fn tangled(levels: u8) -> Vec<u8> {
    let corpus = Corpus::build(24);
    let mut bytes = corpus.bytes.to_vec();
    let roots = corpus.of_kind(Kind::Roots)[0];
    // The record of "rows" is the one of the highest tree.
    let place = corpus.place_of(roots);
    let page = &bytes[place.clone()];
    let at = (48..UNIT - 25)
        .find(|&at| page[at + 24] == 2 && page[at + 18..at + 22] == 1_u32.to_le_bytes())
        .expect("a root of height two");
    let branch = u64_at(page, at) & ((1 << 48) - 1);
    let first_child = branch as usize * UNIT
        + 48
        + u32::from_le_bytes(
            bytes[branch as usize * UNIT + 32..][..4]
                .try_into()
                .unwrap(),
        ) as usize;
    let mut child = bytes[first_child..first_child + 24].to_vec();
    for level in 1..=levels {
        child = append_branch(&mut bytes, &child, 100, level);
    }
    let record = place.start + at;
    bytes[record..record + 24].copy_from_slice(&child);
    bytes[record + 24] = levels + 1;
    reseal(&mut bytes, place);
    bytes
}

#[test]
fn branches_that_name_one_child_over_and_over_end_in_an_error() {
    for levels in [1, 6, 40] {
        within(Duration::from_secs(60), "reading", move || {
            let bytes = tangled(levels);
            let report = check_backend(Shared::of(bytes.clone()), &mut |_| {}).unwrap();
            assert!(!report.findings.is_empty());
            explore(bytes.clone(), 1, true);
            let db = Database::builder()
                .create_with_backend(Shared::of(bytes))
                .unwrap();
            let read = db.begin_read().unwrap();
            let table = read.open_table(Bytes::new("rows")).unwrap();
            if levels > 1 {
                assert!(table.stats().is_err());
                assert!(table.range::<&[u8]>(..).unwrap().any(|row| row.is_err()));
                assert!(
                    table
                        .range::<&[u8]>(..)
                        .unwrap()
                        .rev()
                        .any(|row| row.is_err())
                );
            }
            let txn = db.begin_write().unwrap();
            let deleted = txn.delete_table(Bytes::new("rows")).is_ok();
            assert!(!deleted || txn.commit().is_err());
        });
    }
}

#[test]
fn numbers_at_their_limits_in_a_slot_are_refused_or_work() {
    let corpus = Corpus::build(24);
    let limits = [
        0,
        1,
        (1 << 48) - 2,
        (1 << 48) - 1,
        1 << 48,
        u64::MAX - 1,
        u64::MAX,
    ];
    for at in [48, 56, 64, 72, 80, 88] {
        for limit in limits {
            let mut bytes = corpus.bytes.to_vec();
            for slot in [0, UNIT] {
                bytes[slot + at..slot + at + 8].copy_from_slice(&limit.to_le_bytes());
                reseal(&mut bytes, slot..slot + UNIT);
            }
            explore(bytes.clone(), 3, true);
            // What opens and commits must open again.
            let backend = Shared::of(bytes);
            let Ok(db) = Database::builder().create_with_backend(backend.clone()) else {
                continue;
            };
            let txn = db.begin_write().unwrap();
            let outcome = match txn.open_table(Bytes::new("more")) {
                Ok(mut table) => table.insert(&b"k"[..], &b"v"[..]).map(drop),
                Err(_) => continue,
            };
            outcome.unwrap();
            let committed = txn.commit().is_ok();
            drop(db);
            let db = Database::builder()
                .create_with_backend(Shared::of(backend.bytes()))
                .unwrap_or_else(|error| panic!("{limit:x} at {at}: {error}"));
            let more = crate::support::current(&db, "more").len();
            assert_eq!(more, usize::from(committed), "{limit:x} at {at}");
        }
    }
}
