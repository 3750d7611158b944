//! A transaction on one connection, and the statements it uses.

use anyhow::{Context, Result};
use rusqlite::{CachedStatement, Connection, Params, Row};

use super::super::{End, Reader, Writer, sweep};
use super::{SeeEntry, SeeValue};

/// Statements, as indexes of [`SQL`].
#[derive(Clone, Copy)]
enum Verb {
    Get,
    ScanFrom,
    Scan,
    ScanBackFrom,
    ScanBack,
    Count,
    Put,
    Delete,
    Take,
    PopFirst,
    PopLast,
}

const SQL: [&str; 11] = [
    "SELECT value FROM x WHERE key = ?1",
    "SELECT key, value FROM x WHERE key >= ?1 ORDER BY key",
    "SELECT key, value FROM x ORDER BY key",
    "SELECT key, value FROM x WHERE key <= ?1 ORDER BY key DESC",
    "SELECT key, value FROM x ORDER BY key DESC",
    "SELECT count(*) FROM x",
    "INSERT INTO x VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
    "DELETE FROM x WHERE key = ?1",
    "DELETE FROM x WHERE key = ?1 RETURNING value",
    "DELETE FROM x WHERE key = (SELECT min(key) FROM x) RETURNING key, value",
    "DELETE FROM x WHERE key = (SELECT max(key) FROM x) RETURNING key, value",
];

/// A transaction. Its statements come out of the connection's cache when they are first used.
pub(super) struct Session<'c> {
    connection: &'c Connection,
    statements: [Option<CachedStatement<'c>>; SQL.len()],
}

impl<'c> Session<'c> {
    /// A transaction that has begun on this connection.
    pub(super) fn on(connection: &'c Connection) -> Session<'c> {
        Session {
            connection,
            statements: [const { None }; SQL.len()],
        }
    }

    fn statement(&mut self, verb: Verb) -> Result<&mut CachedStatement<'c>> {
        let place = &mut self.statements[verb as usize];
        if place.is_none() {
            *place = Some(self.connection.prepare_cached(SQL[verb as usize])?);
        }
        place.as_mut().context("a statement was just prepared")
    }

    /// Shows the first column of the row that a statement returns, if it returns one.
    fn value(&mut self, verb: Verb, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let mut rows = self.statement(verb)?.query([key])?;
        let found = rows.next()?;
        if let Some(row) = found {
            see(blob(row, 0)?);
        }
        let found = found.is_some();
        if found {
            // A statement that changes something has done so when it says that it is at its end.
            rows.next()?;
        }
        Ok(found)
    }

    /// Shows entries that a statement returns until `see` returns false; true if there was one.
    fn walk(&mut self, verb: Verb, params: impl Params, see: &mut SeeEntry<'_>) -> Result<bool> {
        let mut rows = self.statement(verb)?.query(params)?;
        let mut found = false;
        while let Some(row) = rows.next()? {
            found = true;
            if !see(blob(row, 0)?, blob(row, 1)?) {
                break;
            }
        }
        Ok(found)
    }
}

fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8]> {
    Ok(row.get_ref(column)?.as_blob()?)
}

impl Reader for Session<'_> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        self.value(Verb::Get, key, see)
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        match from {
            Some(key) => self.walk(Verb::ScanFrom, [key], see),
            None => self.walk(Verb::Scan, [], see),
        }
        .map(drop)
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        match from {
            Some(key) => self.walk(Verb::ScanBackFrom, [key], see),
            None => self.walk(Verb::ScanBack, [], see),
        }
        .map(drop)
    }

    fn len(&mut self) -> Result<u64> {
        let count = self
            .statement(Verb::Count)?
            .query_row([], |row| row.get::<_, i64>(0))?;
        Ok(u64::try_from(count)?)
    }
}

impl Writer for Session<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.statement(Verb::Put)?.execute([key, value])?;
        Ok(())
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.statement(Verb::Delete)?.execute([key])?;
        Ok(())
    }

    fn take(&mut self, key: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        self.value(Verb::Take, key, see_old)
    }

    fn retain(&mut self, keep: &mut SeeEntry<'_>) -> Result<()> {
        sweep::retain(self, keep)
    }

    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64> {
        sweep::extract(self, from, to, take)
    }

    fn pop(&mut self, end: End, see: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let verb = match end {
            End::First => Verb::PopFirst,
            End::Last => Verb::PopLast,
        };
        self.walk(verb, [], &mut |key, value| {
            see(key, value);
            true
        })
    }
}
