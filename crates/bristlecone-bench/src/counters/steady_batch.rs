//! How often steady batches of writes ask for memory.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

fn names() -> Vec<String> {
    ["steady_batch.heap_allocations"]
        .map(str::to_owned)
        .to_vec()
}

fn compute(_selection: &Selection) -> Result<Figures> {
    Ok(Figures::default())
}
