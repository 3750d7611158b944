//! Batch merge: applies a sorted stream of operations to a tree, one visit per touched leaf.
//!
//! The walk goes left to right. A subtree into whose range no operation falls is placed as it is, unless a poor window
//! waits before it, which then takes in the subtree's first nodes.

use std::cmp::Ordering;

use super::builder::Builder;
use super::lookup::check_level;
use super::window::ABSORB_MAX;
use super::writer::PageWriter;
use crate::error::{Corruption, Result};
use crate::page::branch::{Branch, Entry};
use crate::page::leaf::Stored;
use crate::page::order::KeyCompare;
use crate::page::{ChildRef, Root};

/// A stream of operations in strictly ascending key order: puts (inline or extent) and tombstones.
pub(crate) trait OpStream {
    /// The next operation.
    fn peek(&self) -> Option<(&[u8], Stored<'_>)>;

    /// Passes over the next operation.
    fn advance(&mut self) -> Result;
}

/// Applies `ops` to the tree at `root` and returns the new root; old pages and superseded extents are freed.
///
/// # Errors
/// Any read or write error, or `Corrupted`; the session must then be dropped.
pub(crate) fn apply(
    writer: &mut PageWriter<'_>,
    root: Option<Root>,
    ops: &mut dyn OpStream,
    compare: &KeyCompare,
) -> Result<Option<Root>> {
    if ops.peek().is_none() {
        return Ok(root);
    }
    let mut merge = Merge {
        builder: Builder::new(writer, compare),
        ops,
        compare,
    };
    match root {
        Some(root) => merge.visit(root.child, root.height - 1, Vec::new(), None, &[])?,
        None => {
            merge.builder.begin_leaf(&[], true);
            while merge.put_next(None)? {}
        }
    }
    merge.builder.finish()
}

/// Writes `ops`, tombstones included, as a tree of its own: a sorted run.
pub(crate) fn build_run(
    writer: &mut PageWriter<'_>,
    ops: &mut dyn OpStream,
    compare: &KeyCompare,
) -> Result<Option<Root>> {
    let mut builder = Builder::new(writer, compare);
    builder.begin_leaf(&[], true);
    while let Some((key, value)) = ops.peek() {
        builder.push(key, value)?;
        ops.advance()?;
    }
    builder.finish()
}

struct Merge<'m, 'w, 's> {
    builder: Builder<'w, 's>,
    ops: &'m mut dyn OpStream,
    compare: &'m KeyCompare,
}

impl Merge<'_, '_, '_> {
    /// Whether the next operation falls below `upper`.
    fn has_op_below(&self, upper: Option<&[u8]>) -> bool {
        match (self.ops.peek(), upper) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some((key, _)), Some(upper)) => self.compare.compare(key, upper) == Ordering::Less,
        }
    }

    /// Takes a subtree over, changed or as it is. `fills` as in [`Builder::is_ready_for`].
    fn visit(
        &mut self,
        child: ChildRef,
        level: u8,
        lower: Vec<u8>,
        upper: Option<&[u8]>,
        fills: &[u16],
    ) -> Result {
        let touched = self.has_op_below(upper);
        if !touched && self.builder.is_ready_for(level, fills)? {
            let separator = lower;
            return self.builder.place(level, Entry { separator, child });
        }
        if level == 0 {
            return self.visit_leaf(child, &lower, upper, touched);
        }
        let page = self.builder.writer().pager().page(&child)?;
        let branch = page.branch()?;
        check_level(branch.level(), level, &child)?;
        self.builder.begin_branch(level, touched);
        let mut next_lower = lower;
        for idx in 0..branch.count() {
            let lower = std::mem::take(&mut next_lower);
            let below = branch.child(idx)?;
            let fills = self.fills_from(&branch, idx, level - 1)?;
            if idx + 1 < branch.count() {
                next_lower = branch.separator(idx);
                self.visit(below, level - 1, lower, Some(&next_lower), &fills)?;
            } else {
                self.visit(below, level - 1, lower, upper, &fills)?;
            }
        }
        self.builder.writer().free(&child);
        Ok(())
    }

    /// Fills of child `first` and of the untouched ones behind it, as far as the builder may ask for them.
    fn fills_from(&self, branch: &Branch<'_>, first: usize, level: u8) -> Result<Vec<u16>> {
        let mut fills = Vec::new();
        if !self.builder.has_pending_beside(level) {
            return Ok(fills);
        }
        let end = branch.count().min(first + ABSORB_MAX);
        for idx in first..end {
            let untouched = match branch.count() - idx {
                1 => true,
                _ => !self.has_op_below(Some(&branch.separator(idx))),
            };
            if !untouched {
                break;
            }
            fills.push(branch.child(idx)?.fill);
        }
        Ok(fills)
    }

    fn visit_leaf(
        &mut self,
        child: ChildRef,
        lower: &[u8],
        upper: Option<&[u8]>,
        touched: bool,
    ) -> Result {
        let page = self.builder.writer().pager().page(&child)?;
        let leaf = page.leaf()?;
        self.builder.begin_leaf(lower, touched);
        let mut key = Vec::new();
        for idx in 0..leaf.count() {
            leaf.key_into(idx, &mut key);
            let stored = leaf.stored(idx)?;
            while self.next_is_before(&key) {
                self.put_before(upper)?;
            }
            if self.next_is_at(&key) {
                self.put_before(upper)?;
                if let Stored::Extent(extent) = stored {
                    self.builder.writer().free_extent(&extent);
                }
            } else {
                self.builder.push(&key, stored)?;
            }
        }
        while self.put_next(upper)? {}
        self.builder.writer().free(&child);
        Ok(())
    }

    fn next_is_before(&self, key: &[u8]) -> bool {
        matches!(self.ops.peek(), Some((next, _)) if self.compare.compare(next, key).is_lt())
    }

    fn next_is_at(&self, key: &[u8]) -> bool {
        matches!(self.ops.peek(), Some((next, _)) if self.compare.compare(next, key).is_eq())
    }

    /// Applies the next operation, which stands at or before a row of a leaf that ends at `upper`.
    fn put_before(&mut self, upper: Option<&[u8]>) -> Result {
        if self.put_next(upper)? {
            return Ok(());
        }
        // A damaged page, or a comparator that orders otherwise than when the row was written.
        Err(Corruption::new("row of a leaf is not below the leaf's upper bound").into())
    }

    /// Applies the next operation if it falls below `upper`.
    fn put_next(&mut self, upper: Option<&[u8]>) -> Result<bool> {
        if !self.has_op_below(upper) {
            return Ok(false);
        }
        if let Some((key, value)) = self.ops.peek()
            && value != Stored::Tombstone
        {
            self.builder.push(key, value)?;
        }
        self.ops.advance()?;
        Ok(true)
    }
}
