//! Bottom-up builder: takes rows and whole untouched subtrees in key order and yields the root of a new tree.
//!
//! Each level keeps a [window](super::window) of what it took in. When an untouched subtree follows, the window is cut
//! into pages, unless it does better with the subtree's first node taken in as well: a window that overflowed takes in
//! neighbours until its pages are 85 % full, one that shrank only if that saves a page. At the right edge of the tree one
//! page of each level may stay poor, and takes in its left neighbour only if the two fit one page. A long stream of rows
//! is cut into full pages as it goes.
//!
//! # Invariants
//! 1. Rows are pushed in strictly ascending order; anything else is an error, never a wrong tree.
//! 2. Every page is written once, after all pages below it.

use super::window::{BranchWindow, LeafWindow};
use super::writer::PageWriter;
use crate::error::{Corruption, Result};
use crate::page::branch::Entry;
use crate::page::header::TRAILER_BYTES;
use crate::page::leaf::{LEAF_HEADER_BYTES, Stored, ValueKind};
use crate::page::order::KeyCompare;
use crate::page::{CHILD_BYTES, ChildRef, Root};

/// A window that outgrows this many pages is cut from the front.
const WINDOW_PAGES_MAX: usize = 16;
/// Pages' worth of entries that a cut from the front leaves in the window.
const WINDOW_PAGES_KEPT: usize = 8;

