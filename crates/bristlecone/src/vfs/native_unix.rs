//! The positioned calls that every Unix has; vectored writes and preallocation fall back to plain ones.

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::os::unix::fs::FileExt;

/// Whether this system reads and writes at an offset without moving a shared position.
pub(super) const POSITIONED: bool = true;

/// Reads some bytes at `offset`.
pub(super) fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(out, offset)
}

/// Writes some bytes at `offset`.
pub(super) fn write_at(file: &File, data: &[u8], offset: u64) -> io::Result<usize> {
    file.write_at(data, offset)
}

/// Writes some bytes of `parts` at `offset`: those of the first part that has any.
pub(super) fn write_parts_at(file: &File, parts: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    match parts.iter().find(|part| !part.is_empty()) {
        Some(part) => file.write_at(part, offset),
        None => Ok(0),
    }
}

/// Never supported here: the caller grows the file instead.
pub(super) fn allocate(_file: &File, _offset: u64, _len: u64) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Whether `error` says that the file system has no locks to give.
pub(super) fn is_lock_unsupported(error: &io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported
}
