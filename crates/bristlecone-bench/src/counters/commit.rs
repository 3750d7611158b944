//! What a durable commit costs.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

fn names() -> Vec<String> {
    [
        "durable_commit_1.writes",
        "durable_commit_1.syncs",
        "durable_commit_1.bytes",
        "durable_commit_1000.writes",
        "durable_commit_1000.syncs",
        "durable_commit_1000.bytes",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn compute(_selection: &Selection) -> Result<Figures> {
    Ok(Figures::default())
}
