//! The calls Linux has for positioned, vectored and preallocating I/O; each does as much as one system call does.

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::os::unix::fs::FileExt;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

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

/// Writes some bytes of `parts` at `offset`.
pub(super) fn write_parts_at(file: &File, parts: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pwritev(file, parts, offset)?)
}

/// Reserves blocks for the range and grows the file to its end; `Unsupported` if this file system cannot.
pub(super) fn allocate(file: &File, offset: u64, len: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), offset, len) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Err(ErrorKind::Unsupported.into()),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether `error` says that the file system has no locks to give.
pub(super) fn is_lock_unsupported(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    error.kind() == ErrorKind::Unsupported
        || matches!(errno, Some(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS))
}
