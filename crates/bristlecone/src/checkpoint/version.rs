//! Versions: what a snapshot reads, fixed for its life.

use std::sync::Arc;

use crate::page::{Number, Root};
use crate::space::{MapRoot, VersionPin};

/// The roots of everything a version holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Roots {
    /// Tree from table names to table ids and types.
    pub(crate) names: Option<Root>,
    /// Tree from table ids to the tables' roots.
    pub(crate) tables: Option<Root>,
    /// Next table id; ids are never used again.
    pub(crate) next_table: u64,
}

/// A published version. Holding it keeps every page it reaches from being reused.
#[derive(Debug)]
pub(crate) struct Version {
    pin: Arc<VersionPin>,
    roots: Roots,
    map: MapRoot,
}

impl Version {
    pub(super) fn new(pin: Arc<VersionPin>, roots: Roots, map: MapRoot) -> Version {
        Version { pin, roots, map }
    }

    /// Its number: above the birth of every page it reaches.
    pub(crate) fn number(&self) -> Number {
        self.pin.0
    }

    /// Its roots.
    pub(crate) fn roots(&self) -> &Roots {
        &self.roots
    }

    /// The space map that describes it.
    pub(crate) fn map(&self) -> MapRoot {
        self.map
    }
}
