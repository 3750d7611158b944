//! A disk without room: every call that takes room fails in turn, with each of the three errors that say so. After each
//! failure the acknowledged commits must be there, and once there is room work must go on, in the same handle where
//! the engine did not have to stop and after a new opening in any case.

use bristlecone::{
    CommitError, Database, DatabaseError, ReadableDatabase, ReadableTable, StorageError,
    TransactionError,
};

use crate::support::{Bytes, Faults, Model, Shared, assert_sound, commit, current};

const ENOSPC: i32 = 28;
#[cfg(target_os = "linux")]
const EDQUOT: i32 = 122;
#[cfg(not(target_os = "linux"))]
const EDQUOT: i32 = 69;
const EFBIG: i32 = 27;

const CAUSES: [(i32, &str); 3] = [
    (ENOSPC, "disk full"),
    (EDQUOT, "disk quota exceeded"),
    (EFBIG, "file too large"),
];

fn open(backend: &Shared) -> Result<Database, DatabaseError> {
    Database::builder()
        .set_page_size(4096)
        .set_cache_size(64 << 10)
        .create_with_backend(backend.clone())
}

/// Changes enough to spill, to write extents and to grow the file. Returns the rows that there should be afterwards,
/// and whether they are committed.
fn try_change(db: &Database, round: u8, model: &Model) -> (Model, Result<(), StorageError>) {
    let mut draft = model.clone();
    let outcome = (|| {
        let txn = db.begin_write().map_err(|error| match error {
            TransactionError::Storage(error) => error,
            error => panic!("{error}"),
        })?;
        let mut table = txn.open_table(Bytes::new("t")).unwrap();
        for idx in 0..400_u32 {
            let len = if idx % 50 == 7 { 70_000 } else { 100 };
            let (key, value) = (idx.to_be_bytes(), vec![round; len]);
            if idx % 5 == u32::from(round % 5) {
                table.remove(&key[..])?;
                draft.remove(&key[..]);
            } else {
                table.insert(&key[..], value.as_slice())?;
                draft.insert(key.to_vec(), value);
            }
        }
        drop(table);
        txn.commit().map_err(|error| match error {
            CommitError::Storage(error) => error,
            error => panic!("{error}"),
        })
    })();
    (draft, outcome)
}

fn change(db: &Database, round: u8, model: &mut Model) -> Result<(), StorageError> {
    let (draft, outcome) = try_change(db, round, model);
    outcome.map(|()| *model = draft)
}

/// Fails unless the error says that there is no room, and why, or that such an error has stopped writing before.
fn assert_names_the_cause(error: &StorageError, cause: &str) {
    let text = error.to_string();
    assert!(error.is_disk_full() && text.starts_with(cause), "{text}");
}

#[test]
fn every_call_that_takes_room_may_fail_and_nothing_acknowledged_is_lost() {
    let template = Shared::default();
    let mut committed = Model::new();
    let db = open(&template).unwrap();
    for round in 0..2 {
        change(&db, round, &mut committed).unwrap();
    }
    db.close().unwrap();
    let bytes = template.bytes();
    let mut failures = 0;
    for after in 0.. {
        let (errno, cause) = CAUSES[after as usize % 3];
        let backend = Shared::of(bytes.clone());
        let mut model = committed.clone();
        let db = open(&backend).unwrap();
        backend.set_faults(Faults {
            after: Some(after),
            quota: None,
            errno,
        });
        let (mut unknown, outcome) = try_change(&db, 2, &model);
        backend.set_faults(Faults::default());
        match &outcome {
            Ok(()) => model = unknown.clone(),
            Err(error) => {
                assert_names_the_cause(error, cause);
                failures += 1;
            }
        }
        assert!(current(&db, "t") == model, "call {after}: reads changed");
        match change(&db, 3, &mut model) {
            // A header that may be half written stops writing, and its commit shows at the next opening or not.
            Err(StorageError::PreviousIo) => assert!(outcome.is_err()),
            Err(error) => panic!("call {after}: {error}"),
            Ok(()) => {
                unknown.clone_from(&model);
                assert_sound(&db);
            }
        }
        drop(db);
        let db = open(&Shared::of(backend.bytes())).unwrap();
        let found = current(&db, "t");
        assert!(
            found == model || found == unknown,
            "call {after}: rows lost"
        );
        model = found;
        assert_sound(&db);
        change(&db, 4, &mut model).unwrap();
        assert!(current(&db, "t") == model);
        assert_sound(&db);
        if outcome.is_ok() {
            break;
        }
    }
    assert!(failures > 20, "{failures}");
}

