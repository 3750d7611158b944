//! fjall, a log-structured merge tree: one writer at a time.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use fjall::{
    Guard, KeyspaceCreateOptions, PersistMode, Readable, SingleWriterTxDatabase,
    SingleWriterTxKeyspace, SingleWriterWriteTx,
};

use super::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    WriteBody, Writer,
};

/// Time between two looks at background work.
const POLL: Duration = Duration::from_millis(5);

/// fjall.
pub(super) fn contender() -> Contender {
    Contender {
        name: "fjall",
        version: "3.1.13",
        settings: |options| {
            vec![
                format!("cache_size = {}", options.cache_bytes),
                "database = SingleWriterTxDatabase".to_owned(),
                "synced commits: PersistMode::SyncAll".to_owned(),
                "unsynced commits: PersistMode::Buffer".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: true,
            transactions: true,
            snapshots: true,
            note: "it compresses by LZ4; len() is a scan; what a transaction writes is held in memory, beside the cache, until it commits",
        },
        open,
    }
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let database = SingleWriterTxDatabase::builder(dir)
        .cache_size(options.cache_bytes)
        .open()?;
    let table = database.keyspace("x", KeyspaceCreateOptions::default)?;
    Ok(Box::new(Fjall { database, table }))
}

struct Fjall {
    database: SingleWriterTxDatabase,
    table: SingleWriterTxKeyspace,
}

impl Engine for Fjall {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let mode = match durability {
            Durability::Synced => PersistMode::SyncAll,
            Durability::Unsynced => PersistMode::Buffer,
        };
        let mut session = Session {
            table: &self.table,
            txn: self.database.write_tx().durability(Some(mode)),
        };
        body(&mut session)?;
        Ok(session.txn.commit()?)
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        body(&mut Session {
            table: &self.table,
            txn: self.database.read_tx(),
        })
    }

    fn compact(&mut self) -> Result<bool> {
        let table = self.table.inner();
        table.rotate_memtable_and_wait()?;
        table.major_compact()?;
        Ok(true)
    }

    fn settle(&self) -> Result<()> {
        let database = self.database.inner();
        while database.outstanding_flushes() > 0 || database.active_compactions() > 0 {
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }
}

struct Session<'a, T> {
    table: &'a SingleWriterTxKeyspace,
    txn: T,
}

/// Shows entries until `see` returns false.
fn walk(entries: impl Iterator<Item = Guard>, see: &mut SeeEntry<'_>) -> Result<()> {
    for entry in entries {
        let (key, value) = entry.into_inner()?;
        if !see(&key, &value) {
            break;
        }
    }
    Ok(())
}

impl<T: Readable> Reader for Session<'_, T> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.txn.get(self.table, key)?;
        if let Some(value) = &found {
            see(value);
        }
        Ok(found.is_some())
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        match from {
            Some(key) => walk(self.txn.range(self.table, key..), see),
            None => walk(self.txn.iter(self.table), see),
        }
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        match from {
            Some(key) => walk(self.txn.range(self.table, ..=key).rev(), see),
            None => walk(self.txn.iter(self.table).rev(), see),
        }
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.txn.len(self.table)? as u64)
    }
}

impl Session<'_, SingleWriterWriteTx<'_>> {
    /// Removes those of these entries for which `remove` returns true; returns how many.
    ///
    /// The iterator does not see what is written after it was made.
    fn remove_from(
        &mut self,
        entries: impl Iterator<Item = Guard>,
        remove: &mut SeeEntry<'_>,
    ) -> Result<u64> {
        let mut count = 0;
        for entry in entries {
            let (key, value) = entry.into_inner()?;
            if remove(&key, &value) {
                self.txn.remove(self.table, key);
                count += 1;
            }
        }
        Ok(count)
    }
}

impl Writer for Session<'_, SingleWriterWriteTx<'_>> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.txn.insert(self.table, key, value);
        Ok(())
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let new = Some(value.into());
        let old = self.txn.fetch_update(self.table, key, |_| new)?;
        if let Some(value) = &old {
            see_old(value);
        }
        Ok(old.is_some())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.txn.remove(self.table, key);
        Ok(())
    }

    fn take(&mut self, key: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let old = self.txn.take(self.table, key)?;
        if let Some(value) = &old {
            see_old(value);
        }
        Ok(old.is_some())
    }

    fn retain(&mut self, keep: &mut SeeEntry<'_>) -> Result<()> {
        let entries = self.txn.iter(self.table);
        self.remove_from(entries, &mut |key, value| !keep(key, value))
            .map(drop)
    }

    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64> {
        let entries = self.txn.range(self.table, from..to);
        self.remove_from(entries, take)
    }

    fn pop(&mut self, end: End, see: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let entry = match end {
            End::First => self.txn.first_key_value(self.table),
            End::Last => self.txn.last_key_value(self.table),
        };
        let Some(entry) = entry else {
            return Ok(false);
        };
        let (key, value) = entry.into_inner()?;
        see(&key, &value);
        self.txn.remove(self.table, key);
        Ok(true)
    }
}
