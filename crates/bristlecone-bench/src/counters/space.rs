//! What it costs to find and free space.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

fn names() -> Vec<String> {
    [
        "space.operations_per_page.1e4",
        "space.operations_per_page.1e5",
        "space.operations_per_page.1e6",
        "space.operations_per_page.1e7",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn compute(_selection: &Selection) -> Result<Figures> {
    Ok(Figures::default())
}
