//! Runs a program on the engine and on the model side by side.
//!
//! # Invariants
//! 1. Whatever the engine returns agrees with the model, or the run ends with a finding. An error is a finding,
//!    too, unless the disk was made to crash or to fail before it came.
//! 2. After a commit that failed, fresh snapshots show the state before it or after it, and stay with that.
//! 3. A reader shows the version it was opened on, whatever happens to the database meanwhile.

use bristlecone::{Database, Error, ReadTransaction, ReadableDatabase, WriteTransaction};

use crate::content::{Key, Recipe, TableId};
use crate::disk::SimDisk;
use crate::model::{History, Version};
use crate::program::Op;
use crate::store::{self, Query};
use crate::summary::Summary;
use crate::verdict::{Trouble, agree_on_found, agree_on_old, identify, version_difference};

/// How many readers are kept at most; opening another closes the oldest.
const READERS_MAX: usize = 6;

/// What the disk was made to do, and so which errors may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    /// No error may come.
    Fair,
    /// The disk crashes; until then no error may come.
    Crash,
    /// Changes fail once a fault has struck; reads do not.
    FailingChanges,
    /// Anything may fail once a fault has struck.
    FailingReads,
    /// A write was acknowledged and is not where it should be: anything may fail, and opening may show any committed
    /// version, but never a wrong row.
    Lying,
}

/// Why a run ended before its program did.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something is wrong.
    Finding(String),
    /// The disk crashed, or failed such that the database does not open any more.
    Ended,
}

/// A program under way. The fields are dropped in order: transactions before their database.
pub(crate) struct Runner<'s> {
    readers: Vec<(ReadTransaction, usize)>,
    writer: Option<(WriteTransaction, Version)>,
    database: Option<Database>,
    disk: SimDisk,
    weather: Weather,
    history: History,
    /// The version that fresh snapshots show; unknown after a failed commit until one could be read.
    visible: Option<usize>,
    /// Whether the engine refuses to write.
    is_halted: bool,
    summary: &'s mut Summary,
}

impl<'s> Runner<'s> {
    /// Opens the database on `disk` and runs `program`. Whatever ends it, the history is what it left.
    pub(crate) fn run(
        disk: &SimDisk,
        weather: Weather,
        program: &[Op],
        summary: &'s mut Summary,
    ) -> Result<History, String> {
        let mut runner = Self {
            readers: Vec::new(),
            writer: None,
            database: None,
            disk: disk.clone(),
            weather,
            history: History::default(),
            visible: Some(0),
            is_halted: false,
            summary,
        };
        let outcome = runner.run_all(program);
        runner.shut();
        match outcome {
            Ok(()) | Err(Stop::Ended) => Ok(runner.history),
            Err(Stop::Finding(what)) => Err(what),
        }
    }

    fn run_all(&mut self, program: &[Op]) -> Result<(), Stop> {
        self.open()?;
        for (idx, op) in program.iter().enumerate() {
            self.summary.runs.operations += 1;
            let outcome = self.step_watched(op);
            self.settle_outcome(op, outcome)
                .map_err(|stop| match stop {
                    Stop::Finding(what) => Stop::Finding(format!("operation {idx} {op:?}: {what}")),
                    Stop::Ended => Stop::Ended,
                })?;
        }
        self.writer = None;
        self.close_readers()?;
        self.reopen()
    }

    /// Decides whether an error was to be expected, and goes on if so.
    fn settle_outcome(&mut self, op: &Op, outcome: Result<(), Trouble>) -> Result<(), Stop> {
        let error = match outcome {
            Ok(()) => return Ok(()),
            Err(Trouble::Wrong(what)) => return Err(Stop::Finding(what)),
            Err(Trouble::Engine(error)) => error,
        };
        self.tolerate(&error, !is_read(op) || self.writer.is_some())?;
        // What a half-done step has changed is unknown: the transaction is given up.
        self.writer = None;
        Ok(())
    }

