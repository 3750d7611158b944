//! Everything that is no database, cannot be written, or runs out of room. Each case must end in a typed error that
//! names the cause, with the files compared before and after; what was acknowledged stays.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use bristlecone::{
    Builder, Database, DatabaseError, ReadOnlyDatabase, StorageBackend, StorageError, check_file,
};

use crate::support::{Faults, Rng, Shared, assert_sound, commit, current, memory};

#[path = "bad_input/full_disk.rs"]
mod full_disk;
#[cfg(unix)]
#[path = "bad_input/permissions.rs"]
mod permissions;

fn io_kind(error: &DatabaseError) -> Option<ErrorKind> {
    match error {
        DatabaseError::Storage(StorageError::Io(error)) => Some(error.kind()),
        _ => None,
    }
}

/// A closed database file with some rows.
fn database_at(path: &Path) -> Vec<u8> {
    let db = Builder::new().set_page_size(4096).create(path).unwrap();
    for part in 0..3_u8 {
        let rows: Vec<_> = (0..200_u8).map(|idx| ([part, idx], [idx; 50])).collect();
        commit(
            &db,
            "t",
            rows.iter().map(|(key, value)| (&key[..], Some(&value[..]))),
        );
    }
    db.close().unwrap();
    fs::read(path).unwrap()
}

/// Every way of opening a path; `create` last, because it alone may change something.
fn open_all(path: &Path) -> Vec<(&'static str, DatabaseError)> {
    vec![
        ("open", Database::open(path).map(drop).unwrap_err()),
        (
            "open_read_only",
            ReadOnlyDatabase::open(path).map(drop).unwrap_err(),
        ),
        (
            "check_file",
            check_file(path, &mut |_| {}).map(drop).unwrap_err(),
        ),
        ("create", Database::create(path).map(drop).unwrap_err()),
    ]
}

#[test]
fn a_missing_file_is_not_found_and_not_created() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none.db");
    for error in [
        Database::open(&path).map(drop).unwrap_err(),
        ReadOnlyDatabase::open(&path).map(drop).unwrap_err(),
        check_file(&path, &mut |_| {}).map(drop).unwrap_err(),
        Database::create(dir.path().join("no directory/x.db"))
            .map(drop)
            .unwrap_err(),
    ] {
        assert_eq!(io_kind(&error), Some(ErrorKind::NotFound), "{error}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_is_called_one() {
    let dir = tempfile::tempdir().unwrap();
    for (how, error) in open_all(dir.path()) {
        assert_eq!(
            io_kind(&error),
            Some(ErrorKind::IsADirectory),
            "{how}: {error}"
        );
        assert!(
            error.to_string().to_lowercase().contains("directory"),
            "{error}"
        );
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn files_of_other_kinds_are_refused_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut rng = Rng::new(1);
    let contents: [Vec<u8>; 7] = [
        b"x".to_vec(),
        b"some text\n".repeat(2000),
        rng.bytes(4096),
        rng.bytes(100_000),
        vec![0; 8193],
        vec![0; 1 << 20],
        b"SQLite format 3\0".repeat(1000),
    ];
    for content in contents {
        fs::write(&path, &content).unwrap();
        for (how, error) in open_all(&path) {
            assert!(
                matches!(error, DatabaseError::NotADatabase),
                "{how}: {error}"
            );
        }
        assert!(fs::read(&path).unwrap() == content, "changed");
    }
}

#[test]
fn an_empty_file_is_a_database_only_to_create() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    for len in [0, 1, 4096, 8192] {
        fs::write(&path, vec![0; len]).unwrap();
        for error in [
            Database::open(&path).map(drop).unwrap_err(),
            ReadOnlyDatabase::open(&path).map(drop).unwrap_err(),
        ] {
            assert!(matches!(error, DatabaseError::NotADatabase), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), vec![0; len]);
        let db = Database::create(&path).unwrap();
        commit(&db, "t", [(&b"k"[..], Some(&b"v"[..]))]);
        drop(db);
        let db = Database::open(&path).unwrap();
        assert_eq!(current(&db, "t").len(), 1);
    }
}

#[test]
fn a_truncated_file_is_corrupted_and_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let whole = database_at(&path);
    for len in [
        whole.len() - 1,
        whole.len() - 4096,
        8192,
        8191,
        4097,
        4096,
        512,
        9,
    ] {
        fs::write(&path, &whole[..len]).unwrap();
        for (how, error) in open_all(&path) {
            assert!(
                matches!(error, DatabaseError::Storage(StorageError::Corrupted(_))),
                "{how} at {len}: {error}"
            );
        }
        assert!(fs::read(&path).unwrap() == whole[..len], "changed at {len}");
    }
}

