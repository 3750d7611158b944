//! Page kinds and their codecs: the bytes of every page in the file, written and checked in one place.
//!
//! A page is one or more 4 KiB units. It starts with a [`header::PageHeader`] that names its own id and birth and ends
//! in a checksum that covers both (`docs/format.md`, "Page"). Bytes from disk become a [`Page`] by [`Page::open`],
//! which proves every offset once; accessors rely on that and do not check again.
//!
//! # Invariants
//! 1. `open(encode(x)) = x` for every page kind.
//! 2. A [`Page`] is safe to index: every section and every entry lies within its bytes.
//! 3. A page opened under a name (id, birth, units) carries that name inside the checksum.

pub(crate) mod branch;
pub(crate) mod column;
pub(crate) mod header;
pub(crate) mod leaf;
pub(crate) mod leaf_encoder;
pub(crate) mod map;
pub(crate) mod order;
pub(crate) mod seal;
pub(crate) mod slot;
#[cfg(test)]
mod tests;

use crate::error::Corruption;
use crate::int;

pub(crate) use crate::limits::UNIT_BYTES;

/// Number of a page's first unit in the file; its byte offset is this times [`UNIT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PageId(pub(crate) u64);

impl PageId {
    /// Byte offset of the page in the file.
    pub(crate) fn offset(self) -> u64 {
        self.0.saturating_mul(int::wide(UNIT_BYTES))
    }
}

/// A session's or version's number; pages carry the number of the session that wrote them as their birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Number(pub(crate) u64);

/// What a parent knows of a child page: where it is, which write of it is meant, and what lies below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChildRef {
    /// First unit.
    pub(crate) id: PageId,
    /// Units the page takes.
    pub(crate) units: u32,
    /// Session that wrote it.
    pub(crate) birth: Number,
    /// Rows in the subtree.
    pub(crate) rows: u64,
    /// Whether any row below keeps its value in an extent.
    pub(crate) extents: bool,
    /// Used part of the page, in 1/1000 of its bytes: repacking decides by it without reading the page.
    pub(crate) fill: u16,
}

/// Encoded size of a [`ChildRef`]: id 6, birth 6, rows 6, units and extents bit 4, fill 2.
pub(crate) const CHILD_BYTES: usize = 24;

const EXTENTS_BIT: u32 = 1 << 31;

impl ChildRef {
    /// Appends the encoded form.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        debug_assert!(self.units < EXTENTS_BIT);
        let flag = if self.extents { EXTENTS_BIT } else { 0 };
        out.extend_from_slice(&int::u48_bytes(self.id.0));
        out.extend_from_slice(&int::u48_bytes(self.birth.0));
        out.extend_from_slice(&int::u48_bytes(self.rows));
        out.extend_from_slice(&(self.units | flag).to_le_bytes());
        out.extend_from_slice(&self.fill.to_le_bytes());
    }

    /// Decodes the form written by [`ChildRef::encode`]; `None` if the slice is short or names no unit.
    pub(crate) fn decode(bytes: &[u8]) -> Option<ChildRef> {
        let packed = int::read_u32(bytes, 18)?;
        let child = ChildRef {
            id: PageId(int::read_u48(bytes, 0)?),
            birth: Number(int::read_u48(bytes, 6)?),
            rows: int::read_u48(bytes, 12)?,
            units: packed & !EXTENTS_BIT,
            extents: packed & EXTENTS_BIT != 0,
            fill: int::read_u16(bytes, 22)?,
        };
        (child.units > 0).then_some(child)
    }

    /// Bytes of the page.
    pub(crate) fn page_bytes(&self) -> usize {
        int::index(self.units) * UNIT_BYTES
    }
}

/// Root of a tree: its top page and the number of levels (1: the root is a leaf).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// The top page.
    pub(crate) child: ChildRef,
    /// Levels, leaves included.
    pub(crate) height: u8,
}

/// Encoded size of an optional [`Root`]: child, height; all zero means an empty tree.
pub(crate) const ROOT_BYTES: usize = CHILD_BYTES + 1;

/// Deepest tree that is believed: even two entries a page would fill the address space before that.
pub(crate) const HEIGHT_MAX: u8 = 48;

impl Root {
    /// Appends the encoded form of an optional root.
    pub(crate) fn encode(root: Option<&Root>, out: &mut Vec<u8>) {
        match root {
            Some(root) => {
                root.child.encode(out);
                out.push(root.height);
            }
            None => out.extend_from_slice(&[0; ROOT_BYTES]),
        }
    }

