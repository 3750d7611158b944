//! sled: batches that count whole or not at all, and a flush that does not sync the device.
//!
//! # Transactions
//! sled's own transactions have no scans. A write collects its changes in a map, through which its reads look at the
//! tree, and applies them as one batch. Writers wait for each other, for nothing else keeps two of them from reading
//! the same state.
//!
//! # Snapshots
//! There are none: each step of a read sees the state of its moment.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::iter::Peekable;
use std::ops::Bound::{self, Included, Unbounded};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use sled::{Batch, Db, IVec};

use super::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    WriteBody, Writer, sweep,
};

/// Time between two looks at whether it is closed.
const POLL: Duration = Duration::from_millis(1);
/// It is not closed at all if it is not after this long.
const CLOSE_LIMIT: Duration = Duration::from_secs(30);

/// sled.
pub(super) fn contender() -> Contender {
    Contender {
        name: "sled",
        version: "0.34.7",
        settings: |options| {
            vec![
                format!("cache_capacity = {}", options.cache_bytes),
                "flush_every_ms = None: commits flush by themselves, or not at all".to_owned(),
                "synced commits: apply_batch, then flush".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: false,
            transactions: true,
            snapshots: false,
            note: "flush() asks the system to write, but does not sync the device; what a transaction writes is held in a map of the adapter until it is applied as one batch; reads of one transaction do not see one state; len() is a scan",
        },
        open,
    }
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let database = sled::Config::new()
        .path(dir)
        .cache_capacity(options.cache_bytes)
        .flush_every_ms(None)
        .open()?;
    Ok(Box::new(Sled {
        database,
        writer: Mutex::new(()),
        lock_file: File::open(dir.join("db"))?,
    }))
}

struct Sled {
    database: Db,
    writer: Mutex<()>,
    /// The file that sled locks, not locked.
    lock_file: File,
}

impl Engine for Sled {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let queue = self.writer.lock().expect("not poisoned");
        let mut session = Session::on(&self.database);
        body(&mut session)?;
        let mut batch = Batch::default();
        for (key, change) in session.changes {
            match change {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        self.database.apply_batch(batch)?;
        drop(queue);
        if durability == Durability::Synced {
            self.database.flush()?;
        }
        Ok(())
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        body(&mut Session::on(&self.database))
    }

    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Sled {
            database,
            lock_file,
            ..
        } = *self;
        database.flush()?;
        drop(database);
        // Threads of its own hold on to the database, and so to its lock, for a while longer.
        let begin = Instant::now();
        while let Err(TryLockError::WouldBlock) = lock_file.try_lock() {
            ensure!(
                begin.elapsed() < CLOSE_LIMIT,
                "sled does not let go of its file"
            );
            thread::sleep(POLL);
        }
        Ok(())
    }
}

/// Changes that are not applied yet: a value, or that there is none.
type Changes = BTreeMap<IVec, Option<IVec>>;

struct Session<'a> {
    database: &'a Db,
    changes: Changes,
}

impl<'a> Session<'a> {
    fn on(database: &'a Db) -> Session<'a> {
        Session {
            database,
            changes: Changes::new(),
        }
    }

    fn find(&self, key: &[u8]) -> Result<Option<IVec>> {
        match self.changes.get(key) {
            Some(change) => Ok(change.clone()),
            None => Ok(self.database.get(key)?),
        }
    }

    /// Stores a change that was asked for.
    fn change(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.changes.insert(key.into(), value.map(IVec::from));
    }
}

/// Merges stored entries with changes, which win; `ahead(a, b)` tells whether `a` comes before `b`. Shows them until
/// `see` returns false.
fn walk<'c>(
    stored: impl Iterator<Item = sled::Result<(IVec, IVec)>>,
    changes: impl Iterator<Item = (&'c IVec, &'c Option<IVec>)>,
    ahead: fn(&[u8], &[u8]) -> bool,
    see: &mut SeeEntry<'_>,
) -> Result<()> {
    let (mut stored, mut changes) = (stored.peekable(), changes.peekable());
    loop {
        let stored_key = peek_key(&mut stored)?;
        let changed_key = changes.peek().map(|(key, _)| (*key).clone());
        let on = match (stored_key, changed_key) {
            (None, None) => return Ok(()),
            (Some(key), Some(changed)) if ahead(&key, &changed) => show(stored.next(), see)?,
            (Some(_), None) => show(stored.next(), see)?,
            (key, Some(changed)) => {
                if key.is_some_and(|key| key == changed) {
                    stored.next();
                }
                match changes.next() {
                    Some((key, Some(value))) => see(key, value),
                    _ => true,
                }
            }
        };
        if !on {
            return Ok(());
        }
    }
}

fn peek_key(
    stored: &mut Peekable<impl Iterator<Item = sled::Result<(IVec, IVec)>>>,
) -> Result<Option<IVec>> {
    match stored.peek() {
        Some(Ok((key, _))) => Ok(Some(key.clone())),
        Some(Err(error)) => Err(error.clone().into()),
        None => Ok(None),
    }
}

fn show(entry: Option<sled::Result<(IVec, IVec)>>, see: &mut SeeEntry<'_>) -> Result<bool> {
    match entry.transpose()? {
        Some((key, value)) => Ok(see(&key, &value)),
        None => Ok(true),
    }
}

impl Reader for Session<'_> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.find(key)?;
        if let Some(value) = &found {
            see(value);
        }
        Ok(found.is_some())
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let range: (Bound<&[u8]>, _) = (from.map_or(Unbounded, Included), Unbounded);
        let stored = self.database.range::<&[u8], _>(range);
        let changes = self.changes.range::<[u8], _>(range);
        walk(stored, changes, |a, b| a < b, see)
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let range: (_, Bound<&[u8]>) = (Unbounded, from.map_or(Unbounded, Included));
        let stored = self.database.range::<&[u8], _>(range).rev();
        let changes = self.changes.range::<[u8], _>(range).rev();
        walk(stored, changes, |a, b| a > b, see)
    }

    fn len(&mut self) -> Result<u64> {
        if self.changes.is_empty() {
            return Ok(self.database.len() as u64);
        }
        let mut count = 0;
        self.scan(None, &mut |_, _| {
            count += 1;
            true
        })?;
        Ok(count)
    }
}

impl Writer for Session<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.change(key, Some(value));
        Ok(())
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.change(key, None);
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
