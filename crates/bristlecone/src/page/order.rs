//! The order of a table's keys, as pages and trees see it.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::probe;
use crate::types::Shape;

/// How stored keys compare.
///
/// Byte order allows prefix truncation and shortened separators; the others are opaque functions on whole keys.
#[derive(Clone)]
pub(crate) enum KeyCompare {
    /// Byte order of the stored form.
    Memcmp,
    /// A key type's own comparator.
    Function(fn(&[u8], &[u8]) -> Ordering),
    /// The engine's comparator for a described composite, where the program's types are not at hand.
    Shape(Arc<Shape>),
}

impl KeyCompare {
    /// Compares two stored keys.
    pub(crate) fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        probe::compared();
        match self {
            KeyCompare::Memcmp => left.cmp(right),
            KeyCompare::Function(compare) => compare(left, right),
            KeyCompare::Shape(shape) => shape.compare(left, right),
        }
    }

    /// Whether keys are in byte order.
    pub(crate) fn is_memcmp(&self) -> bool {
        matches!(self, KeyCompare::Memcmp)
    }

    /// A separator `s` with `left < s <= right`: the shortest such string in byte order, else `right` itself.
    pub(crate) fn separator(&self, left: &[u8], right: &[u8]) -> Vec<u8> {
        debug_assert!(self.compare(left, right) == Ordering::Less);
        if !self.is_memcmp() {
            return right.to_vec();
        }
        let shared = super::leaf_encoder::common_prefix(left, right);
        let separator = right[..(shared + 1).min(right.len())].to_vec();
        debug_assert!(left < separator.as_slice() && separator.as_slice() <= right);
        separator
    }
}

/// Compares two stored keys, or what follows their common prefix, in byte order.
pub(crate) fn compare_bytes(left: &[u8], right: &[u8]) -> Ordering {
    probe::compared();
    left.cmp(right)
}

impl fmt::Debug for KeyCompare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyCompare::Memcmp => "Memcmp",
            KeyCompare::Function(_) => "Function",
            KeyCompare::Shape(_) => "Shape",
        })
    }
}
