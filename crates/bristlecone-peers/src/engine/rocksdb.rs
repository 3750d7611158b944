//! RocksDB, the library of the system: optimistic transactions, settings as in redb's benchmark.
//!
//! # Transactions
//! RocksDB keeps a transaction in memory until it commits. As in redb's benchmark, those of more than [`PART_LEN`]
//! changes are committed in parts, each of which is whole.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use rocksdb::{
    BlockBasedOptions, Cache, DBAccess, DBCompressionType, DBPinnableSlice,
    DBRawIteratorWithThreadMode, Error, ErrorKind, OptimisticTransactionDB,
    OptimisticTransactionOptions, SnapshotWithThreadMode, Transaction, WriteOptions, properties,
};

use super::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    WriteBody, Writer, sweep,
};

type Database = OptimisticTransactionDB;

/// Changes that are committed at a time.
const PART_LEN: u32 = 100_000;
const BLOOM_BITS: f64 = 10.0;
const BACKGROUND_JOBS: i32 = 2;
/// Attempts at a transaction that meets conflicts.
const ATTEMPTS_MAX: u32 = 1000;
/// Time between two looks at background work.
const POLL: Duration = Duration::from_millis(5);

/// Version of the library that is loaded: the C interface has no call for it, but the name of its file tells.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let found = maps
        .lines()
        .find_map(|line| line.split_once("librocksdb.so."))
        .map(|(_, version)| version.trim());
    let version = found.unwrap_or("0 (linked statically: unknown)");
    format!("{version} (rocksdb 0.20.1)")
});

