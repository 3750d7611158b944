//! Stories that users of other stores told, where no other test covers them; `docs/testing.md` has the whole list.
//!
//! The child process of the kill test is this test binary itself, told by an environment variable to write for ever.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bristlecone::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageBackend,
    TableDefinition,
};

use crate::fixtures::kept::Kept;

const ROWS: TableDefinition<u64, &[u8]> = TableDefinition::new("rows");

/// Commits the keys of `keys`, each with `len` bytes.
fn put(db: &Database, keys: impl Iterator<Item = u64>, len: usize) {
    let txn = db.begin_write().unwrap();
    {
        let mut rows = txn.open_table(ROWS).unwrap();
        for key in keys {
            rows.insert(key, &vec![key.to_le_bytes()[0]; len][..])
                .unwrap();
        }
    }
    txn.commit().unwrap();
}

fn remove(db: &Database, keys: impl Iterator<Item = u64>) {
    let txn = db.begin_write().unwrap();
    {
        let mut rows = txn.open_table(ROWS).unwrap();
        for key in keys {
            rows.remove(key).unwrap().unwrap();
        }
    }
    txn.commit().unwrap();
}

/// A backend that counts the bytes written.
#[derive(Clone, Debug, Default)]
struct Counted {
    kept: Kept,
    written: Arc<AtomicU64>,
}

impl StorageBackend for Counted {
    fn len(&self) -> io::Result<u64> {
        self.kept.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.kept.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.kept.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.kept.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let len = u64::try_from(data.len()).unwrap();
        self.written.fetch_add(len, Ordering::Relaxed);
        self.kept.write(offset, data)
    }
}

#[test]
fn after_an_unreadable_leaf_a_range_yields_errors_alone() {
    let kept = Kept::default();
    let mut builder = Database::builder();
    builder.set_page_size(4096);
    let db = builder.create_with_backend(kept.clone()).unwrap();
    put(&db, 0..1000, 100);
    db.close().unwrap();
    let mut bytes = kept.bytes();
    // The first byte of the values of key 500 and of those that share its low byte: 244 and 756.
    let value = [500_u64.to_le_bytes()[0]; 100];
    let places: Vec<usize> = (0..bytes.len() - 100)
        .filter(|&at| bytes[at..at + 100] == value)
        .collect();
    for at in places {
        bytes[at] ^= 1;
    }

    let db = Database::builder()
        .set_cache_size(0)
        .create_with_backend(Kept::new(&bytes))
        .unwrap();
    let rows = db.begin_read().unwrap().open_table(ROWS).unwrap();
    let steps = |range: &mut dyn Iterator<Item = bool>| -> Vec<bool> { range.take(1500).collect() };
    let forward = steps(&mut rows.iter().unwrap().map(|row| row.is_ok()));
    let backward = steps(&mut rows.iter().unwrap().rev().map(|row| row.is_ok()));
    for outcomes in [forward, backward] {
        let good = outcomes.iter().take_while(|&&is_ok| is_ok).count();
        assert!(good < 1000, "the damage was passed over");
        assert!(outcomes.len() == 1500 && outcomes[good..].iter().all(|&is_ok| !is_ok));
    }
}

#[test]
fn a_small_commit_writes_little_however_much_is_free() {
    let counted = Counted::default();
    let db = Database::builder()
        .create_with_backend(counted.clone())
        .unwrap();
    put(&db, 0..20_000, 1000);
    remove(&db, 0..20_000);
    let before = counted.written.load(Ordering::Relaxed);
    for key in 0..100 {
        put(&db, [key].into_iter(), 10);
    }
    let per_commit = (counted.written.load(Ordering::Relaxed) - before) / 100;
    // A leaf of the table, one of the catalogue, a map page, two slots, and a page of the table's name at the first.
    assert!(per_commit < 40 << 10, "{per_commit} bytes a commit");
}

#[test]
fn a_queue_keeps_its_file_small() {
    let kept = Kept::default();
    let db = Database::builder()
        .create_with_backend(kept.clone())
        .unwrap();
    put(&db, 0..1000, 1000);
    let mut longest = 0;
    for round in 0..400 {
        let first = round * 50;
        put(&db, first + 1000..first + 1050, 1000);
        remove(&db, first..first + 50);
        longest = longest.max(kept.len().unwrap());
    }
    let rows = db.begin_read().unwrap().open_table(ROWS).unwrap();
    assert_eq!(rows.len().unwrap(), 1000);
    assert!(longest < 6 << 20, "1 MB of rows took {longest} bytes");
}

/// In the child: the file to write to.
const CHILD: &str = "BRISTLECONE_TEST_CHILD_FILE";

/// The child's part of the kill test; as a test of its own it does nothing.
#[test]
fn child_commits_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let db = Database::create(Path::new(&path)).unwrap();
    let next = match db.begin_read().unwrap().open_table(ROWS) {
        Ok(rows) => rows.len().unwrap(),
        Err(_) => 0,
    };
    for key in next.. {
        put(&db, [key].into_iter(), 300);
        eprintln!("committed {key}");
    }
}

#[test]
fn a_killed_process_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.db");
    let mut acknowledged = 0;
    for round in 0..8 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "stories::child_commits_until_it_is_killed",
                "--nocapture",
            ])
            .env(CHILD, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        for line in lines.take(3 + round * 2) {
            let line = line.unwrap();
            let key = line
                .strip_prefix("committed ")
                .unwrap_or_else(|| panic!("{line}"));
            acknowledged = key.parse::<u64>().unwrap() + 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let mut db = Database::open(&path).unwrap();
        let rows = db.begin_read().unwrap().open_table(ROWS).unwrap();
        let found = rows.len().unwrap();
        assert!(
            found >= acknowledged,
            "{found} rows of {acknowledged} acknowledged"
        );
        assert_eq!(rows.last().unwrap().unwrap().0.value(), found - 1);
        drop(rows);
        assert!(db.check_integrity().unwrap());
    }
}
