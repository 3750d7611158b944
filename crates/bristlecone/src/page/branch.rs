//! Branch pages: children and the separators between them.
//!
//! ```text
//! header (32) | prefix len u32 | 0 u32 x 3 |
//! prefix | children ChildRef[count] | separator ends[count - 1] | separator suffixes | zeros | trailer
//! ```
//! Child `i` holds the keys from separator `i - 1` (inclusive) up to separator `i` (exclusive); the first child has no
//! lower bound here. In byte order a separator is the shortest string that divides its neighbours; under another
//! comparator it is a whole key. Flags: 4 wide end offsets.

use std::cmp::Ordering;

use super::column::{self, Column};
use super::header::{HEADER_BYTES, PageHeader, PageKind, TRAILER_BYTES};
use super::leaf::bisect;
use super::leaf_encoder::common_prefix;
use super::{CHILD_BYTES, ChildRef, HEIGHT_MAX, Number, PageId, UNIT_BYTES, seal};
use crate::error::Corruption;
use crate::int;
use crate::page::order::{KeyCompare, compare_bytes};
use crate::probe;

const WIDE: u8 = 4;

/// Header and the branch's own fields.
pub(crate) const BRANCH_HEADER_BYTES: usize = HEADER_BYTES + 16;

/// Layout of a validated branch.
#[derive(Debug)]
pub(crate) struct BranchLayout {
    count: usize,
    level: u8,
    prefix: usize,
    children: usize,
    separators: Column,
}

impl BranchLayout {
    /// Proves every offset of a branch; `content` is the page without its trailer.
    pub(crate) fn open(content: &[u8], header: &PageHeader) -> Result<BranchLayout, Corruption> {
        if header.flags & !WIDE != 0 || header.level == 0 || header.level >= HEIGHT_MAX {
            return Err(Corruption::new("unknown flags or level in a branch").found(header.level));
        }
        let limit = int::index(header.body_end);
        let past = || Corruption::new("branch content runs past the page");
        let count = int::index(header.count);
        if count == 0 {
            return Err(Corruption::new("branch without children"));
        }
        let prefix = int::index(int::read_u32(content, HEADER_BYTES).ok_or_else(past)?);
        let wide = header.flags & WIDE != 0;
        let children = BRANCH_HEADER_BYTES.checked_add(prefix).ok_or_else(past)?;
        let ends = count
            .checked_mul(CHILD_BYTES)
            .and_then(|len| len.checked_add(children))
            .ok_or_else(past)?;
        let data = ends + (count - 1) * Column::end_bytes(wide);
        if data > limit {
            return Err(past());
        }
        let (separators, end) = Column::variable(content, count - 1, wide, ends, data, limit)?;
        if end != limit {
            return Err(
                Corruption::new("branch content ends elsewhere than its header says")
                    .expected(limit)
                    .found(end),
            );
        }
        for idx in 0..count {
            let at = children + idx * CHILD_BYTES;
            let child = ChildRef::decode(&content[at..at + CHILD_BYTES])
                .ok_or_else(|| Corruption::new("branch names a child of no units"))?;
            if child.birth > header.birth {
                return Err(Corruption::new("child is younger than its parent")
                    .expected(header.birth.0)
                    .found(child.birth.0));
            }
        }
        Ok(BranchLayout {
            count,
            level: header.level,
            prefix,
            children,
            separators,
        })
    }
}

/// A validated branch.
#[derive(Clone, Copy)]
pub(crate) struct Branch<'a> {
    bytes: &'a [u8],
    layout: &'a BranchLayout,
}

impl<'a> Branch<'a> {
    pub(super) fn new(bytes: &'a [u8], layout: &'a BranchLayout) -> Branch<'a> {
        Branch { bytes, layout }
    }

    /// Children of the branch, at least one.
    pub(crate) fn count(&self) -> usize {
        self.layout.count
    }

    /// Distance from the leaves, at least one.
    pub(crate) fn level(&self) -> u8 {
        self.layout.level
    }

    /// Child `idx`.
    pub(crate) fn child(&self, idx: usize) -> Result<ChildRef, Corruption> {
        let at = self.layout.children + idx * CHILD_BYTES;
        probe::touched(at..at + CHILD_BYTES);
        self.bytes
            .get(at..at + CHILD_BYTES)
            .and_then(ChildRef::decode)
            .ok_or_else(|| Corruption::new("branch names a child of no units"))
    }

    fn prefix(&self) -> &'a [u8] {
        &self.bytes[BRANCH_HEADER_BYTES..BRANCH_HEADER_BYTES + self.layout.prefix]
    }

    fn suffix(&self, idx: usize) -> &'a [u8] {
        &self.bytes[self.layout.separators.range_to_compare(self.bytes, idx)]
    }

    /// The separator before child `idx + 1`.
    pub(crate) fn separator(&self, idx: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.layout.prefix + self.suffix(idx).len());
        out.extend_from_slice(self.prefix());
        out.extend_from_slice(self.suffix(idx));
        out
    }

    /// Index of the child whose range holds `key`.
    pub(crate) fn find(&self, key: &[u8], compare: &KeyCompare) -> usize {
        probe::visited_page(BRANCH_HEADER_BYTES + self.layout.prefix);
        let separators = self.layout.count - 1;
        if !compare.is_memcmp() {
            return after(bisect(separators, |idx| {
                if self.layout.prefix == 0 {
                    return compare.compare(self.suffix(idx), key);
                }
                compare.compare(&self.separator(idx), key)
            }));
        }
        let prefix = self.prefix();
        match prefix.cmp(&key[..key.len().min(prefix.len())]) {
            Ordering::Equal => {
                let rest = &key[prefix.len()..];
                after(bisect(separators, |idx| {
                    compare_bytes(self.suffix(idx), rest)
                }))
            }
            Ordering::Less => separators,
            Ordering::Greater => 0,
        }
    }
}