/// RocksDB.
pub(super) fn contender() -> Contender {
    Contender {
        name: "rocksdb",
        version: &VERSION,
        settings: |options| {
            vec![
                "database = OptimisticTransactionDB".to_owned(),
                format!("LRU block cache = {}", options.cache_bytes),
                "cache_index_and_filter_blocks = true".to_owned(),
                format!("bloom filter = {BLOOM_BITS} bits"),
                format!("db_write_buffer_size = {}", options.cache_bytes / 2),
                "compression = LZ4".to_owned(),
                format!("max_background_jobs = {BACKGROUND_JOBS}"),
                "synced commits: WriteOptions::sync".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: true,
            transactions: false,
            snapshots: true,
            note: "transactions of more than 100,000 changes are committed in parts; memtables (up to half of the cache) come on top of the cache; len() is a scan; entries are removed one by one, by their key, where a row removes some of a range",
        },
        open,
    }
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let cache_len = usize::try_from(options.cache_bytes)?;
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(&Cache::new_lru_cache(cache_len)?);
    blocks.set_bloom_filter(BLOOM_BITS, false);
    blocks.set_cache_index_and_filter_blocks(true);
    let mut settings = rocksdb::Options::default();
    settings.create_if_missing(true);
    settings.set_block_based_table_factory(&blocks);
    settings.set_db_write_buffer_size(cache_len / 2);
    settings.set_compression_type(DBCompressionType::Lz4);
    settings.increase_parallelism(BACKGROUND_JOBS);
    Ok(Box::new(RocksDb {
        database: Database::open(&settings, dir)?,
    }))
}

struct RocksDb {
    database: Database,
}

impl Engine for RocksDb {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let mut attempt = 1;
        loop {
            let mut session = WriteSession::begin(&self.database, durability);
            let done = body(&mut session);
            let parts_count = session.parts_count;
            match done.and_then(|()| Ok(session.txn.commit()?)) {
                Err(error) if is_conflict(&error) && parts_count == 0 && attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        body(&mut ReadSession(self.database.snapshot()))
    }

    fn compact(&mut self) -> Result<bool> {
        self.database.compact_range(None::<&[u8]>, None::<&[u8]>);
        Ok(true)
    }

    fn settle(&self) -> Result<()> {
        let busy = || -> Result<bool> {
            for property in [
                properties::MEM_TABLE_FLUSH_PENDING,
                properties::NUM_RUNNING_FLUSHES,
                properties::COMPACTION_PENDING,
                properties::NUM_RUNNING_COMPACTIONS,
            ] {
                if self.database.property_int_value(property)?.unwrap_or(0) > 0 {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        while busy()? {
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        // What unsynced commits left in the log.
        self.database.flush_wal(true)?;
        Ok(())
    }
}

/// Whether another transaction was faster, so that trying again helps.
fn is_conflict(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref().map(Error::kind);
    matches!(kind, Some(ErrorKind::Busy | ErrorKind::TryAgain))
}

/// What both kinds of sessions read by.
trait Source {
    type Access: DBAccess;

    fn find(&self, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>>;

    fn walk(&self) -> DBRawIteratorWithThreadMode<'_, Self::Access>;
}

struct ReadSession<'a>(SnapshotWithThreadMode<'a, Database>);

impl Source for ReadSession<'_> {
    type Access = Database;

    fn find(&self, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>> {
        Ok(self.0.get_pinned(key)?)
    }

    fn walk(&self) -> DBRawIteratorWithThreadMode<'_, Database> {
        self.0.raw_iterator()
    }
}

struct WriteSession<'a> {
    database: &'a Database,
    durability: Durability,
    txn: Transaction<'a, Database>,
    /// Changes in `txn`.
    changes_count: u32,
    /// Parts that are committed.
    parts_count: u32,
}

impl<'a> WriteSession<'a> {
    fn begin(database: &'a Database, durability: Durability) -> WriteSession<'a> {
        WriteSession {
            database,
            durability,
            txn: transaction(database, durability),
            changes_count: 0,
            parts_count: 0,
        }
    }

    /// Counts a change; commits what there is if that is enough for a part.
    fn count(&mut self) -> Result<()> {
        if self.changes_count == PART_LEN {
            self.commit_part()?;
        }
        self.changes_count += 1;
        Ok(())
    }

    /// Commits a part, and only then begins the next: a snapshot from before would conflict with a key that both change.
    fn commit_part(&mut self) -> Result<()> {
        std::mem::replace(&mut self.txn, self.database.transaction()).commit()?;
        self.txn = transaction(self.database, self.durability);
        self.changes_count = 0;
        self.parts_count += 1;
        Ok(())
    }
}

/// A transaction that fails to commit if another one has changed what it changes since it began.
fn transaction(database: &Database, durability: Durability) -> Transaction<'_, Database> {
    let mut writing = WriteOptions::default();
    writing.set_sync(durability == Durability::Synced);
    let mut options = OptimisticTransactionOptions::default();
    options.set_snapshot(true);
    database.transaction_opt(&writing, &options)
}

impl<'a> Source for WriteSession<'a> {
    type Access = Transaction<'a, Database>;

    fn find(&self, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>> {
        Ok(self.txn.get_pinned(key)?)
    }

    fn walk(&self) -> DBRawIteratorWithThreadMode<'_, Transaction<'a, Database>> {
        self.txn.raw_iterator()
    }
}

impl<S: Source> Reader for S {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.find(key)?;
        if let Some(value) = &found {
            see(value);
        }
        Ok(found.is_some())
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let mut entries = self.walk();
        match from {
            Some(key) => entries.seek(key),
            None => entries.seek_to_first(),
        }
        while let Some((key, value)) = entries.item() {
            if !see(key, value) {
                break;
            }
            entries.next();
        }
        Ok(entries.status()?)
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let mut entries = self.walk();
        match from {
            Some(key) => entries.seek_for_prev(key),
            None => entries.seek_to_last(),
        }
        while let Some((key, value)) = entries.item() {
            if !see(key, value) {
                break;
            }
            entries.prev();
        }
        Ok(entries.status()?)
    }

    fn len(&mut self) -> Result<u64> {
        let mut entries = self.walk();
        let mut count = 0;
        entries.seek_to_first();
        while entries.valid() {
            count += 1;
            entries.next();
        }
        entries.status().context("counting")?;
        Ok(count)
    }
}

impl Writer for WriteSession<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.count()?;
        Ok(self.txn.put(key, value)?)
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.count()?;
        Ok(self.txn.delete(key)?)
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
