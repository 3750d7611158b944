//! Operations that no barrier has covered yet.
//!
//! # Invariants
//! 1. Pending operations stand in the order in which they were done.
//! 2. Replaying all of them over the durable bytes gives the bytes that reads return, except where a failed barrier
//!    dropped some.
//! 3. An operation's fragments are disjoint and hold only bytes that are not durable yet.

use std::ops::Range;

/// The bytes of a fragment.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// Written bytes.
    Bytes(Vec<u8>),
    /// The zeros that cutting a tail off leaves behind.
    Zeros(u64),
}

/// A run of bytes of one operation.
#[derive(Debug, Clone)]
pub(crate) struct Fragment {
    pub(crate) offset: u64,
    pub(crate) content: Content,
}

/// One operation that a power cut may undo.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    /// What it changes; empty for one that only grows the file.
    pub(crate) fragments: Vec<Fragment>,
    /// The file's length after it.
    pub(crate) len_after: u64,
}

impl Fragment {
    pub(crate) fn len(&self) -> u64 {
        match &self.content {
            Content::Bytes(bytes) => to_u64(bytes.len()),
            Content::Zeros(len) => *len,
        }
    }

    pub(crate) fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.len()
    }

    /// The part of this fragment inside `range`, if any.
    pub(crate) fn inside(&self, range: &Range<u64>) -> Option<Fragment> {
        let start = self.offset.max(range.start);
        let end = self.range().end.min(range.end);
        if start >= end {
            return None;
        }
        let content = match &self.content {
            Content::Bytes(bytes) => {
                let from = to_index(start - self.offset);
                let to = to_index(end - self.offset);
                Content::Bytes(bytes[from..to].to_vec())
            }
            Content::Zeros(_) => Content::Zeros(end - start),
        };
        Some(Fragment {
            offset: start,
            content,
        })
    }

    /// The parts of this fragment outside `range`.
    pub(crate) fn outside(&self, range: &Range<u64>) -> impl Iterator<Item = Fragment> {
        let before = self.inside(&(0..range.start));
        let after = self.inside(&(range.end..u64::MAX));
        before.into_iter().chain(after)
    }

    /// Cuts the fragment at every multiple of `piece_bytes`.
    pub(crate) fn pieces(&self, piece_bytes: u64) -> Vec<Fragment> {
        let range = self.range();
        let first = range.start / piece_bytes;
        let last = range.end.div_ceil(piece_bytes);
        (first..last)
            .filter_map(|piece| self.inside(&(piece * piece_bytes..(piece + 1) * piece_bytes)))
            .collect()
    }

    /// Puts the fragment on `canvas`, which grows for bytes and never for zeros.
    pub(crate) fn overlay(&self, canvas: &mut Vec<u8>) {
        let start = to_index(self.offset);
        match &self.content {
            Content::Bytes(bytes) => {
                let end = start + bytes.len();
                if canvas.len() < end {
                    canvas.resize(end, 0);
                }
                canvas[start..end].copy_from_slice(bytes);
            }
            Content::Zeros(len) => {
                let end = (start + to_index(*len)).min(canvas.len());
                if let Some(tail) = canvas.get_mut(start..end) {
                    tail.fill(0);
                }
            }
        }
    }
}

impl Pending {
    /// A write of `bytes` at `offset`.
    pub(crate) fn write(offset: u64, bytes: &[u8], len_after: u64) -> Self {
        let content = Content::Bytes(bytes.to_vec());
        Self {
            fragments: vec![Fragment { offset, content }],
            len_after,
        }
    }

    /// A change of the length from `len_before`; cutting counts as writing zeros over what was cut.
    pub(crate) fn resize(len_before: u64, len_after: u64) -> Self {
        let cut = len_before.saturating_sub(len_after);
        let fragments = match cut {
            0 => Vec::new(),
            _ => vec![Fragment {
                offset: len_after,
                content: Content::Zeros(cut),
            }],
        };
        Self {
            fragments,
            len_after,
        }
    }

