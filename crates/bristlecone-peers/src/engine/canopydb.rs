//! Canopydb, a copy-on-write B+ tree with a write-ahead log, on its defaults but for the cache.

use std::path::Path;

use anyhow::{Context, Result};
use canopydb::{Bytes, Database, DbOptions, EnvOptions, Error, Tree};

use super::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    WriteBody, Writer, sweep,
};

const TREE: &[u8] = b"x";

/// Canopydb.
pub(super) fn contender() -> Contender {
    Contender {
        name: "canopydb",
        version: "0.2.5",
        settings: |options| {
            vec![
                format!("page_cache_size = {}", options.cache_bytes),
                "transactions are exclusive".to_owned(),
                "commit_with(sync)".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: true,
            transactions: true,
            snapshots: true,
            note: "what commits wrote stays in memory, beside the cache, until a checkpoint (64 to 256 MB); old values are read first; entries are removed one by one, by their key, where a row removes some of a range",
        },
        open,
    }
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let mut settings = EnvOptions::new(dir);
    settings.page_cache_size = usize::try_from(options.cache_bytes)?;
    let database = Database::with_options(settings, DbOptions::default())?;
    if database.begin_read()?.get_tree(TREE)?.is_none() {
        let txn = database.begin_write()?;
        drop(txn.get_or_create_tree(TREE)?);
        txn.commit_with(true)?;
    }
    Ok(Box::new(Canopydb { database }))
}

struct Canopydb {
    database: Database,
}

impl Engine for Canopydb {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let txn = self.database.begin_write()?;
        body(&mut Session(txn.get_or_create_tree(TREE)?))?;
        txn.commit_with(durability == Durability::Synced)?;
        Ok(())
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        let txn = self.database.begin_read()?;
        let tree = txn.get_tree(TREE)?.context("the tree is gone")?;
        body(&mut Session(tree))
    }

    fn compact(&mut self) -> Result<bool> {
        // What is in the log alone is not in the file that shrinks.
        self.database.checkpoint()?;
        self.database.compact()?;
        Ok(true)
    }

    fn close(self: Box<Self>) -> Result<()> {
        // Without it, the next open replays the log.
        Ok(self.database.checkpoint()?)
    }
}

struct Session<'a>(Tree<'a>);

/// Shows entries until `see` returns false.
fn walk(
    entries: impl Iterator<Item = Result<(Bytes, Bytes), Error>>,
    see: &mut SeeEntry<'_>,
) -> Result<()> {
    for entry in entries {
        let (key, value) = entry?;
        if !see(&key, &value) {
            break;
        }
    }
    Ok(())
}

impl Reader for Session<'_> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.0.get(key)?;
        if let Some(value) = &found {
            see(value);
        }
        Ok(found.is_some())
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        match from {
            Some(key) => walk(self.0.range(key..)?, see),
            None => walk(self.0.iter()?, see),
        }
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        match from {
            Some(key) => walk(self.0.range(..=key)?.rev(), see),
            None => walk(self.0.iter()?.rev(), see),
        }
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.0.len())
    }
}

impl Writer for Session<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.0.insert(key, value)?)
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.delete(key)?;
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
        sweep::retain(self, keep)
    }

    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64> {
        sweep::extract(self, from, to, take)
    }

    fn pop(&mut self, end: End, see: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        sweep::pop(self, end, see)
    }
}
