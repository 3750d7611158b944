//! What finding a key costs within the pages on its path.

use anyhow::Result;

use super::figures::Figures;
use super::{Group, Selection};

/// The group.
pub(super) const GROUP: Group = Group { names, compute };

const DISTRIBUTIONS: [&str; 9] = [
    "dense",
    "gaps",
    "random64",
    "clustered",
    "skewed_u4",
    "zipf",
    "log_uniform",
    "pareto1_gaps",
    "random_clusters",
];

const SEARCHES: [&str; 4] = ["window", "adaptive", "knots", "binary"];

fn names() -> Vec<String> {
    let mut names = Vec::new();
    for distribution in DISTRIBUTIONS {
        for search in SEARCHES {
            for count in ["scalar", "vector", "lines"] {
                names.push(format!("compares_per_seek.{distribution}.{search}.{count}"));
            }
        }
    }
    names
}

fn compute(_selection: &Selection) -> Result<Figures> {
    Ok(Figures::default())
}
