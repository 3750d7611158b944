//! The check of one tree: every page, the order of its keys, the counts of its parents, every extent.

use super::walk::Walk;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::leaf::{Leaf, Stored};
use crate::page::order::KeyCompare;
use crate::page::{ChildRef, ExtentRef, Page, Root, UNIT_BYTES, seal};
use crate::types::TableSchema;

/// What a tree's rows are checked against.
pub(super) struct Rules<'r> {
    pub(super) compare: Option<KeyCompare>,
    pub(super) schema: Option<&'r TableSchema>,
}

/// What a subtree turned out to hold.
#[derive(Clone, Copy, Default)]
pub(super) struct Contents {
    pub(super) rows: u64,
    pub(super) extents: bool,
}

/// Receives the rows of a catalogue tree.
pub(super) type TakeRow<'t> = dyn FnMut(&[u8], &[u8]) -> Result<(), Corruption> + 't;

/// Where a key must lie.
type Fences<'f> = (Option<&'f [u8]>, Option<&'f [u8]>);

impl Walk<'_> {
    /// Walks one tree and hands its rows to `take`.
    pub(super) fn tree(
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
}
