//! Encoding of leaves: the size of a leaf while it is filled, and its bytes. [`super::leaf`] has the layout.

use super::column::{self, Column};
use super::header::{HEADER_BYTES, PageHeader, PageKind, TRAILER_BYTES};
use super::leaf::{KEYS_FIXED, KINDS, LEAF_HEADER_BYTES, VALUES_FIXED, ValueKind, WIDE};
use super::{EXTENT_BYTES, Number, PageId, UNIT_BYTES, seal};
use crate::int;

/// One row to encode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    /// Whole key.
    pub(crate) key: &'a [u8],
    /// Stored value bytes (an encoded [`ExtentRef`] for an extent).
    pub(crate) value: &'a [u8],
    /// What the value bytes are.
    pub(crate) kind: ValueKind,
}

/// Length of the longest common prefix.
pub(crate) fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(a, b)| a == b).count()
}

/// Size of a leaf under construction, kept up row by row.
///
/// Sizes only grow as rows are added: the prefix can only shrink, a column can only turn from fixed to variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafSize {
    truncate: bool,
    count: usize,
    prefix: usize,
    key_bytes: usize,
    value_bytes: usize,
    key_width: Option<usize>,
    value_width: Option<usize>,
    kinds: bool,
}

impl LeafSize {
    /// The size of an empty leaf; `truncate` says whether keys may lose their common prefix (byte order only).
    pub(crate) fn new(truncate: bool) -> LeafSize {
        LeafSize {
            truncate,
            count: 0,
            prefix: 0,
            key_bytes: 0,
            value_bytes: 0,
            key_width: None,
            value_width: None,
            kinds: false,
        }
    }

    /// Adds a row behind `first`, the leaf's first key (the row's own key if it is the first).
    pub(crate) fn add(&mut self, first: &[u8], row: &Row<'_>) {
        if self.count == 0 {
            self.prefix = if self.truncate { row.key.len() } else { 0 };
            self.key_width = Some(row.key.len());
            self.value_width = Some(row.value.len());
        } else {
            if self.prefix > 0 {
                // Keys ascend, so what first and last share is shared by all between.
                self.prefix = common_prefix(&first[..self.prefix], row.key);
            }
            self.key_width = self.key_width.filter(|&width| width == row.key.len());
            self.value_width = self.value_width.filter(|&width| width == row.value.len());
        }
        self.count += 1;
        self.key_bytes += row.key.len();
        self.value_bytes += row.value.len();
        self.kinds |= row.kind != ValueKind::Inline;
    }

    fn suffix_bytes(&self) -> usize {
        self.key_bytes - self.count * self.prefix
    }

    fn is_wide(&self) -> bool {
        self.suffix_bytes() > usize::from(u16::MAX) || self.value_bytes > usize::from(u16::MAX)
    }

    /// Bytes of the page up to the end of its content, without padding and trailer.
    pub(crate) fn body_end(&self) -> usize {
        let ends = self.count * Column::end_bytes(self.is_wide());
        LEAF_HEADER_BYTES
            + self.prefix
            + if self.kinds { self.count } else { 0 }
            + if self.key_width.is_some() { 0 } else { ends }
            + if self.value_width.is_some() { 0 } else { ends }
            + self.suffix_bytes()
            + self.value_bytes
    }

    /// Bytes that the page needs in all.
    pub(crate) fn page_bytes(&self) -> usize {
        self.body_end() + TRAILER_BYTES
    }

    /// Rows added.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// Encodes and seals a leaf of `units` units; the rows must ascend and fit, as [`LeafSize`] computed it.
pub(crate) fn encode(
    rows: &[Row<'_>],
    size: &LeafSize,
    id: PageId,
    birth: Number,
    units: u32,
) -> Box<[u8]> {
    let page_bytes = int::index(units) * UNIT_BYTES;
    assert!(
        size.page_bytes() <= page_bytes,
        "leaf does not fit its page"
    );
    assert_eq!(
        size.count,
        rows.len(),
        "leaf size was computed for other rows"
    );
    let wide = size.is_wide();
    let mut out = Vec::with_capacity(page_bytes);
    out.resize(HEADER_BYTES, 0);
    let suffix_width = size.key_width.map_or(0, |width| width - size.prefix);
    out.extend_from_slice(&int::narrow(size.prefix).to_le_bytes());
    out.extend_from_slice(&int::narrow(suffix_width).to_le_bytes());
    out.extend_from_slice(&int::narrow(size.value_width.unwrap_or(0)).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    if let Some(first) = rows.first() {
        out.extend_from_slice(&first.key[..size.prefix]);
    }
    if size.kinds {
        out.extend(rows.iter().map(|row| row.kind.code()));
    }
    if size.key_width.is_none() {
        column::encode_ends(
            rows.iter().map(|row| row.key.len() - size.prefix),
            wide,
            &mut out,
        );
    }
    if size.value_width.is_none() {
        column::encode_ends(rows.iter().map(|row| row.value.len()), wide, &mut out);
    }
    for row in rows {
        debug_assert!(row.kind != ValueKind::Extent || row.value.len() == EXTENT_BYTES);
        out.extend_from_slice(&row.key[size.prefix..]);
    }
    for row in rows {
        out.extend_from_slice(row.value);
    }
    debug_assert_eq!(out.len(), size.body_end(), "leaf size mismatch");
    let header = PageHeader {
        kind: PageKind::Leaf,
        flags: if size.key_width.is_some() {
            KEYS_FIXED
        } else {
            0
        } | if size.value_width.is_some() {
            VALUES_FIXED
        } else {
            0
        } | if wide { WIDE } else { 0 }
            | if size.kinds { KINDS } else { 0 },
        level: 0,
        count: int::narrow(rows.len()),
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
