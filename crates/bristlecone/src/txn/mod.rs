//! Transactions: snapshots to read, and one writer whose changes wait in ordered buffers over its snapshot.
//!
//! A write transaction owns, per table, a [`buffer::WriteBuffer`] and the sorted [runs](run) that it spilled when the
//! buffers outgrew their share of the budget. A read goes through buffer, runs (newest first) and the snapshot's tree.
//! Commit turns buffer and runs of each table into one sorted stream, merges it into the tree, and publishes.
//!
//! # Invariants
//! 1. A snapshot never changes: its version's pages are neither rewritten nor reused while it lives.
//! 2. One writer at a time; its snapshot is the version published last.
//! 3. The row count of a changed table is that of its snapshot plus the keys added minus the keys removed.
//! 4. Nothing a transaction wrote is reachable until its commit publishes it.

pub(crate) mod buffer;
pub(crate) mod catalog;
mod change;
pub(crate) mod gate;
pub(crate) mod merged;
pub(crate) mod op_merge;
pub(crate) mod run;
pub(crate) mod schema_check;
pub(crate) mod snapshot;
pub(crate) mod table_state;
#[cfg(test)]
mod tests;
pub(crate) mod value_bytes;
pub(crate) mod write;
