//! Leaf pages: rows in key order, keys without their common prefix, widths detected per page.
//!
//! ```text
//! header (32)  | prefix len u32 | key width u32 | value width u32 | 0 u32 |
//! prefix       | kinds u8[count]  (only if some row is not inline)
//! key ends     | value ends       (each only if its column is variable)
//! key suffixes | values in key order | zeros | trailer
//! ```
//! Flags: 1 keys fixed, 2 values fixed, 4 wide end offsets, 8 kinds present. A fixed key width is that of the suffixes.
//! Runs of a spilled transaction use the same layout; only there does a row's kind say "tombstone".

use std::cmp::Ordering;

use super::ExtentRef;
use super::column::Column;
use super::header::{HEADER_BYTES, PageHeader};
use crate::error::Corruption;
use crate::int;
use crate::page::order::{KeyCompare, compare_bytes};
use crate::probe;

pub(super) const KEYS_FIXED: u8 = 1;
pub(super) const VALUES_FIXED: u8 = 2;
pub(super) const WIDE: u8 = 4;
pub(super) const KINDS: u8 = 8;

/// Header and the leaf's four own fields.
pub(crate) const LEAF_HEADER_BYTES: usize = HEADER_BYTES + 16;

/// What a row's value bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// The value itself.
    Inline,
    /// An encoded [`ExtentRef`].
    Extent,
    /// Nothing: the key is deleted (runs only).
    Tombstone,
}

impl ValueKind {
    /// The byte that stands for it.
    pub(super) fn code(self) -> u8 {
        match self {
            ValueKind::Inline => 0,
            ValueKind::Extent => 1,
            ValueKind::Tombstone => 2,
        }
    }
}

/// A row's value as a leaf stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored<'a> {
    /// The value itself.
    Inline(&'a [u8]),
    /// The place of a large value.
    Extent(ExtentRef),
    /// The key is deleted (runs and write buffers only).
    Tombstone,
}

/// Layout of a validated leaf.
#[derive(Debug)]
pub(crate) struct LeafLayout {
    count: usize,
    prefix: usize,
    kinds: Option<usize>,
    keys: Column,
    values: Column,
}

impl LeafLayout {
    /// Proves every offset of a leaf; `content` is the page without its trailer.
    pub(crate) fn open(content: &[u8], header: &PageHeader) -> Result<LeafLayout, Corruption> {
        if header.level != 0 || header.flags & !(KEYS_FIXED | VALUES_FIXED | WIDE | KINDS) != 0 {
            return Err(Corruption::new("unknown flags or level in a leaf").found(header.flags));
        }
        let limit = int::index(header.body_end);
        let short = || Corruption::new("leaf is shorter than its header");
        let count = int::index(header.count);
        if count == 0 {
            return Err(Corruption::new("leaf without rows"));
        }
        let prefix = int::index(int::read_u32(content, HEADER_BYTES).ok_or_else(short)?);
        let key_width = int::index(int::read_u32(content, HEADER_BYTES + 4).ok_or_else(short)?);
        let value_width = int::index(int::read_u32(content, HEADER_BYTES + 8).ok_or_else(short)?);
        let wide = header.flags & WIDE != 0;
        let keys_fixed = header.flags & KEYS_FIXED != 0;
        let values_fixed = header.flags & VALUES_FIXED != 0;

        let mut sections = Sections {
            at: LEAF_HEADER_BYTES,
            limit,
        };
        sections.take(prefix)?;
        let kinds = if header.flags & KINDS != 0 {
            Some(sections.take(count)?)
        } else {
            None
        };
        let ends = count.saturating_mul(Column::end_bytes(wide));
        let key_ends = if keys_fixed {
            None
        } else {
            Some(sections.take(ends)?)
        };
        let value_ends = if values_fixed {
            None
        } else {
            Some(sections.take(ends)?)
        };
        let (keys, keys_end) = match key_ends {
            None => Column::fixed(count, key_width, sections.at, limit)?,
            Some(ends) => Column::variable(content, count, wide, ends, sections.at, limit)?,
        };
        let (values, values_end) = match value_ends {
            None => Column::fixed(count, value_width, keys_end, limit)?,
            Some(ends) => Column::variable(content, count, wide, ends, keys_end, limit)?,
        };
        if values_end != limit {
            return Err(
                Corruption::new("leaf content ends elsewhere than its header says")
                    .expected(limit)
                    .found(values_end),
            );
        }
        if keys_fixed && key_width == 0 && count > 1 {
            // Rows without bytes of their own would not even be bounded by the page's size.
            return Err(Corruption::new("leaf with several rows of one key").found(count));
        }
        let layout = LeafLayout {
            count,
            prefix,
            kinds,
            keys,
            values,
        };
        layout.check_kinds(content, header)?;
        Ok(layout)
    }

