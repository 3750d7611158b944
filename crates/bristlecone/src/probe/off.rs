//! Probes that count nothing.

use std::ops::Range;

use super::ProbeCounts;

/// A reference to something shared.
pub(crate) use std::sync::Arc as Shared;

#[inline(always)]
pub(crate) fn compared() {}

#[inline(always)]
pub(crate) fn visited_page(_head: usize) {}

#[inline(always)]
pub(crate) fn touched(_bytes: Range<usize>) {}

#[inline(always)]
pub(crate) fn looked_up_page() {}

#[inline(always)]
pub(crate) fn stored_shared(_stores: u64) {}

#[inline(always)]
pub(crate) fn operated_on_space(_operations: u64) {}

/// No counts.
pub fn take_counts() -> ProbeCounts {
    ProbeCounts::default()
}