/// How the pages cut from a window share its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    /// Each takes as much as fits; the last keeps the rest.
    Full,
    /// All take about the same.
    Even,
}

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
        if self.leaves.bytes() > self.leaves.cut_at.max(WINDOW_PAGES_MAX * self.page_bytes) {
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
        let two_rows = 2 * (key.len() + value.len() + 8) + LEAF_HEADER_BYTES + TRAILER_BYTES;
        value.len() > self.page_bytes / 4 && two_rows > self.page_bytes
    }

    /// Whether an untouched child at distance `level` may follow as it is; closes the windows below it if so.
    ///
    /// `fills` are those of the child and of the untouched siblings behind it, as their parent knows them.
    pub(crate) fn is_ready_for(&mut self, level: u8, fills: &[u16]) -> Result<bool> {
        let page_bytes = self.page_bytes;
        if self.leaves.len() > 0 {
            let cut = self.leaves.cut(page_bytes, &self.compare);
            let fills = if level == 0 { fills } else { &[] };
            if cut.wants_more(page_bytes, self.leaves.absorbed, fills) {
                return Ok(false);
            }
        }
        self.close_leaves(Spread::Even)?;
        for idx in 0..usize::from(level).min(self.branches.len()) {
            let window = &self.branches[idx];
            if !window.entries.is_empty() {
                let cut = window.cut(page_bytes, &self.compare);
                let fills = if idx + 1 == usize::from(level) {
                    fills
                } else {
                    &[]
                };
                if cut.wants_more(page_bytes, window.absorbed, fills) {
                    return Ok(false);
                }
            }
            self.close_branch(idx, Spread::Even)?;
        }
        Ok(true)
    }

    /// Whether the fills of siblings would be looked at for a child at distance `level`.
    pub(crate) fn has_pending_beside(&self, level: u8) -> bool {
        match usize::from(level).checked_sub(1) {
            None => self.leaves.len() > 0,
            Some(idx) => self
                .branches
                .get(idx)
                .is_some_and(|window| !window.entries.is_empty()),
        }
    }

    /// Places a child at distance `level` from the leaves behind everything before it.
    pub(crate) fn place(&mut self, level: u8, entry: Entry) -> Result {
        let idx = usize::from(level);
        let least = WINDOW_PAGES_MAX * self.page_bytes;
        let window = self.branch_window(idx);
        window.bytes += entry.separator.len() + CHILD_BYTES;
        window.entries.push(entry);
        if window.bytes > window.cut_at.max(least) {
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

    /// Cuts full pages off the front; if the window holds too few, waits until it has doubled, so that keys which
    /// shrink much in their pages do not have it cut over and over.
    fn cut_leaves_front(&mut self) -> Result {
        let mut pages = self.leaves.cut(self.page_bytes, &self.compare).pages;
        let emit = pages.len().saturating_sub(WINDOW_PAGES_KEPT);
        pages.truncate(emit);
        self.emit_leaves(&pages)?;
        self.leaves.cut_at = self.leaves.bytes() * 2;
        Ok(())
    }

    fn close_leaves(&mut self, spread: Spread) -> Result {
        if self.leaves.len() > 0 {
            let cut = match spread {
                Spread::Full => self.leaves.cut(self.page_bytes, &self.compare),
                Spread::Even => self.leaves.spread(self.page_bytes, &self.compare),
            };
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

    /// As [`Builder::cut_leaves_front`].
    fn cut_branch_front(&mut self, idx: usize) -> Result {
        let window = &self.branches[idx];
        let mut pages = window.cut(self.page_bytes, &self.compare).pages;
        let emit = pages.len().saturating_sub(WINDOW_PAGES_KEPT);
        pages.truncate(emit);
        self.emit_branches(idx, &pages)?;
        let window = &mut self.branches[idx];
        window.bytes = bytes_of(&window.entries);
        window.cut_at = window.bytes * 2;
        Ok(())
    }

    fn close_branch(&mut self, idx: usize, spread: Spread) -> Result {
        if !self.branches[idx].entries.is_empty() {
            let window = &self.branches[idx];
            let cut = match spread {
                Spread::Full => window.cut(self.page_bytes, &self.compare),
                Spread::Even => window.spread(self.page_bytes, &self.compare),
            };
            self.emit_branches(idx, &cut.pages)?;
        }
        let window = &mut self.branches[idx];
        let (taken, emitted) = (window.taken, window.emitted);
        (window.taken, window.emitted, window.absorbed) = (0, 0, 0);
        window.bytes = bytes_of(&window.entries);
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
        self.close_leaves(Spread::Full)?;
        let mut idx = 0;
        loop {
            let above = self.branches.iter().skip(idx + 1);
            let is_top = above.into_iter().all(|window| window.entries.is_empty());
            let Some(window) = self.branches.get(idx) else {
                return Ok(None);
            };
            if is_top && window.entries.len() <= 1 {
                let height =
                    u8::try_from(idx + 1).map_err(|_| Corruption::new("tree is too high"))?;
                let top = window.entries.first();
                return Ok(top.map(|entry| Root {
                    child: entry.child,
                    height,
                }));
            }
            self.fill_branch_from_left(idx)?;
            self.close_branch(idx, Spread::Full)?;
            idx += 1;
        }
    }

    /// Takes back the leaf to the left while its rows and the last page's fit one page.
    ///
    /// At the right edge one leaf may stay poor: rows that arrive in order fill it, and spreading it over its
    /// neighbours would write those again with every commit that appends.
    fn fill_leaves_from_left(&mut self) -> Result {
        while self.leaves.len() > 0 {
            let cut = self.leaves.cut(self.page_bytes, &self.compare);
            let rest = cut.last_bytes();
            let Some(entry) = self.take_last(0)? else {
                break;
            };
            if cut.pages.len() > 1 || !self.fits_beside(&entry.child, rest) {
                self.branches[0].entries.push(entry);
                break;
            }
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
            self.leaves.taken += 1;
        }
        Ok(())
    }

    /// As [`Builder::fill_leaves_from_left`]; but a single child always takes in its left neighbours, since a branch of
    /// one child divides nothing.
    fn fill_branch_from_left(&mut self, idx: usize) -> Result {
        while !self.branches[idx].entries.is_empty() {
            let window = &self.branches[idx];
            let single = window.entries.len() == 1;
            let cut = window.cut(self.page_bytes, &self.compare);
            let Some(entry) = self.take_last(idx + 1)? else {
                break;
            };
            let fits = cut.pages.len() == 1 && self.fits_beside(&entry.child, cut.last_bytes());
            if !fits && !single {
                self.branches[idx + 1].entries.push(entry);
                break;
            }
            let mut entries = self.open_branch(&entry)?;
            let window = &mut self.branches[idx];
            entries.append(&mut window.entries);
            window.entries = entries;
            window.taken += 1;
        }
        Ok(())
    }

    /// Whether a page's content, as full as its parent says, and `bytes` more fit one page.
    fn fits_beside(&self, child: &ChildRef, bytes: usize) -> bool {
        child.page_bytes() == self.page_bytes
            && usize::from(child.fill) * self.page_bytes / 1000 + bytes <= self.page_bytes
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

/// Bytes that entries take in a window.
fn bytes_of(entries: &[Entry]) -> usize {
    let separators = entries
        .iter()
        .map(|entry| entry.separator.len() + CHILD_BYTES);
    separators.sum()
}
