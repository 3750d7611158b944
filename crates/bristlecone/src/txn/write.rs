//! The write transaction: tables being changed, the session they spill to, commit.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::catalog::NameEntry;
use super::change::Change;
use super::gate::Pass;
use super::schema_check::{check_kind, check_schema, untyped_compare};
use super::snapshot::Snapshot;
use super::table_state::TableState;
use super::value_bytes::ValueBytes;
use crate::cache::Lease;
use crate::error::{CommitError, Corruption, Result, StorageError, TableError};
use crate::int;
use crate::limits;
use crate::page::ExtentRef;
use crate::page::leaf::Stored;
use crate::page::order::KeyCompare;
use crate::space::Session;
use crate::tree::writer::PageWriter;
use crate::types::TableSchema;

/// A value of this size goes to its extent when it is written rather than at commit, so that buffers stay small.
const DIRECT_EXTENT_BYTES: usize = 64 << 10;

/// What the transaction knows of a table name.
#[derive(Debug)]
pub(super) enum Entry {
    /// Not open; its changes wait here.
    Idle(Box<TableState>),
    /// A handle has it.
    Open(&'static Location<'static>),
    /// Deleted in this transaction, or never there.
    Absent,
}

/// Every table that the transaction has touched.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) entries: BTreeMap<String, Entry>,
    /// Tables of the snapshot that were deleted, or replaced by a new one of the same name.
    pub(super) deleted: Vec<(String, Box<TableState>)>,
    next_table: u64,
}

/// A write transaction over stored bytes.
#[derive(Debug)]
pub(crate) struct WriteTxn {
    snapshot: Snapshot,
    tables: Mutex<Tables>,
    /// Begun by the first spill, large value or commit.
    session: Mutex<Option<Session>>,
    /// A change was made by half, so that a commit would lose rows or units. Relaxed: read when all handles are gone.
    spoiled: AtomicBool,
    /// Dropped last: the gate opens when nothing of the transaction is left.
    _pass: Pass,
}

impl WriteTxn {
    /// Begins a transaction on the version published last.
    pub(crate) fn new(snapshot: Snapshot, pass: Pass) -> WriteTxn {
        let next_table = snapshot.version().roots().next_table;
        let tables = Tables {
            entries: BTreeMap::new(),
            deleted: Vec::new(),
            next_table,
        };
        WriteTxn {
            snapshot,
            tables: Mutex::new(tables),
            session: Mutex::new(None),
            spoiled: AtomicBool::new(false),
            _pass: pass,
        }
    }

