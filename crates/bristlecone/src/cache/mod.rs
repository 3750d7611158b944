//! The page cache: validated pages in memory, under the database's one budget.
//!
//! Pages are immutable once written, so a cached page is never dirty and eviction is forgetting. A page is found by its
//! place *and* its birth: a place that was freed and written again cannot serve a reader of the older write.
//!
//! # Invariants
//! 1. Bytes of cached pages plus leased bytes stay within the budget, but for one page per shard and what a write
//!    buffer took in one call.
//! 2. A page in the cache was opened (checksum, name, layout) or encoded by this process.
//!
//! # Concurrency
//! Shards by page id, one mutex each, held for a table look-up and never across I/O: two threads that miss the same
//! page both read it, and the second finds it cached.

mod budget;
mod pager;
mod shard;

pub(crate) use budget::{Budget, Lease};
pub(crate) use pager::Pager;
pub(crate) use shard::PageCache;
