//! Database files in their directories: only regular files are opened, for anything else cannot be cut, grown and locked as a database is.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::Path;

/// Opens `path`, refusing what is not a regular file before opening it: a pipe would wait for its other end.
pub(crate) fn open_regular(path: &Path, options: &OpenOptions) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(found) => refuse_special(found.file_type())?,
        // Missing: the open itself says so, or creates it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = options.open(path)?;
    // Whatever came to stand there in the meantime.
    refuse_special(file.metadata()?.file_type())?;
    Ok(file)
}

fn refuse_special(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        let message = "is a directory, not a database file";
        Err(io::Error::new(io::ErrorKind::IsADirectory, message))
    } else {
        let message = "is not a regular file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

/// Makes the directory entry of `path` durable, where directories can be opened and synced.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match File::open(parent) {
        Ok(directory) => directory.sync_all(),
        // A directory that may be searched but not read keeps its entries; nobody but its owner can sync it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}
