//! Files that may not be written, and files that are no files. Root may write anything, so as root the test runs
//! itself again as a user who may not.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bristlecone::{Database, ReadOnlyDatabase};

use super::{database_at, io_kind, open_all};

/// Names the directory of a child that runs as an ordinary user.
const CHILD: &str = "BRISTLECONE_TEST_CHILD_DIR";
/// An ordinary user's id: "nobody" on most systems.
const NOBODY: u32 = 65534;

fn refused_here(dir: &Path) {
    let file = dir.join("read-only.db");
    let before = fs::read(&file).unwrap();
    for error in [
        Database::open(&file).map(drop).unwrap_err(),
        Database::create(&file).map(drop).unwrap_err(),
        Database::create(dir.join("new.db")).map(drop).unwrap_err(),
    ] {
        assert_eq!(
            io_kind(&error),
            Some(ErrorKind::PermissionDenied),
            "{error}"
        );
    }
    assert!(ReadOnlyDatabase::open(&file).is_ok());
    assert!(fs::read(&file).unwrap() == before);
    let secret = ReadOnlyDatabase::open(dir.join("secret.db"))
        .map(drop)
        .unwrap_err();
    assert_eq!(
        io_kind(&secret),
        Some(ErrorKind::PermissionDenied),
        "{secret}"
    );
    let names: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!names.contains(&dir.join("new.db")), "created in vain");
}

#[test]
fn a_read_only_file_and_directory_are_refused_for_writing_and_serve_readers() {
    if let Some(dir) = std::env::var_os(CHILD) {
        refused_here(Path::new(&dir));
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("read-only.db");
    database_at(&file);
    fs::copy(&file, dir.path().join("secret.db")).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(dir.path().join("secret.db"), Permissions::from_mode(0o000)).unwrap();
    // The test's own program, where the other user can reach it.
    let program = dir.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o555)).unwrap();
    let is_root = fs::metadata(dir.path()).unwrap().uid() == 0;
    if is_root {
        let output = Command::new(&program)
            .args(["--exact", "bad_input::permissions::a_read_only_file_and_directory_are_refused_for_writing_and_serve_readers"])
            .env(CHILD, dir.path())
            .current_dir("/")
            .uid(NOBODY)
            .gid(NOBODY)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        assert!(text.contains("1 passed"), "{text}");
    } else {
        refused_here(dir.path());
    }
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
}

/// Fails the test if `work` is not done within half a minute.
fn within_time(work: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    match wait.recv_timeout(Duration::from_secs(30)) {
        Ok(()) => worker.join().unwrap(),
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(worker.join().unwrap_err());
        }
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("hangs"),
    }
}

#[test]
fn a_pipe_or_device_is_refused_without_waiting_for_its_other_end() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    within_time(move || {
        for path in [pipe.as_path(), Path::new("/dev/null")] {
            for (how, error) in open_all(path) {
                let refused = matches!(
                    io_kind(&error),
                    Some(ErrorKind::InvalidInput | ErrorKind::PermissionDenied)
                );
                assert!(refused, "{how}: {error}");
            }
        }
        drop(dir);
    });
}
