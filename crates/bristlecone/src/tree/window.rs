//! Windows: what a level of the builder has taken in and not yet cut into pages.
//!
//! A window spans the output of several neighbouring pages, so that rows can be spread evenly over as few pages as hold
//! them. Cutting a full page in two would leave both half empty; spreading `k` pages' rows over `k + 1` leaves them
//! `k / (k + 1)` full.

use std::ops::Range;

use crate::limits;
use crate::page::branch::{BranchSize, Entry};
use crate::page::leaf::ValueKind;
use crate::page::leaf_encoder::{LeafSize, Row};
use crate::page::order::KeyCompare;

/// Least fill of the pages cut from a window that overflowed, in 1/100.
const FILL_MIN: usize = 85;
/// Fill that a page can count on reaching, in 1/1000: rows are not cut in two.
const FILL_WHOLE: usize = 970;
/// Untouched neighbours that a window takes in at most: six pages' rows spread over seven fill them to 85.7 %.
pub(super) const ABSORB_MAX: usize = 6;

/// Size beyond which a branch is cut whatever it leaves behind.
const BRANCH_BYTES_MAX: usize = limits::VALUE_BYTES_MAX + (1 << 20);

/// How a window would be cut: entries per page, and the bytes of all pages together.
#[derive(Debug, Default)]
pub(crate) struct Cut {
    /// Entries of each page, in order.
    pub(crate) pages: Vec<usize>,
    bytes: usize,
    last_bytes: usize,
}

impl Cut {
    /// Whether the window should take in the untouched neighbour that follows, having taken in `absorbed` already.
    ///
    /// `fills` are the fills, in 1/1000, of that neighbour and those behind it.
    pub(crate) fn wants_more(&self, page_bytes: usize, absorbed: usize, fills: &[u16]) -> bool {
        let left = ABSORB_MAX.saturating_sub(absorbed);
        if self.pages.len() > 1 {
            let rich = self.bytes * 100 >= self.pages.len() * page_bytes * FILL_MIN;
            return !rich && left > 0;
        }
        // One page: what it lacks and what its neighbours lack must come to a page, or writing them again saves none.
        let mut lacking = FILL_WHOLE.saturating_sub(self.bytes * 1000 / page_bytes);
        fills.iter().take(left).any(|&fill| {
            lacking += FILL_WHOLE.saturating_sub(usize::from(fill));
            lacking >= FILL_WHOLE
        })
    }

    /// Bytes of the last page.
    pub(crate) fn last_bytes(&self) -> usize {
        self.last_bytes
    }

    fn push(&mut self, entries: usize, bytes: usize) {
        self.pages.push(entries);
        self.bytes += bytes;
        self.last_bytes = bytes;
    }
}

/// Where a page closes before it is full: once it reaches `bytes`, unless it is the last of `pages`.
#[derive(Clone, Copy)]
struct Target {
    bytes: usize,
    pages: usize,
}

impl Target {
    const FULL: Target = Target {
        bytes: usize::MAX,
        pages: usize::MAX,
    };

    fn is_reached(self, page_bytes: usize, cut: &Cut) -> bool {
        page_bytes >= self.bytes && cut.pages.len() + 1 < self.pages
    }
}

/// Spreads a window's entries evenly over as few pages as hold them; `cut` cuts it towards a target.
///
/// Prefixes depend on where a page begins, so the evenly cut pages may need more room than the full ones; one page more
/// is then spread over again, rather than left with what did not fit.
fn spread(cut: impl Fn(Target) -> Cut) -> Cut {
    let mut even = cut(Target::FULL);
    for _ in 0..3 {
        let pages = even.pages.len();
        if pages <= 1 {
            break;
        }
        let bytes = even.bytes / pages;
        even = cut(Target { bytes, pages });
        if even.pages.len() <= pages {
            break;
        }
    }
    even
}

#[derive(Clone, Debug)]
struct PendingRow {
    key: Range<usize>,
    value: Range<usize>,
    kind: ValueKind,
}

/// Rows on their way into leaves.
#[derive(Debug, Default)]
pub(crate) struct LeafWindow {
    arena: Vec<u8>,
    rows: Vec<PendingRow>,
    /// Lower bound of the first row's page.
    pub(crate) lower: Vec<u8>,
    /// Untouched neighbours taken in to fill the window.
    pub(crate) absorbed: usize,
    /// Old nodes whose entries were taken in since the window was last closed, to tell splits from merges.
    pub(crate) taken: usize,
    /// Pages cut since then.
    pub(crate) emitted: usize,
    /// Bytes at which the window is cut from the front next, if that is more than the least.
    pub(crate) cut_at: usize,
}

