//! Probes: what a call cost in events that no clock measures, counted where they happen.
//!
//! With the feature `counters` each thread counts its own events, so that counting shares nothing; without it every
//! probe is empty and [`Shared`] is `Arc`. The choice is made here and nowhere else.
//!
//! What counts:
//! - A *scalar compare* is one of a wanted key with one stored key or separator. The check of a page's common prefix,
//!   one for each page, is not.
//! - A *line* is 64 bytes of a page, counted from the page's start, once for each visit of the page: its header, and
//!   whatever slots, prefix and key bytes the search touches.
//! - A *shared store* is one outside the stack and thread-local storage: taking or giving back a reference, locking or
//!   unlocking a mutex (each one store while nobody else wants it), a mark, an atomic count.
//! - A *space operation* is one read or write of a word of a bitmap, a search hint, an entry of a list or of the space
//!   map's levels, or one probe of a table, by whatever finds, draws and frees units.

// One module or the other, with the same names.
#[cfg_attr(feature = "counters", path = "on.rs")]
#[cfg_attr(not(feature = "counters"), path = "off.rs")]
mod switch;

pub use switch::take_counts;
pub(crate) use switch::{
    Shared, compared, looked_up_page, operated_on_space, stored_shared, touched, visited_page,
};

/// Events of one thread since they were last taken. All zero without the feature `counters`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProbeCounts {
    /// Compares of a wanted key with one stored key.
    pub scalar_compares: u64,
    /// Compares of a wanted key with a vector of stored keys at once; the engine has none yet.
    pub vector_compares: u64,
    /// Lines of pages touched by searches.
    pub lines: u64,
    /// Look-ups in the page table that all threads share.
    pub page_lookups: u64,
    /// Stores to memory that other threads may read.
    pub shared_stores: u64,
    /// Reads and writes of the allocator's state.
    pub space_operations: u64,
}
