//! SQLite in WAL mode, tuned: statements prepared once per connection, one writer, a pool of readers.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

use super::sweep::sweep;
use super::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    WriteBody, Writer,
};

/// Statements that one connection keeps prepared: more than this file has.
const STATEMENTS_KEPT: usize = 64;

const FORWARD: &str = "SELECT key, value FROM x WHERE key >= ?1 ORDER BY key";
const BACKWARD: &str = "SELECT key, value FROM x WHERE key <= ?1 ORDER BY key DESC";
const BACKWARD_ALL: &str = "SELECT key, value FROM x ORDER BY key DESC";

/// SQLite.
pub(super) fn contender() -> Contender {
    Contender {
        name: "sqlite",
        version: rusqlite_version(),
        settings: |options| {
            vec![
                "journal_mode = WAL".to_owned(),
                "synchronous = FULL; unsynced: NORMAL, which in WAL mode syncs at checkpoints alone"
                    .to_owned(),
                format!("cache_size = {} KiB for each connection", kibibytes(options)),
                "CREATE TABLE x (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID".to_owned(),
                "statements prepared once for each connection".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: true,
            transactions: true,
            snapshots: true,
            note: "",
        },
        open,
    }
}

fn rusqlite_version() -> &'static str {
    "3 (rusqlite 0.43, bundled)"
}

fn kibibytes(options: &Options) -> u64 {
    options.cache_bytes / 1024
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let path = dir.join("sqlite.db");
    let connection = connect(&path, options)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS x (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    )?;
    Ok(Box::new(Sqlite {
        path,
        options: *options,
        writer: Mutex::new(WriterConnection {
            connection,
            synced: true,
        }),
        readers: Mutex::new(Vec::new()),
    }))
}

fn connect(path: &Path, options: &Options) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.busy_timeout(std::time::Duration::from_secs(60))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // A negative size is in KiB.
    let cache_kib = i64::try_from(kibibytes(options))?;
    connection.pragma_update(None, "cache_size", -cache_kib)?;
    Ok(connection)
}

struct Sqlite {
    path: PathBuf,
    options: Options,
    writer: Mutex<WriterConnection>,
    /// Connections that no thread uses at present.
    readers: Mutex<Vec<Connection>>,
}

struct WriterConnection {
    connection: Connection,
    synced: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine for Sqlite {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let mut writer = lock(&self.writer);
        let synced = durability == Durability::Synced;
        if writer.synced != synced {
            let level = if synced { "FULL" } else { "NORMAL" };
            writer
                .connection
                .pragma_update(None, "synchronous", level)?;
            writer.synced = synced;
        }
        run(&writer.connection, "BEGIN IMMEDIATE")?;
        let result = body(&mut Session(&writer.connection));
        let end = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
        run(&writer.connection, end)?;
        result
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        let pooled = lock(&self.readers).pop();
        let connection = match pooled {
            Some(connection) => connection,
            None => connect(&self.path, &self.options)?,
        };
        run(&connection, "BEGIN")?;
        let result = body(&mut Session(&connection));
        run(&connection, "COMMIT")?;
        lock(&self.readers).push(connection);
        result
    }

    fn compact(&mut self) -> Result<bool> {
        lock(&self.readers).clear();
        let writer = lock(&self.writer);
        writer.connection.flush_prepared_statement_cache();
        writer.connection.execute_batch("VACUUM")?;
        truncate_log(&writer.connection)?;
        Ok(true)
    }

    fn close(self: Box<Self>) -> Result<()> {
        lock(&self.readers).clear();
        let writer = self
            .writer
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        writer.connection.close().map_err(|(_, error)| error.into())
    }
}

fn run(connection: &Connection, statement: &str) -> Result<()> {
    connection.prepare_cached(statement)?.execute(())?;
    Ok(())
}

/// Moves the log into the database file and cuts it.
fn truncate_log(connection: &Connection) -> Result<()> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?)
}

struct Session<'c>(&'c Connection);

impl<'c> Session<'c> {
    fn statement(&self, text: &str) -> Result<CachedStatement<'c>> {
        Ok(self.0.prepare_cached(text)?)
    }
}

/// The bytes of a column that holds a blob.
fn blob<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8]> {
    Ok(row.get_ref(column)?.as_blob()?)
}

impl Reader for Session<'_> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let mut statement = self.statement("SELECT value FROM x WHERE key = ?1")?;
        let mut rows = statement.query((key,))?;
        let Some(row) = rows.next()? else {
            return Ok(false);
        };
        see(blob(row, 0)?);
        Ok(true)
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let mut statement = self.statement(FORWARD)?;
        show(statement.query((from.unwrap_or_default(),))?, see)
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        match from {
            Some(key) => show(self.statement(BACKWARD)?.query((key,))?, see),
            None => show(self.statement(BACKWARD_ALL)?.query(())?, see),
        }
    }

    fn len(&mut self) -> Result<u64> {
        let mut statement = self.statement("SELECT count(*) FROM x")?;
        let count: i64 = statement.query_row((), |row| row.get(0))?;
        Ok(u64::try_from(count)?)
    }
}

fn show(mut rows: rusqlite::Rows<'_>, see: &mut SeeEntry<'_>) -> Result<()> {
    while let Some(row) = rows.next()? {
        if !see(blob(row, 0)?, blob(row, 1)?) {
            break;
        }
    }
    Ok(())
}

impl Writer for Session<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut statement = self.statement("INSERT OR REPLACE INTO x VALUES (?1, ?2)")?;
        statement.execute((key, value))?;
        Ok(())
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.statement("DELETE FROM x WHERE key = ?1")?
            .execute((key,))?;
        Ok(())
    }

    fn take(&mut self, key: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let mut statement = self.statement("DELETE FROM x WHERE key = ?1 RETURNING value")?;
        let old: Option<Vec<u8>> = statement.query_row((key,), |row| row.get(0)).optional()?;
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
        let mut popped = None;
        let mut note = |key: &[u8], value: &[u8]| {
            see(key, value);
            popped = Some(key.to_vec());
            false
        };
        match end {
            End::First => self.scan(None, &mut note)?,
            End::Last => self.scan_back(None, &mut note)?,
        }
        if let Some(key) = &popped {
            self.delete(key)?;
        }
        Ok(popped.is_some())
    }
}
