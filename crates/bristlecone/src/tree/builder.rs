//! Bottom-up builder: takes rows and whole untouched subtrees in key order and yields the root of a new tree.
//!
//! Each level keeps a [window](super::window) of what it took in. A window is cut into pages, spread evenly, when an
//! untouched subtree follows and the pages would be at least 85 % full; otherwise the subtree's first node is taken in
//! as well, up to [`ABSORB_MAX`] of them. At the right edge of the tree the builder looks back to its left neighbours
//! instead. A long stream of rows is cut into full pages as it goes.
//!
//! # Invariants
//! 1. Rows are pushed in strictly ascending order; anything else is an error, never a wrong tree.
//! 2. Every page is written once, after all pages below it.

use super::order::KeyCompare;
use super::window::{BranchWindow, LeafWindow};
use super::writer::PageWriter;
use crate::error::{Corruption, Result};
use crate::page::branch::Entry;
use crate::page::leaf::{LEAF_HEADER_BYTES, Stored, ValueKind};
use crate::page::{Root, seal};

/// Untouched neighbours that a window takes in at most: six pages' rows spread over seven fill them to 85.7 %.
const ABSORB_MAX: usize = 6;
/// A window that outgrows this many pages is cut from the front.
const WINDOW_PAGES_MAX: usize = 16;
/// Pages' worth of entries that a cut from the front leaves in the window.
const WINDOW_PAGES_KEPT: usize = 8;

/// Builds one tree.
#[derive(Debug)]
pub(crate) struct Builder<'w, 's> {
    writer: &'w mut PageWriter<'s>,
    compare: KeyCompare,
    page_bytes: usize,
    leaves: LeafWindow,
    /// `branches[i]` gathers children at distance `i` from the leaves.
    branches: Vec<BranchWindow>,
}

impl<'w, 's> Builder<'w, 's> {
    /// A builder of a tree in the order of `compare`.
    pub(crate) fn new(writer: &'w mut PageWriter<'s>, compare: &KeyCompare) -> Builder<'w, 's> {
        let page_bytes = writer.page_bytes();
        Builder {
            writer,
            compare: compare.clone(),
            page_bytes,
            leaves: LeafWindow::default(),
            branches: Vec::new(),
        }
    }

