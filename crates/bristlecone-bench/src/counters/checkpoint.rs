//! What a checkpoint costs.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

fn names() -> Vec<String> {
    [
        "checkpoint.syncs",
        "checkpoint.bytes_written_over_bytes_put",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn compute(_selection: &Selection) -> Result<Figures> {
    Ok(Figures::default())
}
