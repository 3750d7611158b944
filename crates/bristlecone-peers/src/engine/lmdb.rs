//! LMDB, by the crate heed.
//!
//! LMDB has no cache of its own: it reads its file by a memory map, so the system's page cache serves it, however small
//! the cache is that the others are given.

use std::fs;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use anyhow::{Context, Result};
use heed::types::Bytes;
use heed::{
    CompactionOption, EnvFlags, EnvOpenOptions, FlagSetMode, PutFlags, RoTxn, RwTxn, WithTls,
};

use super::{
    Contender, Durability, End, Engine, Promises, ReadBody, Reader, SeeEntry, SeeValue, WriteBody,
    Writer,
};

type Env = heed::Env<WithTls>;
type Table = heed::Database<Bytes, Bytes>;

/// The file of an environment in its folder.
const FILE: &str = "data.mdb";
/// Most bytes that the file can have.
const MAP_LEN: usize = 16 << 30;
/// Most threads that can read at a time.
const READERS_MAX: u32 = 256;

/// Version of LMDB itself, and of the crate.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let heed::LmdbVersion {
        major,
        minor,
        patch,
        ..
    } = heed::lmdb_version();
    format!("{major}.{minor}.{patch} (heed 0.22.1)")
});

/// LMDB.
pub(super) fn contender() -> Contender {
    Contender {
        name: "lmdb",
        version: &VERSION,
        settings: |_| {
            vec![
                format!("map_size = {MAP_LEN}"),
                format!("max_readers = {READERS_MAX}"),
                "unsynced commits: MDB_NOSYNC".to_owned(),
                "appends: MDB_APPEND".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: true,
            transactions: true,
            snapshots: true,
            note: "it has no cache of its own, so no limit of memory holds for it; it compacts by a copy of its file",
        },
        open: |dir, _| {
            let (env, table) = open(dir)?;
            Ok(Box::new(Lmdb {
                env: Some(env),
                table,
                dir: dir.to_owned(),
                last_durability: Mutex::new(Durability::Synced),
            }))
        },
    }
}

fn open(dir: &Path) -> Result<(Env, Table)> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_LEN).max_readers(READERS_MAX);
    // SAFETY: the folder is this process's own: nobody else changes the file beneath the map.
    let env = unsafe { options.open(dir)? };
    let txn = env.read_txn()?;
    let found = env.open_database(&txn, None)?;
    drop(txn);
    let table = match found {
        Some(table) => table,
        None => {
            let mut txn = env.write_txn()?;
            let table = env.create_database(&mut txn, None)?;
            txn.commit()?;
            table
        }
    };
    Ok((env, table))
}

struct Lmdb {
    /// Absent only while the file is exchanged for its copy.
    env: Option<Env>,
    table: Table,
    dir: PathBuf,
    /// Of the last commit; locked for as long as a write transaction lives, for the environment has one flag for all.
    last_durability: Mutex<Durability>,
}

impl Lmdb {
    fn env(&self) -> Result<&Env> {
        self.env
            .as_ref()
            .context("the environment was not opened again after compaction")
    }
}

