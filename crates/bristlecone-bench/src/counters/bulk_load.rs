//! What a bulk load costs.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

fn names() -> Vec<String> {
    ["bulk_load.page_writes_over_pages", "bulk_load.log_bytes"]
        .map(str::to_owned)
        .to_vec()
}

fn compute(_selection: &Selection) -> Result<Figures> {
    Ok(Figures::default())
}
