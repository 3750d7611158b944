//! Sorted runs: write buffers spilled to pages of the transaction's session, unreachable until they are merged.

use crate::page::Root;

/// Runs of one level that are merged into one of the next: bounds the sources of a read to this many per level.
pub(crate) const RUNS_PER_LEVEL: usize = 8;

/// A spilled buffer, or several merged: a tree whose rows may be tombstones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Its tree.
    pub(crate) root: Root,
    /// How often its rows were merged with other runs'.
    pub(crate) level: u32,
}

/// How many of the newest runs should be merged into one, if any: all of the newest level once it is full.
pub(crate) fn full_level(runs: &[Run]) -> Option<usize> {
    let level = runs.last()?.level;
    let same = runs
        .iter()
        .rev()
        .take_while(|run| run.level == level)
        .count();
    (same >= RUNS_PER_LEVEL).then_some(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{ChildRef, Number, PageId};

    fn run(level: u32) -> Run {
        let child = ChildRef {
            id: PageId(2),
            units: 1,
            birth: Number(1),
            rows: 1,
            extents: false,
            fill: 0,
        };
        Run {
            root: Root { child, height: 1 },
            level,
        }
    }

    #[test]
    fn a_level_is_full_at_eight_runs() {
        let mut runs = vec![run(1), run(1)];
        assert_eq!(full_level(&runs), None);
        runs.extend([run(0); 7]);
        assert_eq!(full_level(&runs), None);
        runs.push(run(0));
        assert_eq!(full_level(&runs), Some(8));
    }
}
