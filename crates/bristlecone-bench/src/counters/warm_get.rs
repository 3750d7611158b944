//! What a get of a cached row costs.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

fn names() -> Vec<String> {
    [
        "warm_get.shared_page_lookups",
        "warm_get.shared_stores",
        "warm_get.heap_allocations",
        "warm_get_64_threads.shared_page_lookups",
        "warm_get_64_threads.shared_stores",
        "warm_get_64_threads.heap_allocations",
        "warm_get_two_tables.shared_page_lookups",
        "warm_get_two_tables.shared_stores",
        "warm_get_two_tables.heap_allocations",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn compute(_selection: &Selection) -> Result<Figures> {
    Ok(Figures::default())
}
