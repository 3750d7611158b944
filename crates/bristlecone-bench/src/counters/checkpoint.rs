//! What a checkpoint costs.
//!
//! Both figures are null: every commit merges its changes into the trees and flips the header, so there is no
//! checkpoint apart from the commit, and what it costs is in `durable_commit_1`, `durable_commit_1000` and
//! `random_insert`.

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