    /// Decodes an optional root from exactly [`ROOT_BYTES`].
    pub(crate) fn decode(bytes: &[u8]) -> Result<Option<Root>, Corruption> {
        if bytes.len() != ROOT_BYTES {
            return Err(Corruption::new("root record has the wrong length")
                .expected(ROOT_BYTES)
                .found(bytes.len()));
        }
        if bytes.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let height = bytes[CHILD_BYTES];
        if height == 0 || height > HEIGHT_MAX {
            return Err(Corruption::new("root record has an impossible height").found(height));
        }
        match ChildRef::decode(bytes) {
            Some(child) => Ok(Some(Root { child, height })),
            None => Err(Corruption::new("root record names a page of no units")),
        }
    }
}

/// Where a value lives that is too large for a leaf: whole units that hold its bytes and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExtentRef {
    /// First unit.
    pub(crate) id: PageId,
    /// Bytes of the value.
    pub(crate) len: u64,
    /// Session that wrote it.
    pub(crate) birth: Number,
    /// XXH3-64 of the value's bytes.
    pub(crate) hash: u64,
}

/// Encoded size of an [`ExtentRef`]: id 8, length 8, birth 8, hash 8.
pub(crate) const EXTENT_BYTES: usize = 32;

impl ExtentRef {
    /// The encoded form.
    pub(crate) fn encode(&self) -> [u8; EXTENT_BYTES] {
        let mut out = [0; EXTENT_BYTES];
        out[..8].copy_from_slice(&self.id.0.to_le_bytes());
        out[8..16].copy_from_slice(&self.len.to_le_bytes());
        out[16..24].copy_from_slice(&self.birth.0.to_le_bytes());
        out[24..].copy_from_slice(&self.hash.to_le_bytes());
        out
    }

    /// Decodes the form written by [`ExtentRef::encode`]; `None` if it names no bytes or an impossible place.
    pub(crate) fn decode(bytes: &[u8]) -> Option<ExtentRef> {
        let extent = ExtentRef {
            id: PageId(int::read_u64(bytes, 0)?),
            len: int::read_u64(bytes, 8)?,
            birth: Number(int::read_u64(bytes, 16)?),
            hash: int::read_u64(bytes, 24)?,
        };
        let possible = bytes.len() == EXTENT_BYTES
            && extent.len > 0
            && extent.len <= int::wide(crate::limits::VALUE_BYTES_MAX)
            && extent.id.0 <= int::U48_MAX;
        possible.then_some(extent)
    }

    /// Units that the value takes.
    pub(crate) fn units(&self) -> u32 {
        int::narrow(int::saturating_index(self.len).div_ceil(UNIT_BYTES))
    }
}

/// A page whose checksum, name and layout were proven.
#[derive(Debug)]
pub(crate) struct Page {
    bytes: Box<[u8]>,
    body: Body,
}

/// The layout of a tree page.
#[derive(Debug)]
enum Body {
    Leaf(leaf::LeafLayout),
    Branch(branch::BranchLayout),
}

impl Page {
    /// Proves the checksum, the name and every offset of a tree page.
    ///
    /// # Errors
    /// A [`Corruption`] that names the page and what was wrong with it.
    pub(crate) fn open(bytes: Box<[u8]>, child: &ChildRef) -> Result<Page, Corruption> {
        let header = seal::open(&bytes, child.id, child.birth, child.units)?;
        let content = &bytes[..bytes.len() - header::TRAILER_BYTES];
        let body = match header.kind {
            header::PageKind::Leaf => Body::Leaf(
                leaf::LeafLayout::open(content, &header).map_err(|found| found.page(child.id.0))?,
            ),
            header::PageKind::Branch => Body::Branch(
                branch::BranchLayout::open(content, &header)
                    .map_err(|found| found.page(child.id.0))?,
            ),
            other => {
                return Err(Corruption::new("page of the wrong kind in a tree")
                    .page(child.id.0)
                    .expected("leaf or branch")
                    .found(other.name()));
            }
        };
        Ok(Page { bytes, body })
    }

    /// The leaf view, or an error where a parent promised a leaf.
    pub(crate) fn leaf(&self) -> Result<leaf::Leaf<'_>, Corruption> {
        match &self.body {
            Body::Leaf(layout) => Ok(leaf::Leaf::new(&self.bytes, layout)),
            Body::Branch(_) => Err(self.misplaced("leaf", "branch")),
        }
    }

    /// The branch view, or an error where a parent promised a branch.
    pub(crate) fn branch(&self) -> Result<branch::Branch<'_>, Corruption> {
        match &self.body {
            Body::Branch(layout) => Ok(branch::Branch::new(&self.bytes, layout)),
            Body::Leaf(_) => Err(self.misplaced("branch", "leaf")),
        }
    }

    #[cold]
    fn misplaced(&self, expected: &'static str, found: &'static str) -> Corruption {
        let corruption = Corruption::new("page of the wrong level in a tree")
            .expected(expected)
            .found(found);
        match int::read_u64(&self.bytes, header::ID_AT) {
            Some(id) => corruption.page(id),
            None => corruption,
        }
    }

    /// All bytes of the page.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
