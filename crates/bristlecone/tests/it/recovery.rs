//! What a killed process leaves: the file is copied while the database is open, and the copy is opened. Pages on the
//! copy are read by their format, so that numbers can be compared with what the engine does next.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bristlecone::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageBackend,
    TableDefinition, check_backend,
};

const TABLE: TableDefinition<u64, &[u8]> = TableDefinition::new("t");
const UNIT: usize = 4096;

/// A file in memory that the test can copy at any moment.
#[derive(Clone, Debug, Default)]
struct SharedFile(Arc<Mutex<Vec<u8>>>, Fuse);

/// Panics at a planned write; 0 is never.
#[derive(Clone, Debug, Default)]
struct Fuse(Arc<AtomicU64>);

impl Fuse {
    fn burn(&self) {
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            self.0.store(left - 1, Ordering::Relaxed);
            assert!(left > 1, "the backend panics as planned");
        }
    }
}

impl SharedFile {
    fn copy(&self) -> SharedFile {
        SharedFile(Arc::new(Mutex::new(self.bytes())), Fuse::default())
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    fn damage(&self, at: usize) {
        self.0.lock().unwrap()[at] ^= 0x55;
    }
}

impl StorageBackend for SharedFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.lock().unwrap();
        let start = offset as usize;
        out.copy_from_slice(&bytes[start..start + out.len()]);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().unwrap().resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.1.burn();
        let mut bytes = self.0.lock().unwrap();
        let start = offset as usize;
        if bytes.len() < start + data.len() {
            bytes.resize(start + data.len(), 0);
        }
        bytes[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }
}

fn open(file: &SharedFile) -> Database {
    let mut builder = Database::builder();
    builder.set_cache_size(64 << 10).set_page_size(UNIT);
    builder.create_with_backend(file.clone()).unwrap()
}

fn fill(db: &Database, keys: std::ops::Range<u64>, len: usize) {
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(TABLE).unwrap();
        for key in keys {
            table.insert(key, vec![key as u8; len].as_slice()).unwrap();
        }
    }
    txn.commit().unwrap();
}

fn rows(file: &SharedFile) -> u64 {
    let db = open(file);
    let read = db.begin_read().unwrap();
    let table = read.open_table(TABLE).unwrap();
    let len = table.len().unwrap();
    assert_eq!(table.iter().unwrap().count() as u64, len);
    len
}

/// Births of the pages that stand at their own place in the file, reachable or not.
fn births(file: &SharedFile) -> Vec<u64> {
    let bytes = file.bytes();
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    (2..bytes.len() / UNIT)
        .filter(|unit| u64_at(unit * UNIT + 8) == *unit as u64)
        .map(|unit| u64_at(unit * UNIT + 16))
        .collect()
}

#[test]
fn numbers_go_on_above_every_birth_that_a_crash_left() {
    let file = SharedFile::default();
    let db = open(&file);
    fill(&db, 0..100, 100);
    for _ in 0..5 {
        // A transaction that spills pages and is never committed uses a number that no header names.
        let txn = db.begin_write().unwrap();
        let mut table = txn.open_table(TABLE).unwrap();
        for key in 0..400 {
            table.insert(key, [7; 200].as_slice()).unwrap();
        }
        drop(table);
        txn.abort().unwrap();
    }
    let killed = file.copy();
    let left = births(&killed).into_iter().max().unwrap();
    let db = open(&killed);
    fill(&db, 1000..1400, 200);
    let fresh = births(&killed)
        .into_iter()
        .filter(|birth| *birth > left)
        .count();
    // 400 rows of 200 bytes take about 20 pages: all of them, not just those past some point.
    assert!(
        fresh >= 20,
        "only {fresh} pages of the second open have births above {left}"
    );
}

#[test]
fn a_kill_after_a_commit_leaves_both_slots_with_it() {
    for slot in [0, UNIT] {
        let file = SharedFile::default();
        let db = open(&file);
        fill(&db, 0..10, 100);
        fill(&db, 10..20, 100);
        let killed = file.copy();
        killed.damage(slot + 100);
        assert_eq!(rows(&killed), 20, "slot at {slot} damaged");
    }
}

