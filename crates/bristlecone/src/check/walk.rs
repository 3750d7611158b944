//! The walk behind a check.

use super::report::{CheckProgress, CheckReport, Finding};
use crate::checkpoint::Checkpoint;
use crate::error::{Corruption, Result, StorageError};
use crate::int;
use crate::page::leaf::{Leaf, Stored};
use crate::page::order::KeyCompare;
use crate::page::{ChildRef, ExtentRef, Number, Page, PageId, Root, UNIT_BYTES, seal};
use crate::space::{HEADER_UNITS, UnitMap, load_map};
use crate::txn::catalog::NameEntry;
use crate::txn::schema_check::untyped_compare;
use crate::types::TableSchema;

/// Map differences listed at most; the rest would say the same.
const DIFFERENCES_MAX: usize = 64;

struct Walk<'c> {
    checkpoint: &'c Checkpoint,
    version: Number,
    progress: &'c mut dyn FnMut(CheckProgress),
    report: CheckReport,
    reached: UnitMap,
    path: Vec<u64>,
    units_done: u64,
    /// Something could not be read, so what lies below it counts as unreached through no fault of the map.
    unread: bool,
}

/// What a tree's rows are checked against.
struct Rules<'r> {
    compare: Option<KeyCompare>,
    schema: Option<&'r TableSchema>,
}

/// What a subtree turned out to hold.
#[derive(Clone, Copy, Default)]
struct Contents {
    rows: u64,
    extents: bool,
}

/// Receives the rows of a catalogue tree.
type TakeRow<'t> = dyn FnMut(&[u8], &[u8]) -> Result<(), Corruption> + 't;