    /// Accepts an error that the weather explains; `may_write` says whether the call may have written.
    fn tolerate(&mut self, error: &Error, may_write: bool) -> Result<(), Stop> {
        let is_explained = match self.weather {
            Weather::Fair => false,
            Weather::Crash if self.disk.has_crashed() => return Err(Stop::Ended),
            Weather::Crash => false,
            Weather::FailingChanges => may_write && self.disk.counters().faults > 0,
            Weather::FailingReads | Weather::Lying => self.disk.counters().faults > 0,
        };
        if !is_explained {
            return Err(Stop::Finding(format!("unexpected error: {error}")));
        }
        self.summary.runs.errors_reported += 1;
        Ok(())
    }

    /// Runs a step and demands of one that only reads that it leaves the disk alone.
    fn step_watched(&mut self, op: &Op) -> Result<(), Trouble> {
        let is_read = is_read(op) && self.writer.is_none();
        let operations_before = self.disk.operation_count();
        let outcome = self.step(op);
        if is_read && self.disk.operation_count() != operations_before {
            return Err(Trouble::Wrong("reading has written to the disk".to_owned()));
        }
        outcome
    }

    fn step(&mut self, op: &Op) -> Result<(), Trouble> {
        match *op {
            Op::Insert { table, key, value } => self.insert(table, &[(key, value)]),
            Op::Burst {
                table,
                first,
                stride,
                count,
                value,
            } => {
                let row = |nth: u32| {
                    let seed = value.seed.wrapping_add(u64::from(nth));
                    (
                        first.wrapping_add(nth.wrapping_mul(stride)),
                        Recipe { seed, ..value },
                    )
                };
                self.insert(table, &(0..count).map(row).collect::<Vec<_>>())
            }
            Op::Remove { table, key } => self.remove(table, &[Key::numbered(table, key)]),
            Op::RemoveSpan { table, from, count } => self.remove_span(table, from, count),
            Op::Get { table, key } => {
                let key = Key::numbered(table, key);
                self.query(table, Query::Key(&key))
            }
            Op::Scan {
                table,
                from,
                to,
                count,
                is_reverse,
            } => {
                let (from, to) = (Key::numbered(table, from), Key::numbered(table, to));
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                self.query(
                    table,
                    Query::Range {
                        from: &from,
                        to: &to,
                        count,
                        is_reverse,
                    },
                )
            }
            Op::DropTable { table } => self.drop_table(table),
            Op::Commit => self.commit(),
            Op::Abort { by_drop } => self.abort(by_drop),
            Op::OpenReader => self.open_reader(),
            Op::CheckReader { reader } => self.check_reader(reader, false),
            Op::CloseReader { reader } => self.check_reader(reader, true),
            Op::Reopen => self.reopen_in_program(),
            Op::Check => self.check(),
        }
    }

    /// The open write transaction, or a fresh one; none if the engine has halted.
    fn write(&mut self) -> Result<Option<&mut (WriteTransaction, Version)>, Trouble> {
        if self.writer.is_none() {
            let (Some(database), false) = (&self.database, self.is_halted) else {
                return Ok(None);
            };
            // After a failed commit the base of the next transaction is what a fresh snapshot shows.
            let Some(visible) = self.visible else {
                return Ok(None);
            };
            match database.begin_write() {
                Ok(txn) => self.writer = Some((txn, self.history.version(visible).clone())),
                Err(error) => {
                    self.is_halted = true;
                    self.summary.runs.halts += 1;
                    return Err(error.into());
                }
            }
        }
        Ok(self.writer.as_mut())
    }