#[test]
fn a_slot_damaged_at_rest_costs_nothing_and_is_healed_by_a_writer() {
    for slot in [0, UNIT] {
        let file = SharedFile::default();
        let db = open(&file);
        fill(&db, 0..50, 100);
        db.close().unwrap();
        file.damage(slot + 60);
        let findings = check_backend(file.clone(), &mut |_| {}).unwrap().findings;
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].page(), Some((slot / UNIT) as u64));
        assert_eq!(rows(&file), 50);
        assert!(
            check_backend(file.clone(), &mut |_| {})
                .unwrap()
                .findings
                .is_empty()
        );
    }
}

#[test]
fn reopening_after_a_clean_close_writes_nothing() {
    let file = SharedFile::default();
    let db = open(&file);
    fill(&db, 0..50, 100);
    db.close().unwrap();
    let before = file.bytes();
    assert_eq!(rows(&file), 50);
    assert!(
        file.bytes() == before,
        "a read-only session of a writer changed the file"
    );
}

#[test]
fn a_backend_that_panics_in_a_commit_loses_nothing() {
    for nth in 1..=12 {
        let file = SharedFile::default();
        let db = open(&file);
        fill(&db, 0..50, 100);
        file.1.0.store(nth, Ordering::Relaxed);
        let panicked = catch_unwind(AssertUnwindSafe(|| fill(&db, 50..100, 100))).is_err();
        file.1.0.store(0, Ordering::Relaxed);
        let read = db.begin_read().unwrap();
        let table = read.open_table(TABLE).unwrap();
        assert_eq!(
            table.len().unwrap(),
            if panicked { 50 } else { 100 },
            "write {nth}"
        );
        drop((table, read));
        // Whether writing goes on depends on how far the flip had come; what it then commits is whole.
        let went_on = db.begin_write().is_ok_and(|txn| {
            txn.open_table(TABLE)
                .unwrap()
                .insert(1000, [1].as_slice())
                .unwrap();
            txn.commit().is_ok()
        });
        drop(db);
        let found = rows(&file) - u64::from(went_on);
        assert!([50, 100].contains(&found), "write {nth}: {found} rows");
        assert!(
            panicked || found == 100,
            "write {nth}: an acknowledged commit is lost"
        );
        assert!(
            check_backend(file, &mut |_| {})
                .unwrap()
                .findings
                .is_empty()
        );
    }
}

#[test]
fn a_create_that_failed_within_its_first_slot_is_made_anew() {
    let file = SharedFile::default();
    drop(open(&file));
    let whole = file.bytes();
    for kept in 1..512 {
        // Slot 0 as far as it was written; slot 1 comes later.
        let mut bytes = vec![0; 2 * UNIT];
        bytes[..kept].copy_from_slice(&whole[..kept]);
        let cut = SharedFile::default();
        cut.0.lock().unwrap().clone_from(&bytes);
        let db = open(&cut);
        fill(&db, 0..10, 100);
        drop(db);
        assert_eq!(rows(&cut), 10, "{kept} bytes of slot 0");
    }
    // With anything in slot 1 it may have been more than a create, and a file of another length is not one.
    for (at, len) in [
        (UNIT + 7, 2 * UNIT),
        (100, 2 * UNIT - 1),
        (100, 2 * UNIT + 1),
    ] {
        let mut bytes = whole.clone();
        bytes[..UNIT][300..].fill(1);
        bytes[UNIT..].fill(0);
        bytes[at] = 1;
        bytes.resize(len, 0);
        let kept = SharedFile::default();
        kept.0.lock().unwrap().clone_from(&bytes);
        assert!(
            Database::builder()
                .create_with_backend(kept.clone())
                .is_err()
        );
        assert!(kept.bytes() == bytes, "a refused file was changed");
    }
}
