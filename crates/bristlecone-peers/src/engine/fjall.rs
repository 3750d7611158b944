//! fjall: an LSM tree with a single writer's transactions.

use std::path::Path;

use anyhow::Result;
use fjall::{
    Guard, KeyspaceCreateOptions, PersistMode, Readable, SingleWriterTxDatabase,
    SingleWriterTxKeyspace, SingleWriterWriteTx, Snapshot,
};

use super::sweep::sweep;
use super::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    WriteBody, Writer,
};

/// fjall.
pub(super) fn contender() -> Contender {
    Contender {
        name: "fjall",
        version: "3.1.13",
        settings: |options| {
            vec![
                format!("cache_size = {}", options.cache_bytes),
                "synced: PersistMode::SyncAll; unsynced: PersistMode::Buffer".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: true,
            transactions: true,
            snapshots: true,
            note: "its major compaction is not asked for yet; it counts its entries by a scan; write buffers come on top of the cache",
        },
        open,
    }
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let database = SingleWriterTxDatabase::builder(dir.join("fjall"))
        .cache_size(options.cache_bytes)
        .open()?;
    let table = database.keyspace("x", KeyspaceCreateOptions::default)?;
    Ok(Box::new(Fjall { table, database }))
}

struct Fjall {
    table: SingleWriterTxKeyspace,
    database: SingleWriterTxDatabase,
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
        let txn: Snapshot = self.database.read_tx();
        body(&mut Session {
            table: &self.table,
            txn,
        })
    }

    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }
}

struct Session<'e, T> {
    table: &'e SingleWriterTxKeyspace,
    txn: T,
}

fn show(entries: impl Iterator<Item = Guard>, see: &mut SeeEntry<'_>) -> Result<()> {
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
            Some(key) => show(self.txn.range(self.table, key..), see),
            None => show(self.txn.iter(self.table), see),
        }
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        match from {
            Some(key) => show(self.txn.range(self.table, ..=key).rev(), see),
            None => show(self.txn.iter(self.table).rev(), see),
        }
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.txn.len(self.table)? as u64)
    }
}

impl Writer for Session<'_, SingleWriterWriteTx<'_>> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.txn.insert(self.table, key, value);
        Ok(())
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
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
        sweep(self, &[], None, &mut |key, value| !keep(key, value))?;
        Ok(())
    }

    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64> {
        sweep(self, from, Some(to), take)
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
