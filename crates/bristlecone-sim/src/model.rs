//! What the database must hold: one ordered map for each table of each committed version.
//!
//! # Invariants
//! 1. `versions[0]` is the empty database; each commit adds one version.
//! 2. A version below `floor` must never be seen again; those above it may be lost in a crash.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::content::{Key, Recipe, TableId};

/// The rows of a table.
pub type Rows = BTreeMap<Key, Recipe>;

/// One state of all tables; a table that does not exist differs from an empty one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Version {
    tables: [Option<Arc<Rows>>; TableId::ALL.len()],
}

impl Version {
    /// The rows of a table, if it exists.
    #[must_use]
    pub fn rows(&self, table: TableId) -> Option<&Rows> {
        self.tables[table.index()].as_deref()
    }

    /// Creates a table if it does not exist.
    pub fn create(&mut self, table: TableId) {
        self.tables[table.index()].get_or_insert_default();
    }

    /// Inserts a row into a table, which is created if need be; returns the old value.
    pub fn insert(&mut self, table: TableId, key: Key, value: Recipe) -> Option<Recipe> {
        Arc::make_mut(self.tables[table.index()].get_or_insert_default()).insert(key, value)
    }

    /// Removes a row from a table, which is created if need be; returns the old value.
    pub fn remove(&mut self, table: TableId, key: &Key) -> Option<Recipe> {
        let rows = self.tables[table.index()].get_or_insert_default();
        // Removing nothing must not copy the rows of the version before.
        if !rows.contains_key(key) {
            return None;
        }
        Arc::make_mut(rows).remove(key)
    }

    /// Drops a table; returns whether it existed.
    pub fn drop_table(&mut self, table: TableId) -> bool {
        self.tables[table.index()].take().is_some()
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, table: TableId, key: &Key) -> Option<Recipe> {
        self.rows(table).and_then(|rows| rows.get(key)).copied()
    }
}

/// Every version that was ever committed, and which of them a crash may leave.
#[derive(Debug, Clone)]
pub struct History {
    versions: Vec<Version>,
    floor: usize,
}

impl Default for History {
    fn default() -> Self {
        Self {
            versions: vec![Version::default()],
            floor: 0,
        }
    }
}

impl History {
    /// The newest version, acknowledged or not.
    #[must_use]
    pub fn newest(&self) -> &Version {
        // Invariant 1: there is always one.
        &self.versions[self.newest_idx()]
    }

    /// The index of the newest version.
    #[must_use]
    pub fn newest_idx(&self) -> usize {
        self.versions.len() - 1
    }

    /// One version.
    #[must_use]
    pub fn version(&self, idx: usize) -> &Version {
        &self.versions[idx]
    }

    /// The oldest version that may still be seen.
    #[must_use]
    pub fn floor(&self) -> usize {
        self.floor
    }

    /// Adds a version whose commit has begun and is not acknowledged; it may be lost or kept.
    pub fn begin(&mut self, version: Version) {
        self.versions.push(version);
    }

    /// Notes that the newest version was acknowledged as durable.
    pub fn acknowledge(&mut self) {
        self.floor = self.newest_idx();
    }

    /// Notes that version `idx` was found after a recovery: it is the newest, and nothing older may come back.
    pub fn settle(&mut self, idx: usize) {
        self.versions.truncate(idx + 1);
        self.floor = idx;
    }

    /// The versions that may be seen after a crash.
    #[must_use]
    pub fn candidates(&self) -> RangeInclusive<usize> {
        self.floor..=self.newest_idx()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: Recipe = Recipe { seed: 1, len: 2 };

    #[test]
    fn versions_do_not_share_later_changes() {
        let mut one = Version::default();
        assert_eq!(one.insert(TableId::Numbers, Key::Number(1), VALUE), None);
        let mut two = one.clone();
        assert_eq!(two.remove(TableId::Numbers, &Key::Number(2)), None);
        assert_eq!(two, one);
        assert_eq!(two.remove(TableId::Numbers, &Key::Number(1)), Some(VALUE));
        assert_eq!(one.get(TableId::Numbers, &Key::Number(1)), Some(VALUE));
        assert!(two.rows(TableId::Numbers).is_some_and(Rows::is_empty));
        assert!(two.drop_table(TableId::Numbers) && !two.drop_table(TableId::Numbers));
        two.create(TableId::Pairs);
        assert_eq!(two.rows(TableId::Pairs), Some(&Rows::new()));
    }

    #[test]
    fn crashes_may_lose_what_was_not_acknowledged() {
        let mut history = History::default();
        let mut version = Version::default();
        version.create(TableId::Bytes);
        history.begin(version.clone());
        assert_eq!(history.candidates(), 0..=1);
        history.acknowledge();
        assert_eq!((history.floor(), history.newest_idx()), (1, 1));
        history.begin(Version::default());
        history.settle(1);
        assert_eq!(history.newest(), &version);
        assert_eq!(history.candidates(), 1..=1);
    }
}
