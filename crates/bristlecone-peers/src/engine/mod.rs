//! The engines, behind one door: a table of byte strings, transactions, scans.
//!
//! An adapter is written as a careful user of its engine would write it: statements prepared once, the engine's own call
//! where it has one (cursors, conditional removal), its documented way to durability. What an engine does not promise
//! is said in [`Promises`], and its row in the table says so.
//!
//! # Concurrency
//! [`Engine::read`] and [`Engine::write`] are called from many threads at once. An engine with one writer queues the
//! others in its own way; where it would refuse them, the adapter holds a mutex.

use std::path::Path;

use anyhow::Result;

#[cfg(feature = "bf-tree")]
mod bf_tree;
mod bristlecone;
#[cfg(feature = "canopydb")]
mod canopydb;
#[cfg(feature = "fjall")]
mod fjall;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(feature = "redb")]
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(feature = "sled")]
mod sled;
#[cfg(feature = "sqlite")]
mod sqlite;
mod sweep;

/// What must be true when a transaction's commit returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power cut.
    Synced,
    /// It survives the end of the process at most; the engine does not wait for the disk.
    Unsynced,
}

/// What an engine is given besides its defaults.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Its cache, in bytes.
    pub cache_bytes: u64,
}

/// Which of the common promises an engine keeps, and what there is to say about it.
#[derive(Clone, Copy, Debug)]
pub struct Promises {
    /// A synced commit is on the device when it returns.
    pub durable_commits: bool,
    /// A transaction becomes visible and durable whole or not at all.
    pub transactions: bool,
    /// Reads of one `read` call see one state.
    pub snapshots: bool,
    /// Departures, in words; empty if there are none.
    pub note: &'static str,
}

/// An engine in the race.
pub struct Contender {
    /// Name on the command line and in tables.
    pub name: &'static str,
    /// Version of the engine.
    pub version: &'static str,
    /// Every setting that departs from the engine's defaults, as `name = value`.
    pub settings: fn(&Options) -> Vec<String>,
    /// What it promises.
    pub promises: Promises,
    /// Opens or creates the database in a folder.
    pub open: fn(&Path, &Options) -> Result<Box<dyn Engine>>,
}

/// Every engine that this build holds, ours first.
pub fn contenders() -> Vec<Contender> {
    vec![
        bristlecone::contender(),
        #[cfg(feature = "redb")]
        redb::contender(),
        #[cfg(feature = "lmdb")]
        lmdb::contender(),
        #[cfg(feature = "fjall")]
        fjall::contender(),
        #[cfg(feature = "rocksdb")]
        rocksdb::contender(),
        #[cfg(feature = "sqlite")]
        sqlite::contender(),
        #[cfg(feature = "canopydb")]
        canopydb::contender(),
        #[cfg(feature = "sled")]
        sled::contender(),
        #[cfg(feature = "bf-tree")]
        bf_tree::contender(),
    ]
}

/// An engine has no way to do what was asked of it; nothing has changed.
#[derive(Debug)]
pub struct Unsupported(pub &'static str);

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Unsupported {}

/// An open database with one table of byte strings in byte order.
pub trait Engine: Send + Sync {
    /// Runs `body` as one transaction and commits it. If `body` fails, nothing is kept where the engine can undo.
    ///
    /// `body` may be called a second time if the engine found a conflict.
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()>;

    /// Runs `body` on one snapshot (where the engine has them).
    fn read(&self, body: &mut ReadBody<'_>) -> Result<()>;

    /// Makes the files as small as the engine can; false if it has no such call.
    fn compact(&mut self) -> Result<bool>;

    /// Returns when no background work is left, where the engine offers a way to wait; otherwise at once.
    fn settle(&self) -> Result<()> {
        Ok(())
    }

    /// Closes cleanly.
    fn close(self: Box<Self>) -> Result<()>;
}

/// The work of a write transaction.
pub type WriteBody<'a> = dyn FnMut(&mut dyn Writer) -> Result<()> + 'a;
/// The work of a read transaction.
pub type ReadBody<'a> = dyn FnMut(&mut dyn Reader) -> Result<()> + 'a;
/// Sees a value.
pub type SeeValue<'a> = dyn FnMut(&[u8]) + 'a;
/// Sees an entry and says whether to go on.
pub type SeeEntry<'a> = dyn FnMut(&[u8], &[u8]) -> bool + 'a;

/// Which end of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The smallest key.
    First,
    /// The largest key.
    Last,
}

/// Reads within a transaction.
#[allow(clippy::len_without_is_empty, reason = "no row asks for it")]
pub trait Reader {
    /// Shows the value of `key` to `see`; false if there is none.
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool>;

    /// Shows entries in ascending order from `from` (inclusive; the first key if `None`) until `see` returns false.
    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()>;

    /// Shows entries in descending order from `from` (inclusive; the last key if `None`) until `see` returns false.
    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()>;

    /// Number of entries.
    fn len(&mut self) -> Result<u64>;
}

/// Changes within a transaction; reads see them.
pub trait Writer: Reader {
    /// Stores `value` under `key` without asking for the old value.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Stores `value` under `key` and shows the old value, if there was one, to `see_old`.
    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool>;

    /// Stores ascending entries, all past the last key, by the engine's own call for that if it has one.
    fn append(&mut self, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
        entries
            .iter()
            .try_for_each(|(key, value)| self.put(key, value))
    }

    /// Removes `key` without asking whether it was there.
    fn delete(&mut self, key: &[u8]) -> Result<()>;

    /// Removes `key` and shows its value, if there was one, to `see_old`.
    fn take(&mut self, key: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool>;

    /// Keeps the entries for which `keep` returns true, visited in ascending order.
    fn retain(&mut self, keep: &mut SeeEntry<'_>) -> Result<()>;

    /// Removes from `[from, to)` the entries for which `take` returns true; returns how many.
    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64>;

    /// Removes the entry at one end and shows it to `see`; false if the table is empty.
    fn pop(&mut self, end: End, see: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool>;
}