/// Writes another format version into both slots, with the checksum a writer of that version might have used.
fn with_version(mut bytes: Vec<u8>, version: u8, fix_checksum: bool) -> Vec<u8> {
    for slot in [0, 4096] {
        let block = &mut bytes[slot..slot + 4096];
        block[16] = version;
        if fix_checksum {
            block[8..16].fill(0);
            let sum = twox_hash::XxHash3_64::oneshot(block);
            block[8..16].copy_from_slice(&sum.to_le_bytes());
        }
    }
    bytes
}

#[test]
fn another_format_version_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let whole = database_at(&path);
    for version in [2, 77, 255] {
        for fix_checksum in [false, true] {
            let content = with_version(whole.clone(), version, fix_checksum);
            fs::write(&path, &content).unwrap();
            for (how, error) in open_all(&path) {
                let named =
                    matches!(error, DatabaseError::UpgradeRequired(found) if found == version);
                assert!(named, "{how}: {error}");
                assert!(error.to_string().contains(&version.to_string()), "{error}");
            }
            assert!(fs::read(&path).unwrap() == content, "changed");
        }
    }
}

#[test]
fn a_file_is_open_once_for_writing_or_often_for_reading() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    database_at(&path);
    let link = dir.path().join("link");
    fs::hard_link(&path, &link).unwrap();
    let db = Database::open(&path).unwrap();
    for path in [&path, &link] {
        for (how, error) in open_all(path) {
            assert!(
                matches!(error, DatabaseError::DatabaseAlreadyOpen),
                "{how}: {error}"
            );
        }
    }
    commit(&db, "t", [(&b"k"[..], Some(&b"v"[..]))]);
    drop(db);
    let first = ReadOnlyDatabase::open(&path).unwrap();
    let second = ReadOnlyDatabase::open(&link).unwrap();
    let error = Database::open(&path).map(drop).unwrap_err();
    assert!(matches!(error, DatabaseError::DatabaseAlreadyOpen));
    assert!(check_file(&path, &mut |_| {}).unwrap().findings.is_empty());
    first.close().unwrap();
    assert!(Database::open(&path).is_err());
    drop(second);
    assert_sound(&Database::open(&path).unwrap());
}

#[test]
fn reading_changes_not_a_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let before = database_at(&path);
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let db = ReadOnlyDatabase::open(&path).unwrap();
    let rows = crate::support::read_rows(
        &bristlecone::ReadableDatabase::begin_read(&db).unwrap(),
        "t",
    );
    assert_eq!(rows.len(), 600);
    drop(db);
    check_file(&path, &mut |_| {}).unwrap();
    assert!(fs::read(&path).unwrap() == before);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), modified);
}

#[test]
fn a_backend_of_zeros_longer_than_a_new_database_is_refused() {
    for len in [8193, 1 << 16] {
        let backend = Shared::of(vec![0; len]);
        let error = Database::builder()
            .create_with_backend(backend.clone())
            .map(drop)
            .unwrap_err();
        assert!(matches!(error, DatabaseError::NotADatabase));
        assert_eq!(backend.changes(), 0);
        assert_eq!(backend.len().unwrap(), len as u64);
    }
    let (db, _) = memory(4096, 0);
    assert_sound(&db);
    let _unused = Faults::default();
}
