//! Space: which units of the file are in use, who may draw them, and when a freed one may be drawn again.
//!
//! A [`Session`] draws and frees; its flip hands all of that over at once. A page born at number `b` and freed by the
//! version `f` may be reused once no live version `v` has `b <= v < f`; live are the versions that readers hold and
//! those that a header slot may still name on disk.
//!
//! # Invariants
//! 1. The durable map of a version is exactly the set of units reachable from its roots, map pages included.
//! 2. A unit that a live version reaches is never handed out.
//! 3. A session's record only grows; only the flip drains it, and dropping the session returns what it drew.
//! 4. Nothing is pending twice: every unit freed was reachable from the version before.
//! 5. Numbers are never used twice, whatever crashes: all used ones are below the durable ceiling.
//!
//! # Concurrency
//! One mutex over the whole state, taken after the header lock, never held while a page of the tree is read.
//!
//! # Source
//! Reuse decided when a page is freed: pagedb, PR 27. Dead lists per live version with sublists by birth: ZFS.

mod bitmap;
mod dead;
#[cfg(test)]
mod map_tests;
mod map_tree;
mod session;
mod settle;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use bitmap::UnitMap;
pub(crate) use dead::VersionPin;
pub(crate) use map_tree::{MapRoot, MapTree, load_map};
pub(crate) use session::Session;
pub(crate) use state::{HEADER_UNITS, Numbers, Space};
