//! Verifying a whole file, however damaged.

use std::path::Path;

use bristlecone::{CheckProgress, CheckReport, Corruption, DatabaseError, Finding, StorageError};

use super::builder;
use super::failed::Place;
use crate::failure::Outcome;

/// What `check` has found.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) damage: Vec<Damage>,
    pub(crate) tables: u64,
    pub(crate) rows: u64,
    pub(crate) pages: u64,
    pub(crate) units_reachable: u64,
    pub(crate) units_total: u64,
}

/// One finding.
#[derive(Debug)]
pub(crate) struct Damage {
    /// The whole of it, for people.
    pub(crate) text: String,
    pub(crate) what: String,
    pub(crate) page: Option<u64>,
    pub(crate) offset: Option<u64>,
    /// Pages from the root to the damaged one.
    pub(crate) path: Vec<u64>,
}

/// Memory for a check, which reads each page once.
const CACHE_BYTES: usize = 16 << 20;

/// Walks the file; `progress` hears of units done and in all.
///
/// # Errors
/// [`crate::failure::Failure::Open`] if it is no database or cannot be read; damage is a verdict, not an error, even where
/// it keeps the file from being opened.
pub(crate) fn check(
    path: &Path,
    cache: Option<usize>,
    progress: &mut dyn FnMut(u64, u64),
) -> Outcome<Verdict> {
    let mut told = |state: CheckProgress| progress(state.units_done, state.units_total);
    let opened = builder(Some(cache.unwrap_or(CACHE_BYTES))).open_read_only(path);
    match opened.and_then(|database| database.check(&mut told)) {
        Ok(report) => Ok(Verdict::of(&report)),
        Err(DatabaseError::Storage(StorageError::Corrupted(corruption))) => Ok(Verdict {
            damage: vec![Damage::of(&corruption)],
            ..Verdict::default()
        }),
        Err(error) => Err(Place::new(path).open_failed(error)),
    }
}

impl Verdict {
    fn of(report: &CheckReport) -> Self {
        Verdict {
            damage: report.findings.iter().map(Damage::found).collect(),
            tables: report.tables,
            rows: report.rows,
            pages: report.pages,
            units_reachable: report.units_reachable,
            units_total: report.units_total,
        }
    }
}

impl Damage {
    fn found(finding: &Finding) -> Self {
        Damage {
            text: finding.to_string(),
            what: finding.what(),
            page: finding.page(),
            offset: finding.offset(),
            path: finding.path().to_vec(),
        }
    }

    fn of(corruption: &Corruption) -> Self {
        Damage {
            text: corruption.to_string(),
            what: corruption.what().to_owned(),
            page: corruption.page_id(),
            offset: corruption.byte_offset(),
            path: Vec::new(),
        }
    }
}
