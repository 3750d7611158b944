//! The tree: an immutable copy-on-write B+tree that is read by cursors and rebuilt from sorted streams.
//!
//! There is no single-key insert. A change is a sorted stream of operations; [`merge`] walks the tree once, rebuilds the
//! leaves that the stream touches with the bottom-up [`builder`], and reuses every other page. Spilled transactions use
//! the same builder for their runs.
//!
//! # Invariants
//! 1. Keys ascend strictly within a leaf and across the tree.
//! 2. Every key of child `i` lies between separators `i - 1` (inclusive) and `i` (exclusive).
//! 3. A child's birth is not above its parent's.
//! 4. The row count in a parent is the number of rows below.
//! 5. All leaves are at the same distance from the root; a branch's level says which.

pub(crate) mod builder;
pub(crate) mod cursor;
pub(crate) mod free;
pub(crate) mod lookup;
pub(crate) mod merge;
#[cfg(test)]
mod tests;
pub(crate) mod window;
pub(crate) mod writer;
