//! A column of byte strings in a page: fixed-width without offsets, or variable with an array of end offsets.
//!
//! ```text
//! fixed:     data[width * count]
//! variable:  ends[count] (u16, or u32 in pages with more than 64 KiB of data)  ...  data
//! ```
//! Ends count from the start of the column's data; entry `i` is `ends[i-1]..ends[i]`.

use std::ops::Range;

use crate::error::Corruption;
use crate::int;
use crate::probe;

/// Where a column lies within its page.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    count: usize,
    data: usize,
    width: Width,
}

#[derive(Debug, Clone, Copy)]
enum Width {
    Fixed(usize),
    Narrow { ends: usize },
    Wide { ends: usize },
}

impl Column {
    /// A column of `count` entries of `width` bytes at `data`; fails unless it ends by `limit`.
    pub(crate) fn fixed(
        count: usize,
        width: usize,
        data: usize,
        limit: usize,
    ) -> Result<(Column, usize), Corruption> {
        let end = count
            .checked_mul(width)
            .and_then(|len| len.checked_add(data));
        match end {
            Some(end) if end <= limit => Ok((
                Column {
                    count,
                    data,
                    width: Width::Fixed(width),
                },
                end,
            )),
            _ => Err(Corruption::new("fixed-width column runs past the page")),
        }
    }

    /// A column whose `count` ends lie at `ends` (proven to lie within `page`) and whose bytes start at `data`.
    pub(crate) fn variable(
        page: &[u8],
        count: usize,
        wide: bool,
        ends: usize,
        data: usize,
        limit: usize,
    ) -> Result<(Column, usize), Corruption> {
        let width = if wide {
            Width::Wide { ends }
        } else {
            Width::Narrow { ends }
        };
        let column = Column { count, data, width };
        let mut previous = 0;
        for idx in 0..count {
            let end = column
                .end(page, idx)
                .ok_or_else(|| Corruption::new("column offsets run past the page"))?;
            if end < previous {
                return Err(Corruption::new("column offsets do not ascend")
                    .expected(previous)
                    .found(end));
            }
            previous = end;
        }
        match data.checked_add(previous) {
            Some(end) if end <= limit => Ok((column, end)),
            _ => Err(Corruption::new("column data runs past the page")),
        }
    }

    /// Bytes of one end offset.
    pub(crate) fn end_bytes(wide: bool) -> usize {
        if wide { 4 } else { 2 }
    }

    fn end(&self, page: &[u8], idx: usize) -> Option<usize> {
        match self.width {
            Width::Fixed(width) => Some((idx + 1) * width),
            Width::Narrow { ends } => int::read_u16(page, ends + 2 * idx).map(usize::from),
            Width::Wide { ends } => int::read_u32(page, ends + 4 * idx).map(int::index),
        }
    }

    /// Byte range of entry `idx` in the page; empty at the data's start if `idx` is out of range.
    pub(crate) fn range(&self, page: &[u8], idx: usize) -> Range<usize> {
        debug_assert!(idx < self.count, "page invariant (2)");
        match self.width {
            Width::Fixed(width) => {
                let start = self.data + idx * width;
                start..start + width
            }
            _ => {
                let start = if idx == 0 {
                    0
                } else {
                    self.end(page, idx - 1).unwrap_or(0)
                };
                let end = self.end(page, idx).unwrap_or(start);
                self.data + start..self.data + end
            }
        }
    }

    /// As [`Column::range`], for a search: what it reads to find and to compare the entry counts as touched.
    pub(crate) fn range_to_compare(&self, page: &[u8], idx: usize) -> Range<usize> {
        let (ends, bytes) = match self.width {
            Width::Fixed(_) => (0, 0),
            Width::Narrow { ends } => (ends, 2),
            Width::Wide { ends } => (ends, 4),
        };
        probe::touched(ends + idx.saturating_sub(1) * bytes..ends + (idx + 1) * bytes);
        let range = self.range(page, idx);
        probe::touched(range.clone());
        range
    }
}

/// Appends the end offsets of entries with the given lengths.
pub(crate) fn encode_ends(lengths: impl Iterator<Item = usize>, wide: bool, out: &mut Vec<u8>) {
    let mut end = 0;
    for len in lengths {
        end += len;
        if wide {
            out.extend_from_slice(&int::narrow(end).to_le_bytes());
        } else {
            let end = u16::try_from(end).expect("narrow columns hold less than 64 KiB");
            out.extend_from_slice(&end.to_le_bytes());
        }
    }
}
