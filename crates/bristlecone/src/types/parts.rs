//! How a composite lays out its parts: tuples, arrays and the elements of lists.
//!
//! # Layout
//! First the lengths of the parts of variable width, all but the last of them; then the parts, one after the other. Parts
//! of fixed width have no length, and the last variable one takes what the others leave. A composite with at most one
//! variable part is therefore its parts concatenated.
//!
//! # Invariants
//! 1. After [`Parts::split`] succeeded, taking the parts by the widths the layout was made of yields slices that tile
//!    the body exactly. Taking more than that yields empty slices, never a panic.

use super::varint;

/// What the layout of a composite depends on: its fixed bytes, and how many of its parts vary in width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    // Saturates: a composite wider than memory matches no data at all.
    fixed_bytes: usize,
    variable_count: usize,
}

impl Layout {
    /// Layout of no parts.
    pub(super) const EMPTY: Self = Self {
        fixed_bytes: 0,
        variable_count: 0,
    };

    /// This layout and one more part.
    #[inline]
    pub(super) fn with(self, width: Option<usize>) -> Self {
        match width {
            Some(bytes) => Self {
                fixed_bytes: self.fixed_bytes.saturating_add(bytes),
                ..self
            },
            None => Self {
                variable_count: self.variable_count.saturating_add(1),
                ..self
            },
        }
    }

    /// Layout of `count` parts of the same width.
    #[inline]
    pub(super) fn repeated(width: Option<usize>, count: usize) -> Self {
        match width {
            Some(bytes) => Self {
                fixed_bytes: bytes.saturating_mul(count),
                variable_count: 0,
            },
            None => Self {
                fixed_bytes: 0,
                variable_count: count,
            },
        }
    }

    /// Width of the composite, if no part varies.
    #[inline]
    pub(super) fn width(self) -> Option<usize> {
        (self.variable_count == 0).then_some(self.fixed_bytes)
    }
}

/// The parts of one encoded composite, taken from front to back.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    lengths: &'a [u8],
    body: &'a [u8],
    variable_left: usize,
    last_len: usize,
}

impl<'a> Parts<'a> {
    /// Finds the parts in `data`; `None` if the lengths do not add up to exactly its size.
    #[inline]
    pub(super) fn split(data: &'a [u8], layout: Layout) -> Option<Self> {
        let Layout {
            fixed_bytes,
            variable_count,
        } = layout;
        let mut body = data;
        let mut known_len = fixed_bytes;
        for _ in 1..variable_count {
            known_len = known_len.checked_add(varint::take_len(&mut body)?)?;
        }
        let last_len = body.len().checked_sub(known_len)?;
        if variable_count == 0 && last_len != 0 {
            return None;
        }
        // The lengths stand in front of the body, so what precedes it is them.
        Some(Self {
            lengths: data,
            body,
            variable_left: variable_count,
            last_len,
        })
    }

    /// Takes the next part, whose type has this width.
    #[inline]
    pub(super) fn take(&mut self, width: Option<usize>) -> &'a [u8] {
        let len = match width {
            Some(bytes) => bytes,
            None => self.take_variable_len(),
        };
        // Cannot fail for the widths of the layout (invariant 1).
        let (part, rest) = self.body.split_at_checked(len).unwrap_or_default();
        self.body = rest;
        part
    }

    #[inline]
    fn take_variable_len(&mut self) -> usize {
        match self.variable_left {
            0 => 0,
            1 => {
                self.variable_left = 0;
                self.last_len
            }
            _ => {
                self.variable_left -= 1;
                varint::take_len(&mut self.lengths).unwrap_or(0)
            }
        }
    }
}

/// Writes the lengths of a composite's parts, which stand before the parts themselves.
#[derive(Debug)]
pub(super) struct Lengths {
    variable_left: usize,
}

impl Lengths {
    /// Starts the lengths of a composite of this layout.
    #[inline]
    pub(super) fn of(layout: Layout) -> Self {
        Self {
            variable_left: layout.variable_count,
        }
    }

    /// Appends the length of the next part, if the layout stores it.
    ///
    /// # Panics
    /// If the part is not as wide as its type promises: it could never be read back.
    #[inline]
    pub(super) fn push(&mut self, width: Option<usize>, len: usize, out: &mut Vec<u8>) {
        if let Some(bytes) = width {
            assert_eq!(
                bytes, len,
                "a value is not as wide as its type's fixed width"
            );
            return;
        }
        if self.variable_left > 1 {
            varint::push_len(len, out);
        }
        self.variable_left = self.variable_left.saturating_sub(1);
    }
}