    fn check_kinds(&self, content: &[u8], header: &PageHeader) -> Result<(), Corruption> {
        let Some(kinds) = self.kinds else {
            return Ok(());
        };
        for idx in 0..self.count {
            let value = &content[self.values.range(content, idx)];
            let sound = match content[kinds + idx] {
                0 => true,
                1 => ExtentRef::decode(value).is_some_and(|extent| extent.birth <= header.birth),
                2 => value.is_empty(),
                _ => false,
            };
            if !sound {
                return Err(
                    Corruption::new("row of an unknown or malformed kind in a leaf").found(idx),
                );
            }
        }
        Ok(())
    }
}

/// Hands out consecutive sections of a page and refuses to pass its end.
struct Sections {
    at: usize,
    limit: usize,
}

impl Sections {
    fn take(&mut self, len: usize) -> Result<usize, Corruption> {
        let start = self.at;
        match start.checked_add(len) {
            Some(end) if end <= self.limit => {
                self.at = end;
                Ok(start)
            }
            _ => Err(Corruption::new("section runs past the page").expected(self.limit)),
        }
    }
}

/// A validated leaf.
#[derive(Clone, Copy)]
pub(crate) struct Leaf<'a> {
    bytes: &'a [u8],
    layout: &'a LeafLayout,
}

impl<'a> Leaf<'a> {
    pub(super) fn new(bytes: &'a [u8], layout: &'a LeafLayout) -> Leaf<'a> {
        Leaf { bytes, layout }
    }

    /// Rows in the leaf.
    pub(crate) fn count(&self) -> usize {
        self.layout.count
    }

    fn prefix(&self) -> &'a [u8] {
        &self.bytes[LEAF_HEADER_BYTES..LEAF_HEADER_BYTES + self.layout.prefix]
    }

    fn suffix(&self, idx: usize) -> &'a [u8] {
        &self.bytes[self.layout.keys.range_to_compare(self.bytes, idx)]
    }

    /// Replaces the content of `out` by the key of row `idx`.
    pub(crate) fn key_into(&self, idx: usize, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(self.prefix());
        out.extend_from_slice(self.suffix(idx));
    }

    /// Appends the key of row `idx` to `out`.
    pub(crate) fn append_key(&self, idx: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.prefix());
        out.extend_from_slice(self.suffix(idx));
    }

    /// Bytes of row `idx`'s stored value within the page, and what they are.
    pub(crate) fn value_range(&self, idx: usize) -> (std::ops::Range<usize>, ValueKind) {
        let kind = match self.layout.kinds.map(|kinds| self.bytes[kinds + idx]) {
            None | Some(0) => ValueKind::Inline,
            Some(1) => ValueKind::Extent,
            Some(_) => ValueKind::Tombstone,
        };
        (self.layout.values.range(self.bytes, idx), kind)
    }

    /// The value of row `idx` as stored.
    pub(crate) fn stored(&self, idx: usize) -> Result<Stored<'a>, Corruption> {
        let (range, kind) = self.value_range(idx);
        let bytes = &self.bytes[range];
        match kind {
            ValueKind::Inline => Ok(Stored::Inline(bytes)),
            ValueKind::Tombstone => Ok(Stored::Tombstone),
            ValueKind::Extent => ExtentRef::decode(bytes)
                .map(Stored::Extent)
                .ok_or_else(|| Corruption::new("malformed extent reference in a leaf")),
        }
    }

    /// Finds `key`: `Ok(row)` if present, else `Err(row)` where it would stand.
    pub(crate) fn search(&self, key: &[u8], compare: &KeyCompare) -> Result<usize, usize> {
        probe::visited_page(LEAF_HEADER_BYTES + self.layout.prefix);
        if !compare.is_memcmp() {
            let mut buf = Vec::new();
            return bisect(self.count(), |idx| {
                if self.layout.prefix == 0 {
                    return compare.compare(self.suffix(idx), key);
                }
                self.key_into(idx, &mut buf);
                compare.compare(&buf, key)
            });
        }
        let prefix = self.prefix();
        let head = &key[..key.len().min(prefix.len())];
        match prefix.cmp(head) {
            Ordering::Equal => {
                let rest = &key[prefix.len()..];
                bisect(self.count(), |idx| compare_bytes(self.suffix(idx), rest))
            }
            // Every key of the page starts with the prefix, so the first differing byte decides for all of them.
            Ordering::Less => Err(self.count()),
            Ordering::Greater => Err(0),
        }
    }
}

/// Binary search over `count` positions by their order relative to the target.
pub(crate) fn bisect(
    count: usize,
    mut order: impl FnMut(usize) -> Ordering,
) -> Result<usize, usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let mid = low + (high - low) / 2;
        match order(mid) {
            Ordering::Less => low = mid + 1,
            Ordering::Greater => high = mid,
            Ordering::Equal => return Ok(mid),
        }
    }
    Err(low)
}
