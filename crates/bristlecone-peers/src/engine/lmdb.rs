//! LMDB, by way of heed, on its default flags.

use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use heed::types::Bytes;
use heed::{
    AnyTls, CompactionOption, Database, Env, EnvFlags, EnvOpenOptions, FlagSetMode, PutFlags,
    RoTxn, RwTxn,
};

use super::{
    Contender, Durability, End, Engine, Promises, ReadBody, Reader, SeeEntry, SeeValue, WriteBody,
    Writer,
};

/// Address space for the file. It costs nothing until it is used.
const MAP_BYTES: usize = 16 << 30;
const READERS_MAX: u32 = 126;

/// LMDB.
pub(super) fn contender() -> Contender {
    Contender {
        name: "lmdb",
        version: "0.9 (heed 0.22.1, bundled)",
        settings: |_| {
            vec![
                format!("map_size = {MAP_BYTES}"),
                "unsynced: MDB_NOSYNC for that transaction".to_owned(),
                "append: MDB_APPEND".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: true,
            transactions: true,
            snapshots: true,
            note: "it maps the file: the cache budget does not bind it, the system's page cache serves it",
        },
        open: |dir, _| Ok(Box::new(Lmdb::open(dir)?)),
    }
}

struct Lmdb {
    dir: PathBuf,
    env: Env,
    table: Database<Bytes, Bytes>,
    /// Held over a write transaction: whether the environment syncs at present.
    synced: Mutex<bool>,
}

impl Lmdb {
    fn open(dir: &Path) -> Result<Lmdb> {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES).max_readers(READERS_MAX);
        // SAFETY: the folder belongs to this process alone, and nothing but LMDB changes the mapped file.
        let env = unsafe { options.open(dir) }?;
        let mut txn = env.write_txn()?;
        let table = env.create_database(&mut txn, None)?;
        txn.commit()?;
        Ok(Lmdb {
            dir: dir.to_owned(),
            env,
            table,
            synced: Mutex::new(true),
        })
    }

    fn set_synced(&self, wanted: bool, current: &mut bool) -> Result<()> {
        if *current != wanted {
            let mode = if wanted {
                FlagSetMode::Disable
            } else {
                FlagSetMode::Enable
            };
            // SAFETY: only this function changes flags, and its caller holds the mutex of `synced`.
            unsafe { self.env.set_flags(EnvFlags::NO_SYNC, mode) }?;
            *current = wanted;
        }
        Ok(())
    }
}

impl Engine for Lmdb {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        self.set_synced(durability == Durability::Synced, &mut synced)?;
        let mut session = Session {
            table: self.table,
            txn: self.env.write_txn()?,
        };
        body(&mut session)?;
        Ok(session.txn.commit()?)
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        let txn = self.env.read_txn()?;
        body(&mut Session {
            table: self.table,
            txn,
        })
    }

    fn compact(&mut self) -> Result<bool> {
        let copy = self.dir.join("compacted.mdb");
        self.env.copy_to_path(&copy, CompactionOption::Enabled)?;
        let dir = self.dir.clone();
        // The environment is closed by putting another in its place: one that lasts for the rename.
        let aside = tempfile::tempdir_in(&dir)?;
        *self = Lmdb::open(aside.path())?;
        std::fs::rename(&copy, dir.join("data.mdb")).context("compacted file in place")?;
        *self = Lmdb::open(&dir)?;
        Ok(true)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.env.force_sync()?;
        self.env.prepare_for_closing().wait();
        Ok(())
    }
}

struct Session<T> {
    table: Database<Bytes, Bytes>,
    txn: T,
}

/// A transaction that can read.
trait Readable {
    fn readable(&self) -> &RoTxn<'_, AnyTls>;
}

impl<T> Readable for RoTxn<'_, T>
where
    for<'a> RoTxn<'a, T>: Deref<Target = RoTxn<'a, AnyTls>>,
{
    fn readable(&self) -> &RoTxn<'_, AnyTls> {
        self
    }
}

impl Readable for RwTxn<'_> {
    fn readable(&self) -> &RoTxn<'_, AnyTls> {
        self
    }
}

impl<T: Readable> Reader for Session<T> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.table.get(self.txn.readable(), key)?;
        if let Some(value) = found {
            see(value);
        }
        Ok(found.is_some())
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let txn = self.txn.readable();
        match from {
            Some(key) => show(self.table.range(txn, &(Included(key), Unbounded))?, see),
            None => show(self.table.iter(txn)?, see),
        }
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let txn = self.txn.readable();
        match from {
            Some(key) => show(self.table.rev_range(txn, &(Unbounded, Included(key)))?, see),
            None => show(self.table.rev_iter(txn)?, see),
        }
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.table.len(self.txn.readable())?)
    }
}

fn show<'t>(
    entries: impl Iterator<Item = heed::Result<(&'t [u8], &'t [u8])>>,
    see: &mut SeeEntry<'_>,
) -> Result<()> {
    for entry in entries {
        let (key, value) = entry?;
        if !see(key, value) {
            break;
        }
    }
    Ok(())
}

impl Writer for Session<RwTxn<'_>> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.table.put(&mut self.txn, key, value)?)
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
    }

    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let flags = PutFlags::APPEND;
        Ok(self
            .table
            .put_with_flags(&mut self.txn, flags, key, value)?)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.table.delete(&mut self.txn, key)?;
        Ok(())
    }

    fn take(&mut self, key: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        if found {
            self.delete(key)?;
        }
        Ok(found)
    }

    fn retain(&mut self, keep: &mut SeeEntry<'_>) -> Result<()> {
        let mut entries = self.table.iter_mut(&mut self.txn)?;
        while let Some(entry) = entries.next() {
            let (key, value) = entry?;
            if !keep(key, value) {
                // SAFETY: neither the key nor the value, which point into the page, is used after this.
                unsafe { entries.del_current() }?;
            }
        }
        Ok(())
    }

    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64> {
        let mut entries = self
            .table
            .range_mut(&mut self.txn, &(Included(from), Excluded(to)))?;
        let mut count = 0;
        while let Some(entry) = entries.next() {
            let (key, value) = entry?;
            if take(key, value) {
                // SAFETY: neither the key nor the value, which point into the page, is used after this.
                unsafe { entries.del_current() }?;
                count += 1;
            }
        }
        Ok(count)
    }

    fn pop(&mut self, end: End, see: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let txn = self.txn.readable();
        let entry = match end {
            End::First => self.table.first(txn)?,
            End::Last => self.table.last(txn)?,
        };
        let Some((key, value)) = entry else {
            return Ok(false);
        };
        see(key, value);
        let key = key.to_vec();
        self.delete(&key)?;
        Ok(true)
    }
}