impl LeafWindow {
    /// Rows held.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.arena.len()
    }

    /// Row `idx`.
    pub(crate) fn row(&self, idx: usize) -> Row<'_> {
        let row = &self.rows[idx];
        Row {
            key: &self.arena[row.key.clone()],
            value: &self.arena[row.value.clone()],
            kind: row.kind,
        }
    }

    /// The last row's key.
    pub(crate) fn last_key(&self) -> Option<&[u8]> {
        self.rows.last().map(|row| &self.arena[row.key.clone()])
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8], kind: ValueKind) {
        self.push_with(|arena| arena.extend_from_slice(key), value, kind);
    }

    /// Appends a row whose key is written by `key`.
    pub(crate) fn push_with(
        &mut self,
        key: impl FnOnce(&mut Vec<u8>),
        value: &[u8],
        kind: ValueKind,
    ) {
        let start = self.arena.len();
        key(&mut self.arena);
        let middle = self.arena.len();
        self.arena.extend_from_slice(value);
        self.rows.push(PendingRow {
            key: start..middle,
            value: middle..self.arena.len(),
            kind,
        });
    }

    /// Puts the rows of `front` before this window's.
    pub(crate) fn prepend(&mut self, mut front: LeafWindow) {
        let shift = front.arena.len();
        front.arena.append(&mut self.arena);
        front.rows.extend(self.rows.drain(..).map(|row| PendingRow {
            key: row.key.start + shift..row.key.end + shift,
            value: row.value.start + shift..row.value.end + shift,
            kind: row.kind,
        }));
        self.arena = front.arena;
        self.rows = front.rows;
        self.lower = front.lower;
    }

    /// Drops the first `count` rows and their bytes.
    pub(crate) fn drop_front(&mut self, count: usize) {
        let Some(first) = self.rows.get(count) else {
            self.rows.clear();
            self.arena.clear();
            return;
        };
        let shift = first.key.start;
        self.arena.drain(..shift);
        self.rows.drain(..count);
        for row in &mut self.rows {
            row.key = row.key.start - shift..row.key.end - shift;
            row.value = row.value.start - shift..row.value.end - shift;
        }
    }

    /// Size of the leaf that holds exactly `rows`.
    pub(crate) fn size_of(&self, rows: Range<usize>, truncate: bool) -> LeafSize {
        let mut size = LeafSize::new(truncate);
        let first = rows.start;
        for idx in rows {
            size.add(self.row(first).key, &self.row(idx));
        }
        size
    }

    /// Cuts the window into full pages of at most `page_bytes`.
    pub(crate) fn cut(&self, page_bytes: usize, compare: &KeyCompare) -> Cut {
        self.cut_towards(page_bytes, Target::FULL, compare)
    }

    /// Cuts the window into as few pages, evenly filled.
    pub(crate) fn spread(&self, page_bytes: usize, compare: &KeyCompare) -> Cut {
        spread(|target| self.cut_towards(page_bytes, target, compare))
    }

    fn cut_towards(&self, page_bytes: usize, target: Target, compare: &KeyCompare) -> Cut {
        let truncate = compare.is_memcmp();
        let mut cut = Cut::default();
        let mut start = 0;
        let mut size = LeafSize::new(truncate);
        for idx in 0..self.rows.len() {
            let row = self.row(idx);
            let mut grown = size;
            grown.add(self.row(start).key, &row);
            let full =
                grown.page_bytes() > page_bytes || target.is_reached(size.page_bytes(), &cut);
            if size.count() > 0 && full {
                cut.push(size.count(), size.page_bytes());
                start = idx;
                grown = LeafSize::new(truncate);
                grown.add(row.key, &row);
            }
            size = grown;
        }
        if size.count() > 0 {
            cut.push(size.count(), size.page_bytes());
        }
        cut
    }
}

/// Children on their way into branches of one level.
#[derive(Debug, Default)]
pub(crate) struct BranchWindow {
    /// The children and their separators, in order.
    pub(crate) entries: Vec<Entry>,
    /// As in [`LeafWindow::absorbed`].
    pub(crate) absorbed: usize,
    /// As in [`LeafWindow::taken`].
    pub(crate) taken: usize,
    /// As in [`LeafWindow::emitted`].
    pub(crate) emitted: usize,
    /// Bytes of the entries, as far as they came one by one.
    pub(crate) bytes: usize,
    /// As in [`LeafWindow::cut_at`].
    pub(crate) cut_at: usize,
}

impl BranchWindow {
    /// Size of the branch that holds exactly `entries`.
    pub(crate) fn size_of(entries: &[Entry], truncate: bool) -> BranchSize {
        let mut size = BranchSize::new(truncate);
        let second = entries.get(1).map_or(&[][..], |entry| &entry.separator);
        for entry in entries {
            size.add(second, &entry.separator);
        }
        size
    }

    /// Cuts the window into full pages, each of at least two children where there are two.
    pub(crate) fn cut(&self, page_bytes: usize, compare: &KeyCompare) -> Cut {
        self.cut_towards(page_bytes, Target::FULL, compare)
    }

    /// Cuts the window into as few pages, evenly filled.
    pub(crate) fn spread(&self, page_bytes: usize, compare: &KeyCompare) -> Cut {
        spread(|target| self.cut_towards(page_bytes, target, compare))
    }

    fn cut_towards(&self, page_bytes: usize, target: Target, compare: &KeyCompare) -> Cut {
        let truncate = compare.is_memcmp();
        let mut cut = Cut::default();
        let mut start = 0;
        let mut size = BranchSize::new(truncate);
        for (idx, entry) in self.entries.iter().enumerate() {
            let second = self
                .entries
                .get(start + 1)
                .map_or(&[][..], |second| &second.separator);
            let mut grown = size;
            grown.add(second, &entry.separator);
            let full =
                grown.page_bytes() > page_bytes || target.is_reached(size.page_bytes(), &cut);
            // A branch of one child adds a level and divides nothing, so long separators make the page longer instead.
            // But for separators of gigabytes: a page's bytes are counted in 32 bits.
            let overflows = grown.page_bytes() > BRANCH_BYTES_MAX;
            if size.count() >= 2 && full && (self.entries.len() - idx >= 2 || overflows) {
                cut.push(size.count(), size.page_bytes());
                start = idx;
                grown = BranchSize::new(truncate);
                grown.add(&[], &entry.separator);
            }
            size = grown;
        }
        if size.count() > 0 {
            cut.push(size.count(), size.page_bytes());
        }
        cut
    }
}
