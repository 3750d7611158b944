//! Bristlecone, on its defaults but for the cache.

use std::path::Path;

use anyhow::Result;
use bristlecone::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, Table, TableDefinition, TableError,
};

use super::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    WriteBody, Writer, sweep,
};

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("x");

/// Bristlecone.
pub(super) fn contender() -> Contender {
    Contender {
        name: "bristlecone",
        version: env!("CARGO_PKG_VERSION"),
        settings: |options| vec![format!("set_cache_size = {}", options.cache_bytes)],
        promises: Promises {
            durable_commits: true,
            transactions: true,
            snapshots: true,
            note: "it has no unsynced commits: rows that ask for them are synced",
        },
        open,
    }
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let database = Database::builder()
        .set_cache_size(usize::try_from(options.cache_bytes)?)
        .create(dir.join("bristlecone.db"))?;
    create_table(&database)?;
    Ok(Box::new(Bristlecone { database }))
}

/// Makes the table unless it is there: readers cannot.
fn create_table(database: &Database) -> Result<()> {
    let txn: ReadTransaction = database.begin_read()?;
    match txn.open_table(TABLE) {
        Err(TableError::TableDoesNotExist(_)) => {
            let txn = database.begin_write()?;
            txn.open_table(TABLE)?;
            Ok(txn.commit()?)
        }
        found => Ok(found.map(drop)?),
    }
}

struct Bristlecone {
    database: Database,
}

impl Engine for Bristlecone {
    fn write(&self, _durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let txn = self.database.begin_write()?;
        let result = body(&mut Session(txn.open_table(TABLE)?));
        if result.is_ok() {
            txn.commit()?;
        }
        result
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        let txn: ReadTransaction = self.database.begin_read()?;
        body(&mut Session(txn.open_table(TABLE)?))
    }

    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.database.close()?)
    }
}

struct Session<T>(T);

impl<T: ReadableTable<&'static [u8], &'static [u8]>> Reader for Session<T> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.0.get(key)?;
        if let Some(guard) = &found {
            see(guard.value());
        }
        Ok(found.is_some())
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        for entry in self.0.range(from.unwrap_or_default()..)? {
            let (key, value) = entry?;
            if !see(key.value(), value.value()) {
                break;
            }
        }
        Ok(())
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let range = match from {
            Some(key) => self.0.range(..=key)?,
            None => self.0.iter()?,
        };
        for entry in range.rev() {
            let (key, value) = entry?;
            if !see(key.value(), value.value()) {
                break;
            }
        }
        Ok(())
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.0.len()?)
    }
}

impl Writer for Session<Table<'_, &'static [u8], &'static [u8]>> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.insert(key, value)?;
        Ok(())
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let old = self.0.insert(key, value)?;
        if let Some(guard) = &old {
            see_old(guard.value());
        }
        Ok(old.is_some())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(key)?;
        Ok(())
    }

    fn take(&mut self, key: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let old = self.0.remove(key)?;
        if let Some(guard) = &old {
            see_old(guard.value());
        }
        Ok(old.is_some())
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