    /// The snapshot it began with.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes sure `name` has an entry, looking it up in the snapshot the first time.
    fn entry<'t>(&self, tables: &'t mut Tables, name: &str) -> Result<&'t mut Entry> {
        if !tables.entries.contains_key(name) {
            let entry = match self.snapshot.find(name)? {
                None => Entry::Absent,
                Some(found) => Entry::Idle(Box::new(self.load(found)?)),
            };
            tables.entries.insert(name.to_owned(), entry);
        }
        tables
            .entries
            .get_mut(name)
            .ok_or(StorageError::Unsupported)
    }

    fn load(&self, found: NameEntry) -> Result<TableState> {
        let base = self.snapshot.root_of(found.id)?;
        // A foreign order arrives with the typed handle; until then nothing is compared.
        let compare = untyped_compare(&found.schema).unwrap_or(KeyCompare::Memcmp);
        Ok(TableState::new(
            found.id,
            found.schema,
            compare,
            base,
            self.lease(),
        ))
    }

    fn lease(&self) -> Lease {
        Lease::new(self.snapshot.pager().budget())
    }

    /// Takes the table `name` out for a handle, creating it if it does not exist.
    ///
    /// `compare` is the key type's own comparator where there is one at hand.
    pub(crate) fn open_table(
        &self,
        name: &str,
        schema: &TableSchema,
        compare: KeyCompare,
        location: &'static Location<'static>,
    ) -> Result<Box<TableState>, TableError> {
        self.snapshot
            .pager()
            .disk()
            .check_writable()
            .map_err(TableError::Storage)?;
        if name.len() > limits::TABLE_NAME_BYTES_MAX {
            return Err(TableError::Storage(StorageError::ValueTooLarge(name.len())));
        }
        let mut tables = self.tables();
        let entry = self.entry(&mut tables, name)?;
        let state = match entry {
            Entry::Open(opened) => {
                return Err(TableError::TableAlreadyOpen(name.to_owned(), opened));
            }
            Entry::Idle(state) => {
                check_schema(name, schema, &state.schema)?;
                match std::mem::replace(entry, Entry::Open(location)) {
                    Entry::Idle(mut state) => {
                        state.set_compare(compare);
                        state
                    }
                    _ => return Err(TableError::Storage(StorageError::Unsupported)),
                }
            }
            Entry::Absent => {
                let id = tables.next_table;
                self.check_new_id(id).map_err(TableError::Storage)?;
                tables
                    .entries
                    .insert(name.to_owned(), Entry::Open(location));
                tables.next_table += 1;
                let mut state = TableState::new(id, schema.clone(), compare, None, self.lease());
                state.created = true;
                Box::new(state)
            }
        };
        Ok(state)
    }

    /// Fails if a damaged header names an id that a table has, or the last one there can be.
    fn check_new_id(&self, id: u64) -> Result {
        if id >= int::U48_MAX || self.snapshot.has_root(id)? {
            let corruption = Corruption::new("next table id is in use or beyond all ids");
            return Err(corruption.found(id).into());
        }
        Ok(())
    }

    /// Takes a table back from its handle.
    pub(crate) fn close_table(&self, name: &str, state: Box<TableState>) {
        self.tables()
            .entries
            .insert(name.to_owned(), Entry::Idle(state));
    }

    /// Deletes a table; returns whether it existed.
    pub(crate) fn delete_table(&self, name: &str, multimap: bool) -> Result<bool, TableError> {
        self.snapshot
            .pager()
            .disk()
            .check_writable()
            .map_err(TableError::Storage)?;
        let mut tables = self.tables();
        let entry = self.entry(&mut tables, name)?;
        match entry {
            Entry::Absent => return Ok(false),
            Entry::Open(opened) => {
                return Err(TableError::TableAlreadyOpen(name.to_owned(), opened));
            }
            Entry::Idle(state) => {
                check_kind(name, &state.schema, multimap)?;
            }
        }
        if let Entry::Idle(state) = std::mem::replace(entry, Entry::Absent) {
            tables.deleted.push((name.to_owned(), state));
        }
        Ok(true)
    }

    /// Names and schemas of all tables, this transaction's changes included.
    pub(crate) fn list(&self) -> Result<Vec<(String, bool)>> {
        let mut names: BTreeMap<String, bool> = self
            .snapshot
            .list()?
            .into_iter()
            .map(|(name, entry)| (name, entry.schema.is_multimap()))
            .collect();
        for (name, entry) in &self.tables().entries {
            match entry {
                Entry::Absent => {
                    names.remove(name);
                }
                Entry::Idle(state) => {
                    names.insert(name.clone(), state.schema.is_multimap());
                }
                Entry::Open(_) => {
                    names.entry(name.clone()).or_insert(false);
                }
            }
        }
        Ok(names.into_iter().collect())
    }

    /// Runs `work` with a writer into the transaction's session, which it begins if need be.
    fn with_writer<T>(&self, work: impl FnOnce(&mut PageWriter<'_>) -> Result<T>) -> Result<T> {
        let mut slot = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let session = match slot.as_mut() {
            Some(session) => session,
            None => slot.insert(self.snapshot.checkpoint().begin_session()?),
        };
        work(&mut PageWriter::new(self.snapshot.pager(), session))
    }

    /// Sets the value of a stored key in an open table; returns the value it had.
    ///
    /// # Errors
    /// `ValueTooLarge` beyond the limits, or any storage error. If the error came from a spill the transaction can only
    /// be aborted; its commit fails with `TransactionPoisoned`. After any other, nothing has changed.
    pub(crate) fn put(
        &self,
        state: &mut TableState,
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<ValueBytes>> {
        check_sizes(key, value)?;
        let _guard = SpoilOnPanic::new(self);
        let pager = self.snapshot.pager();
        let mut superseded = None;
        let mut note = |stored: Stored<'_>| superseded = extent_of(stored);
        let old = if value.len() > DIRECT_EXTENT_BYTES.max(pager.page_bytes()) {
            let extent = self.with_writer(|writer| writer.write_extent(value))?;
            match state.put(pager, key, Stored::Extent(extent), &mut note) {
                Ok(old) => old,
                Err(error) => {
                    self.drop_extent(Some(extent))?;
                    return Err(error);
                }
            }
        } else {
            state.put(pager, key, Stored::Inline(value), &mut note)?
        };
        self.drop_extent(superseded)?;
        self.spill_if_over(state).inspect_err(|_| self.spoil())?;
        Ok(old)
    }

    /// Deletes a stored key from an open table; returns the value it had.
    pub(crate) fn remove(&self, state: &mut TableState, key: &[u8]) -> Result<Option<ValueBytes>> {
        let _guard = SpoilOnPanic::new(self);
        let mut superseded = None;
        let mut note = |stored: Stored<'_>| superseded = extent_of(stored);
        let old = state.remove(self.snapshot.pager(), key, &mut note)?;
        self.drop_extent(superseded)?;
        self.spill_if_over(state).inspect_err(|_| self.spoil())?;
        Ok(old)
    }

    fn spoil(&self) {
        self.spoiled.store(true, Ordering::Relaxed);
    }

    fn drop_extent(&self, extent: Option<ExtentRef>) -> Result {
        match extent {
            None => Ok(()),
            Some(extent) => self.with_writer(|writer| {
                writer.free_extent(&extent);
                Ok(())
            }),
        }
    }

    /// Spills the largest buffer that is not in other hands once all of them together outgrow their share of the budget.
    fn spill_if_over(&self, state: &mut TableState) -> Result {
        let pager = self.snapshot.pager();
        pager.cache().make_room();
        let budget = pager.budget();
        let share = budget.write_share();
        if budget.leased() <= share {
            return Ok(());
        }
        let mut tables = self.tables();
        let largest = tables
            .entries
            .values_mut()
            .filter_map(|entry| match entry {
                Entry::Idle(idle) => Some(idle),
                _ => None,
            })
            .max_by_key(|idle| idle.buffered_bytes());
        match largest {
            Some(idle) if idle.buffered_bytes() > state.buffered_bytes() => {
                self.with_writer(|writer| idle.spill(writer))
            }
            // Another open table may hold the most; this one then spills in pieces worth a run, not at every change.
            _ if state.buffered_bytes() >= share / 8 || budget.leased() > 2 * share => {
                drop(tables);
                self.with_writer(|writer| state.spill(writer))
            }
            _ => Ok(()),
        }
    }

    /// Commits: merges every changed table and the catalogue, and publishes.
    ///
    /// # Errors
    /// `TransactionPoisoned` if a table handle was leaked, or a change failed or panicked half way; any storage error.
    /// Nothing is committed then, unless writing has stopped (`PreviousIo` from then on), which leaves the outcome to
    /// the next open.
    ///
    /// # Durability
    /// On return everything is durable.
    pub(crate) fn commit(&self) -> Result<(), CommitError> {
        self.snapshot
            .pager()
            .disk()
            .check_writable()
            .map_err(CommitError::Storage)?;
        let tables = std::mem::replace(
            &mut *self.tables(),
            Tables {
                entries: BTreeMap::new(),
                deleted: Vec::new(),
                next_table: 0,
            },
        );
        if tables
            .entries
            .values()
            .any(|entry| matches!(entry, Entry::Open(_)))
            || self.spoiled.load(Ordering::Relaxed)
        {
            return Err(CommitError::TransactionPoisoned);
        }
        let session = self
            .session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let before = *self.snapshot.version().roots();
        let mut change = Change::new(&tables);
        if change.is_empty() && session.is_none() {
            return Ok(());
        }
        let checkpoint = self.snapshot.checkpoint();
        let mut session = match session {
            Some(session) => session,
            None => checkpoint.begin_session().map_err(CommitError::Storage)?,
        };
        let mut writer = PageWriter::new(self.snapshot.pager(), &mut session);
        let roots = change.apply(&mut writer, before, tables.next_table)?;
        checkpoint
            .publish(session, roots)
            .map_err(CommitError::Storage)?;
        let dropped = tables
            .deleted
            .iter()
            .filter(|(_, state)| !state.created)
            .count();
        checkpoint
            .counters()
            .table_drops
            .add(crate::int::wide(dropped));
        Ok(())
    }
}

/// Refuses the commit if a comparator or a backend panicked within a change: it may be made by half.
struct SpoilOnPanic<'t> {
    txn: &'t WriteTxn,
    /// A change may be made in a destructor while its thread unwinds; only a further panic counts.
    was_panicking: bool,
}

impl SpoilOnPanic<'_> {
    fn new(txn: &WriteTxn) -> SpoilOnPanic<'_> {
        let was_panicking = std::thread::panicking();
        SpoilOnPanic { txn, was_panicking }
    }
}

impl Drop for SpoilOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.was_panicking {
            self.txn.spoil();
        }
    }
}

fn extent_of(stored: Stored<'_>) -> Option<ExtentRef> {
    match stored {
        Stored::Extent(extent) => Some(extent),
        _ => None,
    }
}

/// Fails with `ValueTooLarge` for a key, a value or a pair beyond the limits.
pub(crate) fn check_sizes(key: &[u8], value: &[u8]) -> Result {
    let pair = key.len().saturating_add(value.len());
    for (len, max) in [
        (key.len(), limits::VALUE_BYTES_MAX),
        (value.len(), limits::VALUE_BYTES_MAX),
        (pair, limits::PAIR_BYTES_MAX),
    ] {
        if len > max {
            return Err(StorageError::ValueTooLarge(len));
        }
    }
    Ok(())
}
