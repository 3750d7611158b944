//! The 32 bytes that open every page.
//!
//! ```text
//! offset  size  field
//!      0     1  kind        1 leaf, 2 branch, 3 map leaf, 4 map index
//!      1     1  flags       by kind
//!      2     1  level       0 for a leaf, its distance from the leaves for a branch or map index
//!      3     1  search mode 0 (reserved: how the page's keys are searched)
//!      4     4  count       entries
//!      8     8  page id     first unit
//!     16     8  birth       session that wrote the page
//!     24     4  units       4 KiB units of the page
//!     28     4  body end    bytes used from the page's start; zeros up to the trailer
//! ```

use super::{Number, PageId, UNIT_BYTES};
use crate::error::Corruption;
use crate::int;

/// Size of the header.
pub(crate) const HEADER_BYTES: usize = 32;
/// Bytes of the trailer that closes an unencrypted page.
pub(crate) const TRAILER_BYTES: usize = 8;
/// Offset of the page id, for messages about pages that could not be opened.
pub(crate) const ID_AT: usize = 8;

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// Rows.
    Leaf,
    /// Separators and children.
    Branch,
    /// A piece of the space map's bitmap.
    MapLeaf,
    /// References to map pages.
    MapIndex,
}

impl PageKind {
    fn code(self) -> u8 {
        match self {
            PageKind::Leaf => 1,
            PageKind::Branch => 2,
            PageKind::MapLeaf => 3,
            PageKind::MapIndex => 4,
        }
    }

    fn from_code(code: u8) -> Option<PageKind> {
        match code {
            1 => Some(PageKind::Leaf),
            2 => Some(PageKind::Branch),
            3 => Some(PageKind::MapLeaf),
            4 => Some(PageKind::MapIndex),
            _ => None,
        }
    }

    /// Name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            PageKind::Leaf => "leaf",
            PageKind::Branch => "branch",
            PageKind::MapLeaf => "map leaf",
            PageKind::MapIndex => "map index",
        }
    }
}

/// Decoded page header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageHeader {
    /// What the page holds.
    pub(crate) kind: PageKind,
    /// Meaning by kind.
    pub(crate) flags: u8,
    /// Distance from the leaves.
    pub(crate) level: u8,
    /// Entries.
    pub(crate) count: u32,
    /// First unit.
    pub(crate) id: PageId,
    /// Session that wrote the page.
    pub(crate) birth: Number,
    /// Units.
    pub(crate) units: u32,
    /// End of the used bytes.
    pub(crate) body_end: u32,
}

impl PageHeader {
    /// Writes the header over the first bytes of `page`.
    pub(crate) fn encode(&self, page: &mut [u8]) {
        page[0] = self.kind.code();
        page[1] = self.flags;
        page[2] = self.level;
        page[3] = 0;
        page[4..8].copy_from_slice(&self.count.to_le_bytes());
        page[8..16].copy_from_slice(&self.id.0.to_le_bytes());
        page[16..24].copy_from_slice(&self.birth.0.to_le_bytes());
        page[24..28].copy_from_slice(&self.units.to_le_bytes());
        page[28..32].copy_from_slice(&self.body_end.to_le_bytes());
    }

    /// Decodes the header of a page of `page.len()` bytes and checks what needs no knowledge of the kind.
    pub(crate) fn decode(page: &[u8]) -> Result<PageHeader, Corruption> {
        let short = || Corruption::new("page is shorter than its header").found(page.len());
        let code = *page.first().ok_or_else(short)?;
        let kind = PageKind::from_code(code)
            .ok_or_else(|| Corruption::new("unknown page kind").found(code))?;
        let header = PageHeader {
            kind,
            flags: *page.get(1).ok_or_else(short)?,
            level: *page.get(2).ok_or_else(short)?,
            count: int::read_u32(page, 4).ok_or_else(short)?,
            id: PageId(int::read_u64(page, ID_AT).ok_or_else(short)?),
            birth: Number(int::read_u64(page, 16).ok_or_else(short)?),
            units: int::read_u32(page, 24).ok_or_else(short)?,
            body_end: int::read_u32(page, 28).ok_or_else(short)?,
        };
        if page.get(3) != Some(&0) {
            return Err(Corruption::new("unknown search mode in a page").page(header.id.0));
        }
        let end = int::index(header.body_end);
        if end < HEADER_BYTES || end + TRAILER_BYTES > page.len() {
            return Err(Corruption::new("page content ends outside the page")
                .page(header.id.0)
                .expected(page.len())
                .found(end));
        }
        if int::index(header.units).checked_mul(UNIT_BYTES) != Some(page.len()) {
            return Err(Corruption::new("page names another number of units")
                .page(header.id.0)
                .expected(page.len() / UNIT_BYTES)
                .found(header.units));
        }
        Ok(header)
    }
}