#[test]
fn a_quota_stops_growth_and_nothing_else() {
    for (errno, cause) in CAUSES {
        let backend = Shared::default();
        let db = open(&backend).unwrap();
        let mut model = Model::new();
        change(&db, 0, &mut model).unwrap();
        let quota = backend.size() + 200_000;
        backend.set_faults(Faults {
            after: None,
            quota: Some(quota),
            errno,
        });
        let mut stopped = false;
        for part in 0..100_u32 {
            let rows: Vec<_> = (0..50_u32)
                .map(|idx| ((part, idx), [part as u8; 500]))
                .collect();
            let txn = db.begin_write().unwrap();
            let mut draft = model.clone();
            let filled: Result<(), StorageError> = (|| {
                let mut table = txn.open_table(Bytes::new("t")).unwrap();
                for ((part, idx), value) in &rows {
                    let key = [part.to_be_bytes(), idx.to_be_bytes()].concat();
                    table.insert(key.as_slice(), &value[..])?;
                    draft.insert(key, value.to_vec());
                }
                Ok(())
            })();
            let outcome = filled.and_then(|()| {
                txn.commit().map_err(|error| match error {
                    CommitError::Storage(error) => error,
                    error => panic!("{error}"),
                })
            });
            match outcome {
                Ok(()) => model = draft,
                Err(error) => {
                    assert_names_the_cause(&error, cause);
                    stopped = true;
                    break;
                }
            }
        }
        assert!(stopped && backend.size() <= quota);
        assert!(current(&db, "t") == model);
        assert_sound(&db);
        // Deleting makes room without any more of it.
        let keys: Vec<Vec<u8>> = model
            .keys()
            .filter(|key| key.len() == 4)
            .take(60)
            .cloned()
            .collect();
        commit(&db, "t", keys.iter().map(|key| (key.as_slice(), None)));
        backend.set_faults(Faults::default());
        for key in &keys {
            model.remove(key);
        }
        change(&db, 1, &mut model).unwrap();
        assert!(current(&db, "t") == model);
        assert_sound(&db);
        drop(db);
        assert_sound(&open(&Shared::of(backend.bytes())).unwrap());
    }
}

/// A program that meets an error in the middle of a transaction, makes room and goes on with the same one.
#[test]
fn a_transaction_that_lost_a_write_does_not_commit_half_of_it() {
    let mut refused = 0;
    for after in (0..400).step_by(3) {
        let backend = Shared::default();
        let db = open(&backend).unwrap();
        let mut model = Model::new();
        change(&db, 0, &mut model).unwrap();
        let txn = db.begin_write().unwrap();
        backend.set_faults(Faults {
            after: Some(after),
            quota: None,
            errno: ENOSPC,
        });
        let mut draft = model.clone();
        let mut failed = false;
        {
            let mut table = txn.open_table(Bytes::new("t")).unwrap();
            for idx in 0..3000_u32 {
                let len = if idx % 100 == 9 { 70_000 } else { 60 };
                let (key, value) = ((idx % 700).to_be_bytes(), vec![idx as u8; len]);
                // Tried twice: the second time there is room.
                for _ in 0..2 {
                    match table.insert(&key[..], value.as_slice()) {
                        Ok(_) => break,
                        Err(error) => {
                            assert_names_the_cause(&error, "disk full");
                            failed = true;
                            backend.set_faults(Faults::default());
                        }
                    }
                }
                draft.insert(key.to_vec(), value);
            }
        }
        backend.set_faults(Faults::default());
        match txn.commit() {
            Ok(()) => model = draft,
            Err(CommitError::TransactionPoisoned) => {
                assert!(failed);
                refused += 1;
            }
            Err(error) => panic!("call {after}: {error}"),
        }
        assert!(current(&db, "t") == model, "call {after}: rows differ");
        assert_sound(&db);
    }
    assert!(refused > 0);
}

#[test]
fn a_new_database_without_room_is_no_database_and_can_be_made_later() {
    for after in 0..3 {
        for (errno, cause) in CAUSES {
            let backend = Shared::default();
            backend.set_faults(Faults {
                after: Some(after),
                quota: None,
                errno,
            });
            match open(&backend).map(drop).unwrap_err() {
                DatabaseError::Storage(error) => assert_names_the_cause(&error, cause),
                error => panic!("{error}"),
            }
            let db = open(&Shared::of(backend.bytes())).unwrap();
            commit(&db, "t", [(&b"k"[..], Some(&b"v"[..]))]);
            assert_sound(&db);
        }
    }
}

#[test]
fn readers_go_on_while_there_is_no_room() {
    let backend = Shared::default();
    let db = open(&backend).unwrap();
    let mut model = Model::new();
    change(&db, 0, &mut model).unwrap();
    let held = db.begin_read().unwrap();
    let table = held.open_table(Bytes::new("t")).unwrap();
    let mut range = table.iter().unwrap();
    range.next().unwrap().unwrap();
    backend.set_faults(Faults {
        after: Some(20),
        quota: None,
        errno: ENOSPC,
    });
    assert!(change(&db, 1, &mut model.clone()).is_err());
    assert_eq!(range.count() + 1, model.len());
    assert!(crate::support::rows_of(&table) == model);
    assert!(current(&db, "t") == model);
}
