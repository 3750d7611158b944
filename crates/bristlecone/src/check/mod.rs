//! Check: walks everything a version reaches and reports all that is wrong, never stopping at the first.
//!
//! It reads from the backend whatever is cached, follows every reference once, and proves that the durable space map is
//! exactly the set of reachable units.

mod report;
mod tree;
mod walk;

use std::fs::OpenOptions;
use std::path::Path;

pub use report::{CheckProgress, CheckReport, Finding};

use crate::checkpoint::{Checkpoint, OpenMode, Options};
use crate::error::{DatabaseError, Result, StorageError};
use crate::limits;
use crate::vfs::{Disk, FileBackend, StorageBackend, open_regular};

/// Memory for a check of a file that nobody has open.
const CACHE_BYTES: usize = 16 << 20;

/// Checks the version that `checkpoint` published last, and both header slots.
pub(crate) fn check_checkpoint(
    checkpoint: &Checkpoint,
    progress: &mut dyn FnMut(CheckProgress),
) -> Result<CheckReport> {
    walk::run(checkpoint, progress)
}

/// Checks the database file at `path` without writing to it.
///
/// # Errors
/// As for opening it read-only: a file without an intact header slot cannot be walked. All other damage is a finding.
pub fn check_file(
    path: impl AsRef<Path>,
    progress: &mut dyn FnMut(CheckProgress),
) -> Result<CheckReport, DatabaseError> {
    let file = open_regular(path.as_ref(), OpenOptions::new().read(true));
    let file = file.map_err(StorageError::Io)?;
    check_backend(FileBackend::new_read_only(file)?, progress)
}

/// Checks the database kept by `backend` without writing to it.
///
/// # Errors
/// As [`check_file`].
pub fn check_backend(
    backend: impl StorageBackend,
    progress: &mut dyn FnMut(CheckProgress),
) -> Result<CheckReport, DatabaseError> {
    let options = Options {
        cache_bytes: CACHE_BYTES,
        page_bytes: limits::PAGE_BYTES_DEFAULT,
    };
    let disk = Disk::new(Box::new(backend));
    let checkpoint = Checkpoint::open(disk, OpenMode::ReadOnly, &options)?;
    Ok(check_checkpoint(&checkpoint, progress)?)
}

/// Notes whether the file is sound before its first commit.
#[cfg(feature = "invariants")]
pub(crate) fn note_sound(checkpoint: &Checkpoint) {
    checkpoint.was_sound.get_or_init(|| {
        check_checkpoint(checkpoint, &mut |_| {}).is_ok_and(|report| report.findings.is_empty())
    });
}

/// Panics unless the published version is sound and every unit has exactly one owner, provided that it was so before.
///
/// What a disk did to the pages is not the engine's doing: a check that could not read everything proves nothing.
#[cfg(feature = "invariants")]
pub(crate) fn assert_sound(checkpoint: &Checkpoint) {
    let is_closed = checkpoint.pager().disk().check_open().is_err();
    if is_closed || checkpoint.was_sound.get() != Some(&true) {
        return;
    }
    let Ok(report) = check_checkpoint(checkpoint, &mut |_| {}) else {
        return;
    };
    if let Some(finding) = report.findings.first().filter(|_| report.read_everything) {
        panic!("unsound after a commit: {finding}");
    }
    if let Some(space) = checkpoint.space() {
        space.check_accounts().expect("every unit has one owner");
    }
}