/// Where a key must lie.
type Fences<'f> = (Option<&'f [u8]>, Option<&'f [u8]>);

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
    fn find(&mut self, corruption: Corruption) {
        self.report
            .findings
            .push(Finding::new(corruption, &self.path));
    }

    /// Turns damage into a finding and lets other errors through.
    fn absorb<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
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
    fn claim(&mut self, id: PageId, units: u32) -> bool {
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

    fn tree(
        &mut self,
        root: Option<Root>,
        rules: &Rules<'_>,
        take: &mut TakeRow<'_>,
    ) -> Result<Contents> {
        let Some(root) = root else {
            return Ok(Contents::default());
        };
        let version = self.version;
        if root.child.birth >= version {
            let corruption = Corruption::new("tree is younger than its version");
            self.find(
                corruption
                    .page(root.child.id.0)
                    .expected(version.0)
                    .found(root.child.birth.0),
            );
        }
        self.subtree(&root.child, root.height - 1, rules, (None, None), take)
    }

    fn subtree(
        &mut self,
        child: &ChildRef,
        level: u8,
        rules: &Rules<'_>,
        fences: Fences<'_>,
        take: &mut TakeRow<'_>,
    ) -> Result<Contents> {
        if !self.claim(child.id, child.units) {
            return Ok(Contents::default());
        }
        let read = self.checkpoint.pager().read_page(child);
        let Some(page) = self.absorb(read)? else {
            return Ok(Contents::default());
        };
        self.report.pages += 1;
        self.path.push(child.id.0);
        let unread_before = self.unread;
        let outcome = if level == 0 {
            self.leaf(&page, child, rules, fences, take)
        } else {
            self.branch(&page, child, level, rules, fences, take)
        };
        let contents = self.absorb(outcome)?;
        let complete = contents.is_some() && self.unread == unread_before;
        let contents = contents.unwrap_or_default();
        if complete && (contents.rows, contents.extents) != (child.rows, child.extents) {
            let corruption = Corruption::new("parent miscounts the rows or extents below");
            self.find(
                corruption
                    .page(child.id.0)
                    .expected(child.rows)
                    .found(contents.rows),
            );
        }
        self.path.pop();
        Ok(contents)
    }

    fn branch(
        &mut self,
        page: &Page,
        at: &ChildRef,
        level: u8,
        rules: &Rules<'_>,
        fences: Fences<'_>,
        take: &mut TakeRow<'_>,
    ) -> Result<Contents> {
        let branch = page.branch()?;
        crate::tree::lookup::check_level(branch.level(), level, at)?;
        let separators: Vec<Vec<u8>> = (1..branch.count())
            .map(|idx| branch.separator(idx - 1))
            .collect();
        if let Some(compare) = &rules.compare {
            let bounds: Vec<&[u8]> = fences
                .0
                .into_iter()
                .chain(separators.iter().map(Vec::as_slice))
                .chain(fences.1)
                .collect();
            if bounds
                .windows(2)
                .any(|pair| compare.compare(pair[0], pair[1]).is_ge())
            {
                self.find(
                    Corruption::new("separators do not ascend within their bounds").page(at.id.0),
                );
            }
        }
        let mut sum = Contents::default();
        for idx in 0..branch.count() {
            let lower = idx
                .checked_sub(1)
                .map(|before| separators[before].as_slice())
                .or(fences.0);
            let upper = separators.get(idx).map(Vec::as_slice).or(fences.1);
            let below =
                self.subtree(&branch.child(idx)?, level - 1, rules, (lower, upper), take)?;
            sum.rows += below.rows;
            sum.extents |= below.extents;
        }
        Ok(sum)
    }

    fn leaf(
        &mut self,
        page: &Page,
        at: &ChildRef,
        rules: &Rules<'_>,
        fences: Fences<'_>,
        take: &mut TakeRow<'_>,
    ) -> Result<Contents> {
        let leaf = page.leaf()?;
        if let Some(compare) = &rules.compare {
            self.leaf_order(&leaf, at, compare, fences);
        }
        let mut contents = Contents {
            rows: int::wide(leaf.count()),
            extents: false,
        };
        let mut key = Vec::new();
        for row in 0..leaf.count() {
            leaf.key_into(row, &mut key);
            match leaf.stored(row)? {
                Stored::Inline(value) => self.row(&key, value, rules, at, take),
                Stored::Extent(extent) => {
                    contents.extents = true;
                    self.extent(&key, &extent, rules, at, take)?;
                }
                Stored::Tombstone => {
                    self.find(Corruption::new("tombstone in a committed tree").page(at.id.0));
                }
            }
        }
        Ok(contents)
    }

    fn leaf_order(
        &mut self,
        leaf: &Leaf<'_>,
        at: &ChildRef,
        compare: &KeyCompare,
        fences: Fences<'_>,
    ) {
        let (mut previous, mut key) = (Vec::new(), Vec::new());
        for row in 0..leaf.count() {
            leaf.key_into(row, &mut key);
            let ascends = row == 0 || compare.compare(&previous, &key).is_lt();
            let above = fences
                .0
                .is_none_or(|lower| compare.compare(lower, &key).is_le());
            let below = fences
                .1
                .is_none_or(|upper| compare.compare(&key, upper).is_lt());
            if !(ascends && above && below) {
                self.find(
                    Corruption::new("key out of order in a leaf")
                        .page(at.id.0)
                        .found(row),
                );
            }
            std::mem::swap(&mut previous, &mut key);
        }
    }

    /// Checks a row against its table's types and hands it on.
    fn row(
        &mut self,
        key: &[u8],
        value: &[u8],
        rules: &Rules<'_>,
        at: &ChildRef,
        take: &mut TakeRow<'_>,
    ) {
        if let Err(corruption) = take(key, value) {
            self.find(corruption.page(at.id.0));
        }
        let Some(schema) = rules.schema else { return };
        let encoded = schema.key().shape.from_stored(schema.order(), key);
        if !schema.key().shape.validate(&encoded) {
            self.find(Corruption::new("stored key is no encoding of its type").page(at.id.0));
        }
        if !schema.is_multimap() && !schema.value().shape.validate(value) {
            self.find(Corruption::new("stored value is no encoding of its type").page(at.id.0));
        }
    }

    fn extent(
        &mut self,
        key: &[u8],
        extent: &ExtentRef,
        rules: &Rules<'_>,
        at: &ChildRef,
        take: &mut TakeRow<'_>,
    ) -> Result {
        if extent.birth > at.birth {
            self.find(Corruption::new("extent is younger than its leaf").page(extent.id.0));
        }
        if !self.claim(extent.id, extent.units()) {
            return Ok(());
        }
        let units = int::index(extent.units()) * UNIT_BYTES;
        let read = self
            .checkpoint
            .pager()
            .read_units(extent.id.offset(), units);
        let Some(bytes) = self.absorb(read)? else {
            return Ok(());
        };
        let (value, rest) = bytes.split_at(int::saturating_index(extent.len));
        if seal::checksum(value) != extent.hash {
            self.unread = true;
            let corruption = Corruption::new("extent does not match its hash");
            self.find(corruption.page(extent.id.0).offset(extent.id.offset()));
            return Ok(());
        }
        if rest.iter().any(|&byte| byte != 0) {
            self.find(Corruption::new("bytes behind an extent are not zero").page(extent.id.0));
        }
        self.row(key, value, rules, at, take);
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