/// Turns a search among separators into the child to descend to: an equal separator belongs to the child behind it.
fn after(found: Result<usize, usize>) -> usize {
    match found {
        Ok(idx) => idx + 1,
        Err(idx) => idx,
    }
}

/// A child with the separator before it (ignored for a page's first child).
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Lower bound of the child's keys; empty at the tree's left edge.
    pub(crate) separator: Vec<u8>,
    /// The child.
    pub(crate) child: ChildRef,
}

/// Size of a branch under construction, kept up child by child; it only grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BranchSize {
    truncate: bool,
    count: usize,
    prefix: usize,
    separator_bytes: usize,
}

impl BranchSize {
    /// The size of an empty branch; `truncate` as in [`super::leaf::LeafSize::new`].
    pub(crate) fn new(truncate: bool) -> BranchSize {
        BranchSize {
            truncate,
            count: 0,
            prefix: 0,
            separator_bytes: 0,
        }
    }

    /// Adds a child; `second` is the separator of the page's second child (its own if it is the second).
    pub(crate) fn add(&mut self, second: &[u8], separator: &[u8]) {
        if self.count == 1 {
            self.prefix = if self.truncate { separator.len() } else { 0 };
        } else if self.count > 1 && self.prefix > 0 {
            self.prefix = common_prefix(&second[..self.prefix], separator);
        }
        if self.count > 0 {
            self.separator_bytes += separator.len();
        }
        self.count += 1;
    }

    fn suffix_bytes(&self) -> usize {
        self.separator_bytes - self.count.saturating_sub(1) * self.prefix
    }

    fn is_wide(&self) -> bool {
        self.suffix_bytes() > usize::from(u16::MAX)
    }

    /// Bytes of the page up to the end of its content.
    pub(crate) fn body_end(&self) -> usize {
        BRANCH_HEADER_BYTES
            + self.prefix
            + self.count * CHILD_BYTES
            + self.count.saturating_sub(1) * Column::end_bytes(self.is_wide())
            + self.suffix_bytes()
    }

    /// Bytes that the page needs in all.
    pub(crate) fn page_bytes(&self) -> usize {
        self.body_end() + TRAILER_BYTES
    }

    /// Children added.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// Encodes and seals a branch of `units` units at distance `level` from the leaves.
pub(crate) fn encode(
    entries: &[Entry],
    size: &BranchSize,
    level: u8,
    name: (PageId, Number, u32),
) -> Box<[u8]> {
    let (id, birth, units) = name;
    let page_bytes = int::index(units) * UNIT_BYTES;
    assert!(
        size.page_bytes() <= page_bytes,
        "branch does not fit its page"
    );
    assert_eq!(
        size.count,
        entries.len(),
        "branch size was computed for other entries"
    );
    let wide = size.is_wide();
    let mut out = Vec::with_capacity(page_bytes);
    out.resize(HEADER_BYTES, 0);
    out.extend_from_slice(&int::narrow(size.prefix).to_le_bytes());
    out.extend_from_slice(&[0; 12]);
    if let Some(second) = entries.get(1) {
        out.extend_from_slice(&second.separator[..size.prefix]);
    }
    for entry in entries {
        assert!(
            entry.child.birth <= birth,
            "a child is not younger than its parent"
        );
        entry.child.encode(&mut out);
    }
    let separators = || entries.iter().skip(1).map(|entry| &entry.separator);
    column::encode_ends(
        separators().map(|sep| sep.len() - size.prefix),
        wide,
        &mut out,
    );
    for separator in separators() {
        out.extend_from_slice(&separator[size.prefix..]);
    }
    debug_assert_eq!(out.len(), size.body_end(), "branch size mismatch");
    let header = PageHeader {
        kind: PageKind::Branch,
        flags: if wide { WIDE } else { 0 },
        level,
        count: int::narrow(entries.len()),
        id,
        birth,
        units,
        body_end: int::narrow(out.len()),
    };
    out.resize(page_bytes, 0);
    header.encode(&mut out);
    seal::seal(&mut out);
    out.into_boxed_slice()
}