    fn insert(&mut self, table: TableId, rows: &[(u32, Recipe)]) -> Result<(), Trouble> {
        let Some((txn, version)) = self.write()? else {
            return Ok(());
        };
        let rows: Vec<(Key, Recipe)> = rows
            .iter()
            .map(|(key, value)| (Key::numbered(table, *key), *value))
            .collect();
        let old = store::insert(txn, table, &rows)?;
        for ((key, value), old) in rows.into_iter().zip(old) {
            let wanted = version.insert(table, key.clone(), value);
            agree_on_old(table, &key, wanted, old)?;
        }
        Ok(())
    }

    fn remove(&mut self, table: TableId, keys: &[Key]) -> Result<(), Trouble> {
        let Some((txn, version)) = self.write()? else {
            return Ok(());
        };
        let old = store::remove(txn, table, keys)?;
        version.create(table);
        for (key, old) in keys.iter().zip(old) {
            let wanted = version.remove(table, key);
            agree_on_old(table, key, wanted, old)?;
        }
        Ok(())
    }

    fn remove_span(&mut self, table: TableId, from: u32, count: u32) -> Result<(), Trouble> {
        let Some((_, version)) = self.write()? else {
            return Ok(());
        };
        let from = Key::numbered(table, from);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let keys: Vec<Key> = version
            .rows(table)
            .map(|rows| {
                rows.range(from..)
                    .take(count)
                    .map(|(key, _)| key.clone())
                    .collect()
            })
            .unwrap_or_default();
        self.remove(table, &keys)
    }

    fn drop_table(&mut self, table: TableId) -> Result<(), Trouble> {
        let Some((txn, version)) = self.write()? else {
            return Ok(());
        };
        let (existed, wanted) = (store::drop_table(txn, table)?, version.drop_table(table));
        if existed != wanted {
            return Err(Trouble::Wrong(format!("delete_table() said {existed}")));
        }
        self.summary.runs.table_drops += u64::from(existed);
        Ok(())
    }

    fn query(&mut self, table: TableId, query: Query<'_>) -> Result<(), Trouble> {
        if let Some((txn, version)) = &mut self.writer {
            let found = store::query_in_write(txn, table, query)?;
            version.create(table);
            return agree_on_found(table, query, version, &found);
        }
        let (Some(database), Some(visible)) = (&self.database, self.visible) else {
            return Ok(());
        };
        let version = self.history.version(visible);
        match store::query_in_read(&database.begin_read()?, table, query)? {
            Some(found) => agree_on_found(table, query, version, &found),
            None if version.rows(table).is_none() => Ok(()),
            None => Err(Trouble::Wrong(format!(
                "the table {} is missing",
                table.name()
            ))),
        }
    }

    fn commit(&mut self) -> Result<(), Trouble> {
        let Some((txn, version)) = self.writer.take() else {
            return Ok(());
        };
        self.history.begin(version);
        if let Err(error) = txn.commit() {
            self.summary.runs.commits_failed += 1;
            self.see_after_failure()?;
            return Err(error.into());
        }
        self.history.acknowledge();
        self.visible = Some(self.history.newest_idx());
        self.summary.runs.commits += 1;
        Ok(())
    }

    /// Finds out whether the commit that failed is visible. Both is right; anything else is not.
    fn see_after_failure(&mut self) -> Result<(), Trouble> {
        let before = self.visible.take();
        let Some(database) = self.database.as_ref().filter(|_| !self.disk.has_crashed()) else {
            return Ok(());
        };
        let may_fail = matches!(self.weather, Weather::FailingReads | Weather::Lying);
        let newest = self.history.newest_idx();
        let candidates = before.into_iter().chain([newest]);
        match identify(database, &self.history, candidates) {
            Ok(Ok(idx)) => self.visible = Some(idx),
            Ok(Err(what)) => return Err(Trouble::Wrong(format!("after a failed commit: {what}"))),
            Err(_) if may_fail => {}
            Err(error) => {
                let what = format!("a failed commit keeps snapshots from being read: {error}");
                return Err(Trouble::Wrong(what));
            }
        }
        Ok(())
    }