    /// Where pages are read and written.
    pub(crate) fn writer(&mut self) -> &mut PageWriter<'s> {
        self.writer
    }

    /// Announces that the rows pushed next come from an old leaf with lower bound `lower`.
    pub(crate) fn begin_leaf(&mut self, lower: &[u8], touched: bool) {
        if self.leaves.len() == 0 {
            self.leaves.lower = lower.to_vec();
        }
        self.leaves.taken += 1;
        if !touched {
            self.leaves.absorbed += 1;
        }
    }

    /// Announces that the children placed next come from an old branch.
    pub(crate) fn begin_branch(&mut self, level: u8, touched: bool) {
        let window = self.branch_window(usize::from(level) - 1);
        window.taken += 1;
        if !touched {
            window.absorbed += 1;
        }
    }

    /// Appends a row; a value too large for a leaf goes to an extent.
    pub(crate) fn push(&mut self, key: &[u8], value: Stored<'_>) -> Result {
        self.check_ascends(key)?;
        match value {
            Stored::Inline(value) if self.belongs_in_extent(key, value) => {
                let extent = self.writer.write_extent(value)?;
                self.leaves.push(key, &extent.encode(), ValueKind::Extent);
            }
            Stored::Inline(value) => self.leaves.push(key, value, ValueKind::Inline),
            Stored::Extent(extent) => self.leaves.push(key, &extent.encode(), ValueKind::Extent),
            Stored::Tombstone => self.leaves.push(key, &[], ValueKind::Tombstone),
        }
        if self.leaves.bytes() > WINDOW_PAGES_MAX * self.page_bytes {
            self.cut_leaves_front()?;
        }
        Ok(())
    }

    fn check_ascends(&self, key: &[u8]) -> Result {
        match self.leaves.last_key() {
            Some(last) if self.compare.compare(last, key).is_ge() => {
                Err(Corruption::new("keys do not ascend under their table's order").into())
            }
            _ => Ok(()),
        }
    }

    /// A value moves out when it takes more than a quarter page and two such rows do not fit one.
    fn belongs_in_extent(&self, key: &[u8], value: &[u8]) -> bool {
        let two_rows = 2 * (key.len() + value.len() + 8) + LEAF_HEADER_BYTES + seal::TRAILER_BYTES;
        value.len() > self.page_bytes / 4 && two_rows > self.page_bytes
    }

    /// Whether an untouched child at distance `level` may follow as it is; closes the windows below it if so.
    pub(crate) fn is_ready_for(&mut self, level: u8) -> Result<bool> {
        if self.leaves.len() > 0 {
            let cut = self.leaves.cut(self.page_bytes, &self.compare);
            if !cut.is_rich(self.page_bytes) && self.leaves.absorbed < ABSORB_MAX {
                return Ok(false);
            }
        }
        self.close_leaves()?;
        for idx in 0..usize::from(level).min(self.branches.len()) {
            let window = &self.branches[idx];
            if !window.entries.is_empty() {
                let cut = window.cut(self.page_bytes, &self.compare);
                if !cut.is_rich(self.page_bytes) && window.absorbed < ABSORB_MAX {
                    return Ok(false);
                }
            }
            self.close_branch(idx)?;
        }
        Ok(true)
    }

    /// Places a child at distance `level` from the leaves behind everything before it.
    pub(crate) fn place(&mut self, level: u8, entry: Entry) -> Result {
        let idx = usize::from(level);
        self.branch_window(idx).entries.push(entry);
        // 16 pages of the smallest entries; the cut itself goes by bytes.
        if self.branches[idx].entries.len() > WINDOW_PAGES_MAX * self.page_bytes / 32 {
            self.cut_branch_front(idx)?;
        }
        Ok(())
    }

    fn branch_window(&mut self, idx: usize) -> &mut BranchWindow {
        if self.branches.len() <= idx {
            self.branches.resize_with(idx + 1, BranchWindow::default);
        }
        &mut self.branches[idx]
    }

    fn cut_leaves_front(&mut self) -> Result {
        let mut pages = self.leaves.cut(self.page_bytes, &self.compare).pages;
        let emit = pages.len().saturating_sub(WINDOW_PAGES_KEPT);
        pages.truncate(emit);
        self.emit_leaves(&pages)
    }

    fn close_leaves(&mut self) -> Result {
        if self.leaves.len() > 0 {
            let cut = self.leaves.spread(self.page_bytes, &self.compare);
            self.emit_leaves(&cut.pages)?;
        }
        let (taken, emitted) = (self.leaves.taken, self.leaves.emitted);
        self.count_change(taken, emitted);
        self.leaves.taken = 0;
        self.leaves.emitted = 0;
        self.leaves.absorbed = 0;
        Ok(())
    }

    fn emit_leaves(&mut self, pages: &[usize]) -> Result {
        let truncate = self.compare.is_memcmp();
        let mut start = 0_usize;
        for &count in pages {
            let separator = match start.checked_sub(1) {
                None => std::mem::take(&mut self.leaves.lower),
                Some(last) => self
                    .compare
                    .separator(self.leaves.row(last).key, self.leaves.row(start).key),
            };
            let size = self.leaves.size_of(start..start + count, truncate);
            let rows: Vec<_> = (start..start + count)
                .map(|idx| self.leaves.row(idx))
                .collect();
            let child = self.writer.write_leaf(&rows, &size)?;
            start += count;
            self.place(0, Entry { separator, child })?;
        }
        if start > 0 && start < self.leaves.len() {
            self.leaves.lower = self
                .compare
                .separator(self.leaves.row(start - 1).key, self.leaves.row(start).key);
        }
        self.leaves.drop_front(start);
        self.leaves.emitted += pages.len();
        Ok(())
    }

    fn cut_branch_front(&mut self, idx: usize) -> Result {
        let mut pages = self.branches[idx].cut(self.page_bytes, &self.compare).pages;
        let emit = pages.len().saturating_sub(WINDOW_PAGES_KEPT);
        pages.truncate(emit);
        self.emit_branches(idx, &pages)
    }

    fn close_branch(&mut self, idx: usize) -> Result {
        if !self.branches[idx].entries.is_empty() {
            let cut = self.branches[idx].spread(self.page_bytes, &self.compare);
            self.emit_branches(idx, &cut.pages)?;
        }
        let window = &mut self.branches[idx];
        let (taken, emitted) = (window.taken, window.emitted);
        (window.taken, window.emitted, window.absorbed) = (0, 0, 0);
        self.count_change(taken, emitted);
        Ok(())
    }

    fn emit_branches(&mut self, idx: usize, pages: &[usize]) -> Result {
        let truncate = self.compare.is_memcmp();
        let level = u8::try_from(idx + 1).map_err(|_| Corruption::new("tree is too high"))?;
        for &count in pages {
            let entries: Vec<Entry> = self.branches[idx].entries.drain(..count).collect();
            let size = BranchWindow::size_of(&entries, truncate);
            let child = self.writer.write_branch(&entries, &size, level)?;
            let separator = entries.into_iter().next().map(|entry| entry.separator);
            self.place(
                level,
                Entry {
                    separator: separator.unwrap_or_default(),
                    child,
                },
            )?;
        }
        self.branches[idx].emitted += pages.len();
        Ok(())
    }

    fn count_change(&mut self, taken: usize, emitted: usize) {
        let counters = self.writer.session().counters();
        if taken > 0 && emitted > taken {
            counters.splits.add_one();
        } else if emitted < taken {
            counters.merges.add_one();
        }
    }

    /// Closes every level and yields the root; `None` if nothing was pushed or placed.
    pub(crate) fn finish(mut self) -> Result<Option<Root>> {
        self.fill_leaves_from_left()?;
        self.close_leaves()?;
        let mut idx = 0;
        loop {
            let above_empty = self
                .branches
                .iter()
                .skip(idx + 1)
                .all(|window| window.entries.is_empty());
            let Some(window) = self.branches.get(idx) else {
                return Ok(None);
            };
            if above_empty && window.entries.len() <= 1 {
                let height =
                    u8::try_from(idx + 1).map_err(|_| Corruption::new("tree is too high"))?;
                return Ok(window.entries.first().map(|entry| Root {
                    child: entry.child,
                    height,
                }));
            }
            self.fill_branch_from_left(idx)?;
            self.close_branch(idx)?;
            idx += 1;
        }
    }

    /// At the right edge there is no neighbour to absorb, so a poor window takes back what stands to its left.
    fn fill_leaves_from_left(&mut self) -> Result {
        while self.leaves.len() > 0 && self.leaves.absorbed < ABSORB_MAX {
            if self
                .leaves
                .cut(self.page_bytes, &self.compare)
                .is_rich(self.page_bytes)
            {
                break;
            }
            let Some(entry) = self.take_last(0)? else {
                break;
            };
            let page = self.writer.pager().page(&entry.child)?;
            let leaf = page.leaf()?;
            let mut front = LeafWindow::default();
            front.lower = entry.separator;
            for row in 0..leaf.count() {
                let (range, kind) = leaf.value_range(row);
                front.push_with(|out| leaf.append_key(row, out), &page.bytes()[range], kind);
            }
            self.writer.free(&entry.child);
            self.leaves.prepend(front);
            self.leaves.absorbed += 1;
            self.leaves.taken += 1;
        }
        Ok(())
    }

    fn fill_branch_from_left(&mut self, idx: usize) -> Result {
        loop {
            let window = &self.branches[idx];
            let rich = window.entries.is_empty()
                || window
                    .cut(self.page_bytes, &self.compare)
                    .is_rich(self.page_bytes);
            if rich || window.absorbed >= ABSORB_MAX {
                return Ok(());
            }
            let Some(entry) = self.take_last(idx + 1)? else {
                return Ok(());
            };
            let mut entries = self.open_branch(&entry)?;
            let window = &mut self.branches[idx];
            entries.append(&mut window.entries);
            window.entries = entries;
            window.absorbed += 1;
            window.taken += 1;
        }
    }

    /// Takes back the last child at distance `idx`, opening branches to its left where the window is empty.
    fn take_last(&mut self, idx: usize) -> Result<Option<Entry>> {
        if idx >= self.branches.len() {
            return Ok(None);
        }
        if let Some(entry) = self.branches[idx].entries.pop() {
            return Ok(Some(entry));
        }
        let Some(parent) = self.take_last(idx + 1)? else {
            return Ok(None);
        };
        self.branches[idx].entries = self.open_branch(&parent)?;
        self.branches[idx].taken += 1;
        Ok(self.branches[idx].entries.pop())
    }

    /// Replaces a branch by its children, freeing it.
    fn open_branch(&mut self, entry: &Entry) -> Result<Vec<Entry>> {
        let page = self.writer.pager().page(&entry.child)?;
        let branch = page.branch()?;
        let entries = (0..branch.count())
            .map(|idx| {
                let separator = match idx.checked_sub(1) {
                    None => entry.separator.clone(),
                    Some(before) => branch.separator(before),
                };
                Ok(Entry {
                    separator,
                    child: branch.child(idx)?,
                })
            })
            .collect::<Result<_>>()?;
        self.writer.free(&entry.child);
        Ok(entries)
    }

    /// Fails if a tree's rows are not the number its transaction counted.
    pub(crate) fn check_rows(root: Option<&Root>, expected: u64) -> Result {
        let found = root.map_or(0, |root| root.child.rows);
        if found == expected {
            return Ok(());
        }
        let corruption = Corruption::new("row count of a table does not match its rows");
        Err(corruption.expected(expected).found(found).into())
    }
}
