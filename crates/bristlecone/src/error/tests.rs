//! Each operation's error keeps its message and its cause on the way into the superset.

use std::error::Error as StdError;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::*;
use crate::types::TypeName;

/// The message before and after conversion into [`Error`].
fn same_text<E: StdError>(build: impl Fn() -> E)
where
    Error: From<E>,
{
    let before = build().to_string();
    let after = Error::from(build()).to_string();
    assert_eq!(before, after);
    assert!(!before.ends_with('.'), "{before}");
    assert!(before.starts_with(|c: char| !c.is_uppercase()), "{before}");
}

#[track_caller]
fn here() -> &'static std::panic::Location<'static> {
    std::panic::Location::caller()
}

#[test]
fn superset_keeps_every_message() {
    same_text(|| StorageError::Corrupted(Corruption::new("page checksum").page(3)));
    same_text(|| StorageError::ValueTooLarge(9));
    same_text(|| StorageError::Io(io::Error::other("x")));
    same_text(|| StorageError::Io(io::ErrorKind::StorageFull.into()));
    same_text(|| StorageError::Backend("x".into()));
    same_text(|| StorageError::Unsupported);
    same_text(|| StorageError::PreviousIo);
    same_text(|| StorageError::DatabaseClosed);
    let at = here();
    same_text(|| StorageError::LockPoisoned(at));
    same_text(|| DatabaseError::DatabaseAlreadyOpen);
    same_text(|| DatabaseError::RepairAborted);
    same_text(|| DatabaseError::UpgradeRequired(4));
    same_text(|| DatabaseError::TransactionInProgress);
    same_text(|| DatabaseError::NotADatabase);
    same_text(|| DatabaseError::Storage(StorageError::PreviousIo));
    let table = || "t".to_string();
    let name = || TypeName::new("Mine");
    same_text(|| TableError::TableTypeMismatch {
        table: table(),
        key: name(),
        value: name(),
    });
    same_text(|| TableError::TableIsMultimap(table()));
    same_text(|| TableError::TableIsNotMultimap(table()));
    same_text(|| TableError::TypeDefinitionChanged {
        name: name(),
        alignment: 1,
        width: Some(4),
    });
    same_text(|| TableError::TypeDefinitionChanged {
        name: name(),
        alignment: 1,
        width: None,
    });
    same_text(|| TableError::TableDoesNotExist(table()));
    same_text(|| TableError::TableExists(table()));
    same_text(|| TableError::TableAlreadyOpen(table(), at));
    same_text(|| TransactionError::WouldBlock);
    same_text(|| CommitError::TransactionPoisoned);
    same_text(|| SavepointError::InvalidSavepoint);
    same_text(|| SavepointError::ImmediateDurabilityRequired);
    same_text(|| SavepointError::EphemeralSavepointUnsupported);
    same_text(|| CompactionError::PersistentSavepointExists);
    same_text(|| CompactionError::EphemeralSavepointExists);
    same_text(|| SetDurabilityError::PersistentSavepointModified);
    same_text(|| SetDurabilityError::NonDurableCommitUnsupported);
    same_text(|| CursorError::UnorderedKey);
    same_text(|| BackendError::Other("x".into()).into_storage());
}

impl BackendError {
    fn into_storage(self) -> StorageError {
        self.into()
    }
}

#[test]
fn corruption_says_where_and_what() {
    let finding = Corruption::new("page checksum")
        .page(7)
        .offset(16)
        .expected(format_args!("{:#x}", 10))
        .found(11)
        .table("users");
    assert_eq!(
        finding.to_string(),
        "page checksum in table 'users' at page 7 at byte 16: expected 0xa, found 11"
    );
    assert_eq!(finding.what(), "page checksum");
    assert_eq!(finding.page_id(), Some(7));
    assert_eq!(finding.byte_offset(), Some(16));
    assert_eq!(finding.expected_text(), Some("0xa"));
    assert_eq!(finding.found_text(), Some("11"));
    assert_eq!(finding.table_name(), Some("users"));
    assert_eq!(Corruption::from("x".to_string()), Corruption::new("x"));
    assert_eq!(size_of::<Corruption>(), size_of::<usize>());
}

#[test]
fn shortage_of_space_is_told_from_other_failures() {
    for kind in [
        io::ErrorKind::StorageFull,
        io::ErrorKind::QuotaExceeded,
        io::ErrorKind::FileTooLarge,
    ] {
        assert!(StorageError::Io(kind.into()).is_disk_full());
        assert!(Error::Io(kind.into()).is_disk_full());
    }
    assert!(!StorageError::Io(io::ErrorKind::NotFound.into()).is_disk_full());
    assert!(!StorageError::PreviousIo.is_disk_full());
}

#[cfg(target_os = "linux")]
#[test]
fn shortage_of_space_is_named_from_the_system_code() {
    for (code, cause) in [
        (28, "disk full"),
        (122, "disk quota exceeded"),
        (27, "file too large for its file system or limit"),
    ] {
        let error = StorageError::Io(io::Error::from_raw_os_error(code));
        assert!(error.is_disk_full());
        assert!(error.to_string().starts_with(cause), "{error}");
    }
}

#[test]
fn source_reaches_the_io_error_through_every_layer() {
    let error = CommitError::from(StorageError::from(io::Error::other("x")));
    let source = error.source().expect("an i/o error below");
    assert!(source.downcast_ref::<io::Error>().is_some());
    let superset = Error::from(error);
    assert!(
        superset
            .source()
            .is_some_and(|source| source.is::<io::Error>())
    );
}

#[test]
fn poisoned_lock_names_the_place() {
    let lock = Mutex::new(());
    let poison = PoisonError::new(lock);
    let text = StorageError::from(poison).to_string();
    assert!(text.contains("tests.rs"), "{text}");
}
