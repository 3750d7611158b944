//! SQLite, tuned for this work: write-ahead log, every statement prepared once for a connection, one connection that
//! writes, and a pool of connections that read.
//!
//! # Memory
//! A connection has a page cache of its own. The writer has half of the cache it is given; the readers share the other
//! half, so that all of them together keep to the limit that holds for all engines.

use std::path::Path;
use std::sync::{Mutex, Once};
use std::time::Duration;

use anyhow::{Result, ensure};
use rusqlite::{Connection, ffi};

use super::{
    Contender, Durability, Engine, Options, Promises, ReadBody, SeeEntry, SeeValue, WriteBody,
};

mod pool;
mod session;

use pool::Pool;
use session::Session;

const FILE: &str = "sqlite.db";
/// Most bytes of the log that stay on disk once a checkpoint has emptied it.
const LOG_LEN_MAX: i64 = 64 << 20;
/// How long a statement waits for another connection's lock before it fails.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);
const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS x(key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID";

/// SQLite.
pub(super) fn contender() -> Contender {
    Contender {
        name: "sqlite",
        version: rusqlite::version(),
        settings: |options| {
            let half = options.cache_bytes / 2;
            vec![
                TABLE.replace("IF NOT EXISTS ", ""),
                "journal_mode = WAL".to_owned(),
                "synchronous = FULL; NORMAL for unsynced commits".to_owned(),
                format!(
                    "cache_size = {half} bytes for the writer, as much for all readers together"
                ),
                format!("journal_size_limit = {LOG_LEN_MAX}"),
                "SQLITE_CONFIG_MEMSTATUS = 0".to_owned(),
                "statements are prepared once for each connection".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: true,
            transactions: true,
            snapshots: true,
            note: "len() is a scan; the old value of a put is read by a statement of its own; entries are removed one by one, by their key, where a row removes some of a range",
        },
        open,
    }
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    configure()?;
    let path = dir.join(FILE);
    let connection = Connection::open(&path)?;
    let half = options.cache_bytes / 2;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "journal_size_limit", LOG_LEN_MAX)?;
    tune(&connection, half)?;
    synchronize(&connection, Durability::Synced)?;
    connection.execute_batch(TABLE)?;
    Ok(Box::new(Sqlite {
        writer: Mutex::new(WriterConnection {
            connection,
            durability: Durability::Synced,
        }),
        readers: Pool::of(&path, half),
    }))
}

/// Sets what holds for the whole process, before its first connection.
fn configure() -> Result<()> {
    static ONCE: Once = Once::new();
    let mut code = ffi::SQLITE_OK;
    ONCE.call_once(|| {
        // SAFETY: no connection has been opened yet, and only one thread gets here. Without this, every allocation
        // takes one mutex to keep statistics that nobody reads.
        code = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0) };
    });
    ensure!(
        code == ffi::SQLITE_OK,
        "SQLite refused its configuration with code {code}"
    );
    Ok(())
}

/// Settings of every connection.
fn tune(connection: &Connection, cache_bytes: u64) -> Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(32);
    limit_cache(connection, cache_bytes)
}

/// Gives a connection's page cache so many bytes.
fn limit_cache(connection: &Connection, bytes: u64) -> Result<()> {
    // A negative number counts KiB; a positive one would count pages.
    let kibibytes = i64::try_from(bytes / 1024)?;
    Ok(connection.pragma_update(None, "cache_size", -kibibytes)?)
}

fn synchronize(connection: &Connection, durability: Durability) -> Result<()> {
    let mode = match durability {
        Durability::Synced => "FULL",
        Durability::Unsynced => "NORMAL",
    };
    Ok(connection.pragma_update(None, "synchronous", mode)?)
}

struct Sqlite {
    writer: Mutex<WriterConnection>,
    readers: Pool,
}

struct WriterConnection {
    connection: Connection,
    /// Of the commits that follow.
    durability: Durability,
}

impl Engine for Sqlite {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        let mut writer = self.writer.lock().expect("not poisoned");
        if writer.durability != durability {
            synchronize(&writer.connection, durability)?;
            writer.durability = durability;
        }
        in_transaction(&writer.connection, "BEGIN IMMEDIATE", |session| {
            body(session)
        })
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        self.readers
            .with(|connection| in_transaction(connection, "BEGIN", |session| body(session)))
    }

    fn compact(&mut self) -> Result<bool> {
        let writer = self.writer.get_mut().expect("not poisoned");
        writer
            .connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok(true)
    }

    fn close(self: Box<Self>) -> Result<()> {
        // The last connection to close moves the log into the file; one that only reads cannot.
        drop(self.readers);
        let writer = self.writer.into_inner().expect("not poisoned");
        writer.connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}

fn in_transaction(
    connection: &Connection,
    begin: &str,
    body: impl FnOnce(&mut Session<'_>) -> Result<()>,
) -> Result<()> {
    connection.prepare_cached(begin)?.execute([])?;
    let result = body(&mut Session::on(connection));
    if result.is_ok() {
        connection.prepare_cached("COMMIT")?.execute([])?;
    } else if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    result
}
