//! What a row does, and how often, before it runs.

use crate::record::Unit;

/// A row of a course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Name within the course.
    pub row: &'static str,
    /// The work, in words; it follows the count.
    pub what: &'static str,
    /// What its figure counts.
    pub unit: Unit,
    /// Operations; 0 if the figure is not a rate.
    pub ops: u64,
    /// Whether it writes, so that settling is measured after it.
    pub writes: bool,
    /// Whether it is about commits that are synced one by one, and so means nothing without them.
    pub needs_commits: bool,
    /// How many times it runs; the median is recorded.
    pub runs: u32,
}

impl Plan {
    /// A rate of changes.
    pub fn writes(row: &'static str, ops: u64, what: &'static str) -> Plan {
        Plan {
            row,
            what,
            unit: Unit::PerSecond,
            ops,
            writes: true,
            needs_commits: false,
            runs: 1,
        }
    }

    /// A rate of reads.
    pub fn reads(row: &'static str, ops: u64, what: &'static str) -> Plan {
        Plan {
            writes: false,
            ..Plan::writes(row, ops, what)
        }
    }

    /// A time.
    pub fn seconds(row: &'static str, what: &'static str) -> Plan {
        Plan {
            unit: Unit::Seconds,
            ..Plan::reads(row, 0, what)
        }
    }

    /// A size.
    pub fn bytes(row: &'static str, what: &'static str) -> Plan {
        Plan {
            unit: Unit::Bytes,
            ..Plan::reads(row, 0, what)
        }
    }

    /// The same, for engines alone that can sync a commit.
    pub fn needing_commits(self) -> Plan {
        Plan {
            needs_commits: true,
            ..self
        }
    }

    /// The same, run so many times.
    pub fn median_of(self, runs: u32) -> Plan {
        Plan { runs, ..self }
    }

    /// The same, with settling measured after it.
    pub fn settled(self) -> Plan {
        Plan {
            writes: true,
            ..self
        }
    }
}

/// `n / divisor`, but `min` at least: rows that do almost nothing measure almost nothing.
pub(super) fn share(n: u64, divisor: u64, min: u64) -> u64 {
    (n / divisor).max(min)
}