impl Engine for Lmdb {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let env = self.env()?;
        let mut last_durability = self.last_durability.lock().expect("not poisoned");
        if *last_durability != durability {
            let mode = match durability {
                Durability::Synced => FlagSetMode::Disable,
                Durability::Unsynced => FlagSetMode::Enable,
            };
            // SAFETY: the mutex keeps other threads from setting flags; a file that is damaged by a power cut is what
            // unsynced commits ask for.
            unsafe { env.set_flags(EnvFlags::NO_SYNC, mode)? };
            *last_durability = durability;
        }
        let mut session = Session {
            table: self.table,
            txn: env.write_txn()?,
        };
        body(&mut session)?;
        Ok(session.txn.commit()?)
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        body(&mut Session {
            table: self.table,
            txn: self.env()?.read_txn()?,
        })
    }

    fn compact(&mut self) -> Result<bool> {
        let env = self.env.take().context("the environment is not open")?;
        let copy = self.dir.join("copy.mdb");
        env.copy_to_path(&copy, CompactionOption::Enabled)?
            .sync_all()?;
        env.prepare_for_closing().wait();
        fs::rename(&copy, self.dir.join(FILE)).context("exchanging the file for its copy")?;
        fs::File::open(&self.dir)?.sync_all()?;
        let (env, table) = open(&self.dir)?;
        (self.env, self.table) = (Some(env), table);
        *self.last_durability.get_mut().expect("not poisoned") = Durability::Synced;
        Ok(true)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let last = *self.last_durability.lock().expect("not poisoned");
        let env = self.env.context("the environment is not open")?;
        if last == Durability::Unsynced {
            env.force_sync()?;
        }
        env.prepare_for_closing().wait();
        Ok(())
    }
}

struct Session<T> {
    table: Table,
    txn: T,
}

/// What both kinds of transactions read by.
trait Transaction {
    fn snapshot(&self) -> &RoTxn<'_>;
}

impl Transaction for RoTxn<'_, WithTls> {
    fn snapshot(&self) -> &RoTxn<'_> {
        self
    }
}

impl Transaction for RwTxn<'_> {
    fn snapshot(&self) -> &RoTxn<'_> {
        self
    }
}

impl<T: Transaction> Reader for Session<T> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.table.get(self.txn.snapshot(), key)?;
        if let Some(value) = found {
            see(value);
        }
        Ok(found.is_some())
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let range = (from.map_or(Unbounded, Included), Unbounded);
        for entry in self.table.range(self.txn.snapshot(), &range)? {
            let (key, value) = entry?;
            if !see(key, value) {
                break;
            }
        }
        Ok(())
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let mut walk = |entries: &mut dyn Iterator<Item = heed::Result<(&[u8], &[u8])>>| {
            for entry in entries {
                let (key, value) = entry?;
                if !see(key, value) {
                    break;
                }
            }
            Ok(())
        };
        match from {
            Some(key) => walk(
                &mut self
                    .table
                    .rev_range(self.txn.snapshot(), &(Unbounded, Included(key)))?,
            ),
            None => walk(&mut self.table.rev_iter(self.txn.snapshot())?),
        }
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.table.len(self.txn.snapshot())?)
    }
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

    fn append(&mut self, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
        for (key, value) in entries {
            self.table
                .put_with_flags(&mut self.txn, PutFlags::APPEND, key, value)?;
        }
        Ok(())
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
        while let Some((key, value)) = entries.next().transpose()? {
            if !keep(key, value) {
                // SAFETY: nothing that was read from the table is used any more.
                unsafe { entries.del_current()? };
            }
        }
        Ok(())
    }

    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64> {
        let range = (Included(from), Excluded(to));
        let mut entries = self.table.range_mut(&mut self.txn, &range)?;
        let mut count = 0;
        while let Some((key, value)) = entries.next().transpose()? {
            if take(key, value) {
                // SAFETY: nothing that was read from the table is used any more.
                unsafe { entries.del_current()? };
                count += 1;
            }
        }
        Ok(count)
    }

    fn pop(&mut self, end: End, see: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        match end {
            End::First => {
                let mut entries = self.table.iter_mut(&mut self.txn)?;
                let Some((key, value)) = entries.next().transpose()? else {
                    return Ok(false);
                };
                see(key, value);
                // SAFETY: nothing that was read from the table is used any more.
                Ok(unsafe { entries.del_current()? })
            }
            End::Last => {
                let mut entries = self.table.rev_iter_mut(&mut self.txn)?;
                let Some((key, value)) = entries.next().transpose()? else {
                    return Ok(false);
                };
                see(key, value);
                // SAFETY: nothing that was read from the table is used any more.
                Ok(unsafe { entries.del_current()? })
            }
        }
    }
}
