//! Runs the file backend on temporary files, each property on the native and on the plain code paths.

use super::*;
use std::fs::OpenOptions;
use std::path::Path;

fn open(path: &Path) -> File {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .unwrap()
}

/// Calls `test` with a fresh backend on each code path.
fn on_each_path(test: impl Fn(FileBackend)) {
    test(FileBackend::new(tempfile::tempfile().unwrap()).unwrap());
    test(
        FileBackend::new(tempfile::tempfile().unwrap())
            .unwrap()
            .force_plain(),
    );
}

fn contents(backend: &FileBackend) -> Vec<u8> {
    let mut out = vec![0xFF; usize::try_from(backend.len().unwrap()).unwrap()];
    backend.read(0, &mut out).unwrap();
    out
}

#[test]
fn writes_are_read_back_and_gaps_read_as_zero() {
    on_each_path(|backend| {
        backend.write(4, b"abcdef").unwrap();
        backend.write(5, b"X").unwrap();
        backend.write(50, b"").unwrap();
        backend.sync_data().unwrap();
        backend.sync_range(0, 4).unwrap();
        assert_eq!(contents(&backend), b"\0\0\0\0aXcdef");
    });
}

#[test]
fn reads_past_the_end_are_errors() {
    on_each_path(|backend| {
        backend.write(0, b"abc").unwrap();
        for offset in [1, 3, 1 << 40] {
            let error = backend.read(offset, &mut [0; 3]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        }
        backend.read(3, &mut []).unwrap();
    });
}

#[test]
fn length_cuts_and_grows_by_zeros() {
    on_each_path(|backend| {
        backend.write(0, b"abcdef").unwrap();
        backend.set_len(2).unwrap();
        backend.set_len(4).unwrap();
        assert_eq!(contents(&backend), b"ab\0\0");
    });
}

#[test]
fn allocation_keeps_bytes_and_never_shrinks() {
    on_each_path(|backend| {
        backend.write(0, b"abc").unwrap();
        backend.allocate(1, 4).unwrap();
        assert_eq!(contents(&backend), b"abc\0\0");
        backend.allocate(0, 2).unwrap();
        backend.allocate(0, 0).unwrap();
        assert_eq!(backend.len().unwrap(), 5);
        backend.allocate(8, 0).unwrap();
        assert_eq!(backend.len().unwrap(), 8);
        let error = backend.allocate(u64::MAX, 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn vectored_writes_take_more_parts_than_one_call() {
    on_each_path(|backend| {
        let bytes: Vec<u8> = (0..2500_u32).map(|number| number as u8).collect();
        let mut parts: Vec<IoSlice<'_>> = bytes.chunks(1).map(IoSlice::new).collect();
        parts.insert(7, IoSlice::new(b""));
        backend.write_vectored(3, &parts).unwrap();
        assert_eq!(contents(&backend)[3..], bytes);
        backend.write_vectored(0, &[]).unwrap();
    });
}

#[test]
fn second_open_is_refused_until_close() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one");
    let first = FileBackend::new(open(&path)).unwrap();
    let link = dir.path().join("two");
    std::fs::hard_link(&path, &link).unwrap();
    for path in [&path, &link] {
        let refused = FileBackend::new(open(path)).unwrap_err();
        assert!(
            matches!(refused, DatabaseError::DatabaseAlreadyOpen),
            "{refused}"
        );
        let refused = FileBackend::new_read_only(open(path)).unwrap_err();
        assert!(
            matches!(refused, DatabaseError::DatabaseAlreadyOpen),
            "{refused}"
        );
    }
    first.close().unwrap();
    FileBackend::new(open(&link)).unwrap();
}

#[test]
fn dropped_backends_let_go_of_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one");
    drop(FileBackend::new(open(&path)).unwrap());
    FileBackend::new(open(&path)).unwrap();
}

#[test]
fn readers_share_the_file_and_keep_writers_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one");
    FileBackend::new(open(&path))
        .unwrap()
        .write(0, b"abc")
        .unwrap();
    let one = FileBackend::new_read_only(File::open(&path).unwrap()).unwrap();
    let two = FileBackend::new_read_only(File::open(&path).unwrap()).unwrap();
    assert_eq!(contents(&one), contents(&two));
    let refused = FileBackend::new(open(&path)).unwrap_err();
    assert!(
        matches!(refused, DatabaseError::DatabaseAlreadyOpen),
        "{refused}"
    );
}

#[test]
fn read_only_backends_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one");
    std::fs::write(&path, b"abc").unwrap();
    // Open for writing below, so that the refusal is the backend's own.
    let backend = FileBackend::new_read_only(open(&path)).unwrap();
    let outcomes = [
        backend.write(0, b"x"),
        backend.write_vectored(0, &[IoSlice::new(b"x")]),
        backend.set_len(0),
        backend.allocate(0, 10),
        backend.sync_data(),
        backend.sync_range(0, 1),
    ];
    for outcome in outcomes {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::PermissionDenied);
    }
    assert_eq!(contents(&backend), b"abc");
}

#[test]
fn missing_locks_are_named() {
    let unsupported = io::Error::from(ErrorKind::Unsupported);
    let error = granted(Err(TryLockError::Error(unsupported))).unwrap_err();
    let DatabaseError::Storage(StorageError::Io(error)) = error else {
        panic!("{error}");
    };
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("no file locks"), "{error}");

    let other = io::Error::from(ErrorKind::NotFound);
    let error = granted(Err(TryLockError::Error(other))).unwrap_err();
    assert!(!error.to_string().contains("no file locks"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn lock_errors_of_network_file_systems_are_named() {
    use rustix::io::Errno;
    for errno in [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS] {
        let error = granted(Err(TryLockError::Error(errno.into()))).unwrap_err();
        assert!(error.to_string().contains("no file locks"), "{error}");
    }
}

#[test]
fn interrupted_lock_calls_are_repeated() {
    let mut rounds = 0;
    let outcome = uninterrupted_lock(|| {
        rounds += 1;
        if rounds < 3 {
            return Err(TryLockError::Error(ErrorKind::Interrupted.into()));
        }
        Ok(())
    });
    assert!(outcome.is_ok() && rounds == 3);
}