    fn abort(&mut self, by_drop: bool) -> Result<(), Trouble> {
        let Some((txn, _)) = self.writer.take() else {
            return Ok(());
        };
        self.summary.runs.aborts += 1;
        if by_drop {
            drop(txn);
        } else {
            txn.abort()?;
        }
        Ok(())
    }

    fn open_reader(&mut self) -> Result<(), Trouble> {
        let (Some(database), Some(visible)) = (&self.database, self.visible) else {
            return Ok(());
        };
        self.readers.push((database.begin_read()?, visible));
        if self.readers.len() > READERS_MAX {
            return self.check_reader(0, true);
        }
        Ok(())
    }

    fn check_reader(&mut self, reader: u32, close: bool) -> Result<(), Trouble> {
        let Some(idx) = usize::try_from(reader)
            .unwrap_or(0)
            .checked_rem(self.readers.len())
        else {
            return Ok(());
        };
        let (txn, version) = &self.readers[idx];
        let difference = version_difference(txn, self.history.version(*version))?;
        self.summary.runs.snapshots_verified += 1;
        if let Some(what) = difference {
            return Err(Trouble::Wrong(format!(
                "the reader of version {version}: {what}"
            )));
        }
        if close {
            self.readers.remove(idx);
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), Trouble> {
        self.writer = None;
        self.readers.clear();
        let Some(database) = &mut self.database else {
            return Ok(());
        };
        self.summary.runs.checks += 1;
        if !database.check_integrity()? && self.weather == Weather::Fair {
            return Err(Trouble::Wrong("check_integrity() found damage".to_owned()));
        }
        Ok(())
    }

    fn close_readers(&mut self) -> Result<(), Stop> {
        while !self.readers.is_empty() {
            let op = Op::CloseReader { reader: 0 };
            let outcome = self.step(&op);
            let failed = outcome.is_err();
            self.settle_outcome(&op, outcome)?;
            if failed {
                self.readers.remove(0);
            }
        }
        Ok(())
    }

    fn reopen_in_program(&mut self) -> Result<(), Trouble> {
        match self.reopen() {
            Ok(()) => Ok(()),
            Err(Stop::Finding(what)) => Err(Trouble::Wrong(what)),
            // Every later step finds no database and does nothing.
            Err(Stop::Ended) => Ok(()),
        }
    }

    /// Closes and opens; what is seen then is the floor for all that follows.
    fn reopen(&mut self) -> Result<(), Stop> {
        if self.database.is_none() {
            return Err(Stop::Ended);
        }
        self.shut();
        self.summary.runs.reopens += 1;
        self.open()
    }

    fn open(&mut self) -> Result<(), Stop> {
        let database = match store::open(self.disk.backend()) {
            Ok(database) => database,
            Err(error) => {
                self.tolerate(&error, true)?;
                return Err(Stop::Ended);
            }
        };
        let candidates = match self.weather {
            Weather::Lying => 0..=self.history.newest_idx(),
            _ => self.history.candidates(),
        };
        let outcome = identify(&database, &self.history, candidates.rev());
        self.database = Some(database);
        self.is_halted = false;
        match outcome {
            Ok(Ok(idx)) => {
                self.history.settle(idx);
                self.visible = Some(idx);
                Ok(())
            }
            Ok(Err(what)) => Err(Stop::Finding(format!("after opening: {what}"))),
            Err(error) => {
                self.visible = None;
                self.tolerate(&error, false)
            }
        }
    }

    fn shut(&mut self) {
        self.readers.clear();
        self.writer = None;
        if let Some(database) = self.database.take() {
            self.summary.take(&database);
        }
    }
}

/// Whether an operation writes nothing by itself.
fn is_read(op: &Op) -> bool {
    matches!(
        op,
        Op::Get { .. }
            | Op::Scan { .. }
            | Op::OpenReader
            | Op::CheckReader { .. }
            | Op::CloseReader { .. }
    )
}
