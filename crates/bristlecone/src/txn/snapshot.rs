//! Snapshots: one version, read for as long as the snapshot lives.

use std::ops::Bound;
use std::sync::Arc;

use super::catalog::{self, NameEntry};
use super::merged::Merged;
use super::value_bytes::ValueBytes;
use crate::cache::Pager;
use crate::checkpoint::{Checkpoint, Version};
use crate::error::Result;
use crate::page::Root;
use crate::page::order::KeyCompare;
use crate::space::{HEADER_UNITS, load_map};
use crate::tree::lookup;

/// A pinned version of a database.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    checkpoint: Arc<Checkpoint>,
    version: Arc<Version>,
}

impl Snapshot {
    /// A snapshot of the version published last.
    pub(crate) fn take(checkpoint: &Arc<Checkpoint>) -> Snapshot {
        Snapshot {
            checkpoint: Arc::clone(checkpoint),
            version: checkpoint.current(),
        }
    }

    /// The version.
    pub(crate) fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// The database.
    pub(crate) fn checkpoint(&self) -> &Arc<Checkpoint> {
        &self.checkpoint
    }

    /// Where pages are read.
    pub(crate) fn pager(&self) -> &Arc<Pager> {
        self.checkpoint.pager()
    }

    /// Looks a table up by name.
    pub(crate) fn find(&self, name: &str) -> Result<Option<NameEntry>> {
        self.pager().disk().check_open()?;
        catalog::find(self.pager(), self.version.roots(), name)
    }

    /// Root of a table.
    pub(crate) fn root_of(&self, id: u64) -> Result<Option<Root>> {
        catalog::root_of(self.pager(), self.version.roots(), id)
    }

    /// Whether a table of this id exists.
    pub(crate) fn has_root(&self, id: u64) -> Result<bool> {
        catalog::has_root(self.pager(), self.version.roots(), id)
    }

    /// All tables.
    pub(crate) fn list(&self) -> Result<Vec<(String, NameEntry)>> {
        self.pager().disk().check_open()?;
        catalog::list(self.pager(), self.version.roots())
    }

    /// Units that this version reaches, header included, as its space map says.
    pub(crate) fn reachable_units(&self) -> Result<u64> {
        let (map, _) = load_map(self.pager(), self.version.map())?;
        Ok(map.count() + HEADER_UNITS)
    }
}

/// One table of a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct TableView {
    snapshot: Snapshot,
    root: Option<Root>,
    compare: KeyCompare,
}

impl TableView {
    /// The table at `root`.
    pub(crate) fn new(snapshot: Snapshot, root: Option<Root>, compare: KeyCompare) -> TableView {
        TableView {
            snapshot,
            root,
            compare,
        }
    }

    /// Root of the table.
    pub(crate) fn root(&self) -> Option<Root> {
        self.root
    }

    /// The snapshot.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Rows in the table.
    pub(crate) fn len(&self) -> u64 {
        self.root.map_or(0, |root| root.child.rows)
    }

    /// The value of a stored key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<ValueBytes>> {
        let pager = self.snapshot.pager();
        // An empty table has no page whose reading would find out.
        pager.disk().check_open()?;
        match lookup::get(pager, self.root.as_ref(), key, &self.compare)? {
            None => Ok(None),
            Some(found) => ValueBytes::of_found(pager, &found),
        }
    }

    /// The rows between two stored keys.
    pub(crate) fn range(&self, bounds: (Bound<Vec<u8>>, Bound<Vec<u8>>)) -> Merged<'static> {
        let trees = self.root.into_iter().collect();
        Merged::new(self.snapshot.pager(), &self.compare, None, trees, bounds)
    }
}
