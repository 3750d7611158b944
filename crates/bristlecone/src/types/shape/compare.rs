//! Order of encoded keys by their shape.

use std::cmp::Ordering;

use super::super::option::TAG_SOME;
use super::super::parts::Parts;
use super::super::scalar::CHAR_BYTES;
use super::{IntegerKind, Shape};

impl Shape {
    /// Orders two keys in [`Value::as_bytes`](super::super::Value::as_bytes) form, as
    /// [`Key::compare`](super::super::Key::compare) of the type does.
    ///
    /// Bytes that are no encoding, and shapes that are no built-in key, are ordered bytewise.
    pub fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            Self::Integer(kind) | Self::NonZero(kind) => compare_integers(*kind, left, right),
            Self::Char if left.len() == CHAR_BYTES && right.len() == CHAR_BYTES => {
                left.iter().rev().cmp(right.iter().rev())
            }
            Self::Option(value) => match (left, right) {
                ([TAG_SOME, left @ ..], [TAG_SOME, right @ ..]) => value.compare(left, right),
                _ => left.cmp(right),
            },
            Self::Array { .. } | Self::Tuple(_) => self.compare_parts(left, right),
            _ => left.cmp(right),
        }
    }

    fn compare_parts(&self, left: &[u8], right: &[u8]) -> Ordering {
        let layout = self.layout();
        let (Some(mut left_parts), Some(mut right_parts)) =
            (Parts::split(left, layout), Parts::split(right, layout))
        else {
            return left.cmp(right);
        };
        for part in self.parts() {
            let width = part.fixed_width();
            let order = part.compare(left_parts.take(width), right_parts.take(width));
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

/// Orders two little-endian integers.
fn compare_integers(kind: IntegerKind, left: &[u8], right: &[u8]) -> Ordering {
    let (Some((left_high, left_low)), Some((right_high, right_low))) =
        (left.split_last(), right.split_last())
    else {
        return left.cmp(right);
    };
    if left.len() != kind.width() || right.len() != kind.width() {
        return left.cmp(right);
    }
    let high = if kind.is_signed() {
        left_high.cast_signed().cmp(&right_high.cast_signed())
    } else {
        left_high.cmp(right_high)
    };
    high.then_with(|| left_low.iter().rev().cmp(right_low.iter().rev()))
}
