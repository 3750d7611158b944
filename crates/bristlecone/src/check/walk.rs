//! The walk behind a check.

use super::report::{CheckProgress, CheckReport, Finding};
use super::tree::{Rules, TakeRow};
use crate::checkpoint::Checkpoint;
use crate::error::{Corruption, Result, StorageError};
use crate::int;
use crate::page::order::KeyCompare;
use crate::page::{Number, PageId, Root, UNIT_BYTES};
use crate::space::{HEADER_UNITS, UnitMap, load_map};
use crate::txn::catalog::NameEntry;
use crate::txn::schema_check::untyped_compare;

/// Map differences listed at most; the rest would say the same.
const DIFFERENCES_MAX: usize = 64;

/// A check under way.
pub(super) struct Walk<'c> {
    pub(super) checkpoint: &'c Checkpoint,
    pub(super) version: Number,
    progress: &'c mut dyn FnMut(CheckProgress),
    pub(super) report: CheckReport,
    reached: UnitMap,
    pub(super) path: Vec<u64>,
    units_done: u64,
    /// Something could not be read, so what lies below it counts as unreached through no fault of the map.
    pub(super) unread: bool,
}

pub(super) fn run(
    checkpoint: &Checkpoint,
    progress: &mut dyn FnMut(CheckProgress),
) -> Result<CheckReport> {
    let version = checkpoint.current();
    let file_units = checkpoint.pager().disk().len()? / int::wide(UNIT_BYTES);
    let mut walk = Walk {
        checkpoint,
        version: version.number(),
        progress,
        report: CheckReport {
            units_total: file_units,
            ..CheckReport::default()
        },
        reached: UnitMap::default(),
        path: Vec::new(),
        units_done: 0,
        unread: false,
    };
    for corruption in checkpoint.damaged_slots()? {
        walk.unread = true;
        walk.find(corruption);
    }
    let roots = *version.roots();
    let mut names = Vec::new();
    walk.catalogue(roots.names, &mut |name, value| {
        let name = String::from_utf8(name.to_vec())
            .map_err(|_| Corruption::new("table name in the catalogue is not UTF-8"))?;
        names.push((name, NameEntry::decode(value)?));
        Ok(())
    })?;
    let names_are_whole = !walk.unread;
    let mut tables = std::collections::BTreeMap::new();
    walk.catalogue(roots.tables, &mut |key, value| {
        let id = <[u8; 8]>::try_from(key).map(u64::from_be_bytes);
        let id =
            id.map_err(|_| Corruption::new("table id in the catalogue has the wrong length"))?;
        tables.insert(id, Root::decode(value)?);
        Ok(())
    })?;
    for (name, entry) in names {
        walk.report.tables += 1;
        if entry.id >= roots.next_table {
            let corruption = Corruption::new("table id is not below the header's next one");
            walk.find(
                corruption
                    .expected(roots.next_table)
                    .found(entry.id)
                    .table(name.as_str()),
            );
        }
        match tables.remove(&entry.id) {
            None => walk.find(Corruption::new("table has a name but no root").table(name)),
            Some(root) => walk.table(&name, &entry, root)?,
        }
    }
    for (id, root) in tables {
        if names_are_whole {
            walk.find(Corruption::new("table has a root but no name").found(id));
        }
        walk.nameless_table(root)?;
    }
    walk.map(version.map())?;
    walk.report.read_everything = !walk.unread;
    walk.report.units_reachable = walk.reached.count() + HEADER_UNITS;
    Ok(walk.report)
}

impl Walk<'_> {
    /// Records a finding at the present place.
    pub(super) fn find(&mut self, corruption: Corruption) {
        self.report
            .findings
            .push(Finding::new(corruption, &self.path));
    }

    /// Turns damage into a finding and lets other errors through.
    pub(super) fn absorb<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(StorageError::Corrupted(corruption)) => {
                self.unread = true;
                self.find(corruption);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Takes units as reached; a finding and `false` if they were before, or are the header's or past the end.
    pub(super) fn claim(&mut self, id: PageId, units: u32) -> bool {
        let end = id.0.saturating_add(u64::from(units));
        if id.0 < HEADER_UNITS || end > self.report.units_total {
            self.find(
                Corruption::new("reference to units outside the file")
                    .page(id.0)
                    .found(units),
            );
            self.unread = true;
            return false;
        }
        let fresh = self.reached.insert(id.0, u64::from(units));
        if !fresh {
            self.find(Corruption::new("units are reached twice").page(id.0));
        }
        self.units_done += u64::from(units);
        let units_total = self.report.units_total;
        (self.progress)(CheckProgress {
            units_done: self.units_done,
            units_total,
        });
        fresh
    }

    /// Walks a catalogue tree and hands its rows to `take`.
    fn catalogue(&mut self, root: Option<Root>, take: &mut TakeRow<'_>) -> Result {
        let rules = Rules {
            compare: Some(KeyCompare::Memcmp),
            schema: None,
        };
        self.tree(root, &rules, take)?;
        Ok(())
    }

    fn table(&mut self, name: &str, entry: &NameEntry, root: Option<Root>) -> Result {
        let rules = Rules {
            compare: untyped_compare(&entry.schema),
            schema: Some(&entry.schema),
        };
        let before = self.report.findings.len();
        let contents = self.tree(root, &rules, &mut |_, _| Ok(()))?;
        for finding in &mut self.report.findings[before..] {
            *finding = finding.clone().in_table(name);
        }
        self.report.rows += contents.rows;
        Ok(())
    }

    /// Walks a table whose name, and with it the order and the types, could not be read.
    fn nameless_table(&mut self, root: Option<Root>) -> Result {
        let rules = Rules {
            compare: None,
            schema: None,
        };
        let contents = self.tree(root, &rules, &mut |_, _| Ok(()))?;
        self.report.rows += contents.rows;
        Ok(())
    }

    /// Walks the space map and compares it with what was reached.
    fn map(&mut self, root: crate::space::MapRoot) -> Result {
        if root.top.is_none() {
            if self.reached.count() > 0 {
                self.find(Corruption::new(
                    "units are reached but there is no space map",
                ));
            }
            return Ok(());
        }
        let loaded = load_map(self.checkpoint.pager(), root);
        let Some((durable, tree)) = self.absorb(loaded)? else {
            return Ok(());
        };
        for page in tree.pages() {
            self.report.pages += 1;
            self.claim(page.id, 1);
        }
        for unit in durable.difference(&self.reached, DIFFERENCES_MAX) {
            if !durable.contains(unit) {
                self.find(Corruption::new("unit is reached but free in the space map").page(unit));
            } else if !self.unread {
                self.find(
                    Corruption::new("unit is in use in the space map but not reached").page(unit),
                );
            }
        }
        Ok(())
    }
}
