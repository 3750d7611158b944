//! Connections that read: opened as threads ask for them, kept for the next, closed when they are no longer needed.
//!
//! # Invariants
//! 1. The caches of all open connections together stay within `cache_bytes`, up to one change of their number.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::{Connection, OpenFlags};

use super::{limit_cache, tune};

/// A connection that nobody has asked for in this time is closed, and its share of the cache goes to the others.
const IDLE_MAX: Duration = Duration::from_secs(1);

/// Connections that read.
pub(super) struct Pool {
    path: PathBuf,
    cache_bytes: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The one that was used last is at the back.
    idle: VecDeque<ReadConnection>,
    /// Idle and busy ones.
    open: u64,
}

struct ReadConnection {
    connection: Connection,
    cache_bytes: u64,
    used_at: Instant,
}

impl Pool {
    /// A pool for one file, with a cache for all its connections together.
    pub(super) fn of(path: &Path, cache_bytes: u64) -> Pool {
        Pool {
            path: path.to_owned(),
            cache_bytes,
            state: Mutex::default(),
        }
    }

    /// Lends a connection.
    pub(super) fn with(&self, work: impl FnOnce(&Connection) -> Result<()>) -> Result<()> {
        let (found, share) = self.take();
        let mut reader = match found {
            Some(reader) => reader,
            None => self.connect(share)?,
        };
        if reader.cache_bytes != share {
            limit_cache(&reader.connection, share)?;
            reader.cache_bytes = share;
        }
        let result = work(&reader.connection);
        reader.used_at = Instant::now();
        self.state().idle.push_back(reader);
        result
    }

    /// An idle connection, if there is one, and the share of the cache that each may have.
    fn take(&self) -> (Option<ReadConnection>, u64) {
        let mut state = self.state();
        let found = state.idle.pop_back();
        while state
            .idle
            .front()
            .is_some_and(|reader| reader.used_at.elapsed() > IDLE_MAX)
        {
            state.idle.pop_front();
            state.open -= 1;
        }
        if found.is_none() {
            state.open += 1;
        }
        (found, self.cache_bytes / state.open)
    }

    fn connect(&self, cache_bytes: u64) -> Result<ReadConnection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        tune(&connection, cache_bytes)?;
        Ok(ReadConnection {
            connection,
            cache_bytes,
            used_at: Instant::now(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("not poisoned")
    }
}
