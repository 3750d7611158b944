//! What the integration tests share: a random source, a backend that can be copied, limited and made to fail, and
//! reading of whole tables.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bristlecone::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition,
};

/// A table of bytes, which most tests use.
pub(crate) type Bytes<'a> = TableDefinition<'a, &'static [u8], &'static [u8]>;

/// Content of a table of bytes.
pub(crate) type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// xorshift64: the same seed gives the same run.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.next() >> 32) as u8).collect()
    }
}

/// When and how calls that change the file fail.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// Changing calls that still succeed; `None` for all.
    pub(crate) after: Option<u64>,
    /// Largest length of the file.
    pub(crate) quota: Option<u64>,
    /// Error number of the failures.
    pub(crate) errno: i32,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    faults: Faults,
    changes: u64,
    closed: bool,
}

/// A backend in memory whose clones share their bytes, with a look inside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<State>>);

impl Shared {
    pub(crate) fn of(bytes: Vec<u8>) -> Shared {
        let shared = Shared::default();
        shared.state().bytes = bytes;
        shared
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.state().bytes.clone()
    }

    pub(crate) fn size(&self) -> u64 {
        self.state().bytes.len() as u64
    }

    /// Calls that changed the file, or tried to.
    pub(crate) fn changes(&self) -> u64 {
        self.state().changes
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Begins a call that would make the file at least `end` long; fails if it is due to.
    fn change(&self, end: u64) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        assert!(!state.closed, "change after close");
        state.changes += 1;
        let errno = state.faults.errno;
        if let Some(after) = &mut state.faults.after {
            if *after == 0 {
                return Err(io::Error::from_raw_os_error(errno));
            }
            *after -= 1;
        }
        if state.faults.quota.is_some_and(|quota| end > quota) {
            return Err(io::Error::from_raw_os_error(errno));
        }
        Ok(state)
    }
}

impl StorageBackend for Shared {
    fn len(&self) -> io::Result<u64> {
        assert!(!self.is_closed(), "length asked after close");
        Ok(self.size())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state();
        assert!(!state.closed, "read after close");
        let start = usize::try_from(offset).unwrap();
        match state.bytes.get(start..start + out.len()) {
            Some(found) => {
                out.copy_from_slice(found);
                Ok(())
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.change(len)?;
        state.bytes.resize(usize::try_from(len).unwrap(), 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        assert!(!self.is_closed(), "sync after close");
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset + data.len() as u64;
        let mut state = self.change(end)?;
        let (start, end) = (offset as usize, end as usize);
        if state.bytes.len() < end {
            state.bytes.resize(end, 0);
        }
        state.bytes[start..end].copy_from_slice(data);
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let end = offset + len;
        let mut state = self.change(end)?;
        if (state.bytes.len() as u64) < end {
            state.bytes.resize(end as usize, 0);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.state().closed = true;
        Ok(())
    }
}

/// A database in memory.
pub(crate) fn memory(page: usize, cache: usize) -> (Database, Shared) {
    let backend = Shared::default();
    let db = Database::builder()
        .set_cache_size(cache)
        .set_page_size(page)
        .create_with_backend(backend.clone())
        .unwrap();
    (db, backend)
}

/// All rows of an open table of bytes, read forward; the backward scan must agree.
pub(crate) fn rows_of(table: &impl ReadableTable<&'static [u8], &'static [u8]>) -> Model {
    let row = |row: Result<(bristlecone::AccessGuard<'_, &[u8]>, _), bristlecone::StorageError>| {
        let (key, value): (_, bristlecone::AccessGuard<'_, &[u8]>) = row.unwrap();
        (key.value().to_vec(), value.value().to_vec())
    };
    let forward: Vec<_> = table.iter().unwrap().map(row).collect();
    let mut backward: Vec<_> = table.iter().unwrap().rev().map(row).collect();
    backward.reverse();
    assert!(forward == backward, "the scans disagree");
    assert!(
        forward.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "keys do not ascend"
    );
    assert_eq!(table.len().unwrap(), forward.len() as u64);
    forward.into_iter().collect()
}

/// All rows of a table of bytes in a snapshot; none if it does not exist.
pub(crate) fn read_rows(txn: &ReadTransaction, name: &str) -> Model {
    match txn.open_table(Bytes::new(name)) {
        Ok(table) => rows_of(&table),
        Err(bristlecone::TableError::TableDoesNotExist(_)) => Model::new(),
        Err(error) => panic!("{error}"),
    }
}

/// Commits puts (`Some`) and deletes to one table of bytes.
pub(crate) fn commit<'r>(
    db: &Database,
    name: &str,
    rows: impl IntoIterator<Item = (&'r [u8], Option<&'r [u8]>)>,
) {
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(Bytes::new(name)).unwrap();
        for (key, value) in rows {
            match value {
                Some(value) => drop(table.insert(key, value).unwrap()),
                None => drop(table.remove(key).unwrap()),
            }
        }
    }
    txn.commit().unwrap();
}

/// Fails unless the database is sound.
pub(crate) fn assert_sound(db: &Database) {
    let report = db.check(&mut |_| {}).unwrap();
    if let Some(finding) = report.findings.first() {
        panic!("{finding} (one of {})", report.findings.len());
    }
}

/// What the newest commit holds in a table of bytes.
pub(crate) fn current(db: &Database, name: &str) -> Model {
    read_rows(&db.begin_read().unwrap(), name)
}
