//! What a check found.

use std::fmt;

use crate::error::Corruption;

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckProgress {
    /// Units of 4 KiB read.
    pub units_done: u64,
    /// Units that the header says are in use at most.
    pub units_total: u64,
}

/// One thing that is wrong with a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    corruption: Corruption,
    path: Vec<u64>,
}

impl Finding {
    pub(super) fn new(corruption: Corruption, path: &[u64]) -> Finding {
        Finding {
            corruption,
            path: path.to_vec(),
        }
    }

    /// First unit of the page concerned.
    pub fn page(&self) -> Option<u64> {
        self.corruption.page_id()
    }

    /// Byte offset in the file.
    pub fn offset(&self) -> Option<u64> {
        self.corruption.byte_offset()
    }

    /// What is wrong.
    pub fn what(&self) -> String {
        self.corruption.what().to_owned()
    }

    /// First units of the pages that lead to it, from the root of its tree down.
    pub fn path(&self) -> &[u64] {
        &self.path
    }

    pub(super) fn in_table(self, name: &str) -> Finding {
        Finding {
            corruption: self.corruption.table(name),
            path: self.path,
        }
    }

    pub(crate) fn into_corruption(self) -> Corruption {
        self.corruption
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.corruption.fmt(f)?;
        if !self.path.is_empty() {
            f.write_str(" (reached through pages")?;
            for page in &self.path {
                write!(f, " {page}")?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// The outcome of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// All that is wrong; empty for a sound database.
    pub findings: Vec<Finding>,
    /// Whether every page and extent could be read; what lies below one that could not is neither counted nor checked.
    pub read_everything: bool,
    /// Units of 4 KiB in the file.
    pub units_total: u64,
    /// Units reached, header included.
    pub units_reachable: u64,
    /// Pages read, those of the space map included.
    pub pages: u64,
    /// Rows in all tables.
    pub rows: u64,
    /// Tables.
    pub tables: u64,
}
