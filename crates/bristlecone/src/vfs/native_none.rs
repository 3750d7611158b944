//! For systems without positioned I/O in `std`: the caller uses a cursor instead.

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};

/// Whether this system reads and writes at an offset without moving a shared position.
pub(super) const POSITIONED: bool = false;

/// Never supported here.
pub(super) fn read_at(_file: &File, _out: &mut [u8], _offset: u64) -> io::Result<usize> {
    Err(ErrorKind::Unsupported.into())
}

/// Never supported here.
pub(super) fn write_at(_file: &File, _data: &[u8], _offset: u64) -> io::Result<usize> {
    Err(ErrorKind::Unsupported.into())
}

/// Never supported here.
pub(super) fn write_parts_at(
    _file: &File,
    _parts: &[IoSlice<'_>],
    _offset: u64,
) -> io::Result<usize> {
    Err(ErrorKind::Unsupported.into())
}

/// Never supported here: the caller grows the file instead.
pub(super) fn allocate(_file: &File, _offset: u64, _len: u64) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Whether `error` says that the file system has no locks to give.
pub(super) fn is_lock_unsupported(error: &io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported
}