    /// Takes out of this operation what lies inside `range`.
    pub(crate) fn take_inside(&mut self, range: &Range<u64>) -> Vec<Fragment> {
        let taken = self
            .fragments
            .iter()
            .filter_map(|fragment| fragment.inside(range))
            .collect();
        self.fragments = self
            .fragments
            .iter()
            .flat_map(|fragment| fragment.outside(range))
            .collect();
        taken
    }

    /// Takes the written bytes inside `range` out and leaves the zeros of cut tails: those are metadata, which
    /// does not share the fate of data in a failed barrier.
    pub(crate) fn take_bytes_inside(&mut self, range: &Range<u64>) -> Vec<Fragment> {
        let (bytes, zeros): (Vec<_>, Vec<_>) = self
            .fragments
            .drain(..)
            .partition(|fragment| matches!(fragment.content, Content::Bytes(_)));
        self.fragments = bytes;
        let taken = self.take_inside(range);
        self.fragments.extend(zeros);
        taken
    }
}

/// An index into a file that is held in memory.
pub(crate) fn to_index(offset: u64) -> usize {
    usize::try_from(offset).expect("a simulated file fits into memory")
}

/// A length in bytes as the backend counts them.
pub(crate) fn to_u64(len: usize) -> u64 {
    u64::try_from(len).expect("a length in memory fits 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(offset: u64, text: &[u8]) -> Fragment {
        Fragment {
            offset,
            content: Content::Bytes(text.to_vec()),
        }
    }

    fn shown(fragments: &[Fragment]) -> Vec<(u64, Vec<u8>)> {
        let show = |fragment: &Fragment| match &fragment.content {
            Content::Bytes(bytes) => (fragment.offset, bytes.clone()),
            Content::Zeros(len) => (fragment.offset, vec![0; to_index(*len)]),
        };
        fragments.iter().map(show).collect()
    }

    #[test]
    fn taking_a_range_leaves_both_sides() {
        let mut pending = Pending::write(10, b"abcdef", 16);
        let taken = pending.take_inside(&(12..14));
        assert_eq!(shown(&taken), [(12, b"cd".to_vec())]);
        assert_eq!(
            shown(&pending.fragments),
            [(10, b"ab".to_vec()), (14, b"ef".to_vec())]
        );
        assert!(pending.take_inside(&(12..14)).is_empty());
        assert!(pending.take_inside(&(0..10)).is_empty());
    }

    #[test]
    fn pieces_are_cut_at_absolute_multiples() {
        let pieces = bytes(6, b"abcdefg").pieces(4);
        assert_eq!(
            shown(&pieces),
            [
                (6, b"ab".to_vec()),
                (8, b"cdef".to_vec()),
                (12, b"g".to_vec())
            ]
        );
    }

    #[test]
    fn zeros_of_a_cut_tail_never_grow_the_file() {
        let mut canvas = b"abcdef".to_vec();
        Pending::resize(20, 4).fragments[0].overlay(&mut canvas);
        assert_eq!(canvas, b"abcd\0\0");
        Pending::resize(20, 10).fragments[0].overlay(&mut canvas);
        assert_eq!(canvas, b"abcd\0\0");
        bytes(8, b"x").overlay(&mut canvas);
        assert_eq!(canvas, b"abcd\0\0\0\0x");
    }

    #[test]
    fn failed_barriers_take_bytes_and_leave_cut_tails() {
        let mut cut = Pending::resize(8, 4);
        assert!(cut.take_bytes_inside(&(0..100)).is_empty());
        assert_eq!(shown(&cut.fragments), [(4, vec![0; 4])]);
        let mut write = Pending::write(0, b"abcd", 4);
        assert_eq!(
            shown(&write.take_bytes_inside(&(1..3))),
            [(1, b"bc".to_vec())]
        );
        assert_eq!(write.fragments.len(), 2);
    }
}
