//! How large the file is beside the live data.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

fn names() -> Vec<String> {
    [
        "file_over_live.after_bulk_load",
        "file_over_live.after_removals",
        "file_over_live.after_compaction",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn compute(_selection: &Selection) -> Result<Figures> {
    Ok(Figures::default())
}
