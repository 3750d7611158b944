//! Large keys and values: every length around the page size, then megabytes, then the limits. Values outside the pages
//! are overwritten and deleted in all the ways that could lose track of their space.

use bristlecone::{Database, StorageError};

use crate::support::{Bytes, Model, Rng, Shared, assert_sound, commit, current, memory};

/// A key of `len` bytes that differs from others of its length only at the end.
fn long_key(len: usize, tail: u8) -> Vec<u8> {
    let mut key = vec![b'k'; len];
    if let Some(last) = key.last_mut() {
        *last = tail;
    }
    key
}

fn store(db: &Database, model: &mut Model, rows: Vec<(Vec<u8>, Vec<u8>)>) {
    commit(
        db,
        "t",
        rows.iter()
            .map(|(key, value)| (key.as_slice(), Some(value.as_slice()))),
    );
    model.extend(rows);
    assert!(current(db, "t") == *model, "rows differ");
}

fn delete(db: &Database, model: &mut Model, keys: &[Vec<u8>]) {
    commit(db, "t", keys.iter().map(|key| (key.as_slice(), None)));
    for key in keys {
        assert!(model.remove(key).is_some());
    }
    assert!(current(db, "t") == *model, "rows differ");
}

fn reopened(db: Database, backend: &Shared) -> Database {
    db.close().unwrap();
    let bytes = backend.bytes();
    Database::builder()
        .create_with_backend(Shared::of(bytes))
        .unwrap()
}

#[test]
fn keys_of_every_length_around_the_page_size_work() {
    for page in [4096, 16384] {
        let (db, backend) = memory(page, 1 << 20);
        let mut model = Model::new();
        let lengths: Vec<usize> = (0..4).chain(page - 64..=page + 64).collect();
        for part in lengths.chunks(40) {
            let rows = part
                .iter()
                .map(|&len| (long_key(len, b'a'), vec![1; len % 7]));
            store(&db, &mut model, rows.collect());
        }
        let rows = lengths
            .iter()
            .filter(|len| **len > 0)
            .map(|&len| (long_key(len, b'z'), vec![2; 5000 - len % 7]));
        store(&db, &mut model, rows.collect());
        assert_sound(&db);
        let db = reopened(db, &backend);
        assert!(current(&db, "t") == model);
        let keys: Vec<Vec<u8>> = model.keys().cloned().collect();
        for part in keys.chunks(100) {
            delete(&db, &mut model, part);
            assert_sound(&db);
        }
    }
}

#[test]
fn values_of_every_length_around_the_thresholds_work() {
    let (db, backend) = memory(4096, 1 << 20);
    let mut model = Model::new();
    let near = |at: usize| at - 40..=at + 40;
    let lengths = (0..4)
        .chain(near(1024))
        .chain(near(2048))
        .chain(near(4096))
        .chain(near(65536))
        .chain([3 * 4096, 3 * 4096 + 1]);
    let rows = lengths.map(|len| ((len as u32).to_be_bytes().to_vec(), vec![len as u8; len]));
    store(&db, &mut model, rows.collect());
    assert_sound(&db);
    let db = reopened(db, &backend);
    assert!(current(&db, "t") == model);
    assert_sound(&db);
}

#[test]
fn keys_of_100_kb_to_5_mb_sort_and_divide_leaves() {
    let (db, backend) = memory(8192, 4 << 20);
    let mut model = Model::new();
    let mut rows = Vec::new();
    for len in [100_000, 300_000, 1_000_000, 5_000_000] {
        for tail in [b'a', b'm', b'z'] {
            rows.push((long_key(len, tail), vec![tail; 10]));
        }
    }
    store(&db, &mut model, rows);
    let small = (0..2000_u32).map(|idx| (idx.to_be_bytes().to_vec(), vec![0; 20]));
    store(&db, &mut model, small.collect());
    assert_sound(&db);
    let db = reopened(db, &backend);
    let long: Vec<Vec<u8>> = model.keys().filter(|key| key.len() > 4).cloned().collect();
    delete(&db, &mut model, &long[..6]);
    delete(&db, &mut model, &long[6..]);
    assert_sound(&db);
}

#[test]
fn values_of_up_to_20_mb_come_back_and_their_space_is_reused() {
    let (db, backend) = memory(8192, 4 << 20);
    let mut sizes = Vec::new();
    for round in 0..6_u8 {
        let mut model = Model::new();
        let rows = [100_000, 1_000_000, 20_000_000].iter().map(|&len| {
            (
                format!("{len}").into_bytes(),
                vec![round; len + usize::from(round)],
            )
        });
        store(&db, &mut model, rows.collect());
        sizes.push(backend.size());
    }
    assert_sound(&db);
    assert_eq!(sizes[3], sizes[5], "{sizes:?}");
    let db = reopened(db, &backend);
    let mut model = current(&db, "t");
    let keys: Vec<Vec<u8>> = model.keys().cloned().collect();
    delete(&db, &mut model, &keys);
    assert_sound(&db);
}

#[test]
fn large_values_are_overwritten_and_deleted_within_one_transaction() {
    for cache in [0, 64 << 20] {
        let (db, backend) = memory(4096, cache);
        let mut rng = Rng::new(7);
        let mut model = Model::new();
        for round in 0..6 {
            let txn = db.begin_write().unwrap();
            {
                let mut table = txn.open_table(Bytes::new("t")).unwrap();
                for _ in 0..200 {
                    let key = rng.below(30).to_be_bytes().to_vec();
                    if rng.below(4) == 0 {
                        let old = table.remove(key.as_slice()).unwrap();
                        assert!(old.map(|old| old.value().to_vec()) == model.remove(&key));
                    } else {
                        let len = [10, 3_000, 66_000, 150_000][rng.below(4) as usize];
                        let value = vec![rng.next() as u8; len + rng.below(100) as usize];
                        let old = table.insert(key.as_slice(), value.as_slice()).unwrap();
                        assert!(old.map(|old| old.value().to_vec()) == model.insert(key, value));
                    }
                }
            }
            txn.commit().unwrap();
            assert!(current(&db, "t") == model, "round {round}");
            assert_sound(&db);
        }
        assert!(backend.size() < 30 << 20, "{}", backend.size());
    }
}

#[test]
fn the_file_stays_flat_over_fifty_rounds_of_overwriting_and_deleting() {
    let (db, backend) = memory(4096, 1 << 20);
    let mut rng = Rng::new(11);
    let mut most = 0;
    for round in 0..50_u32 {
        let rows: Vec<(Vec<u8>, Option<Vec<u8>>)> = (0..300_u32)
            .map(|idx| {
                let len = [20, 200, 3_000, 30_000][idx as usize % 4] + rng.below(20) as usize;
                let value = ((idx + round) % 3 > 0).then(|| vec![round as u8; len]);
                (idx.to_be_bytes().to_vec(), value)
            })
            .collect();
        commit(
            &db,
            "t",
            rows.iter()
                .map(|(key, value)| (key.as_slice(), value.as_deref())),
        );
        if round == 10 {
            most = backend.size();
        }
    }
    assert!(
        backend.size() <= most + most / 4,
        "grew from {most} to {}",
        backend.size()
    );
    assert_sound(&db);
}

/// A slice of zeros that takes address space but, until something reads or writes it, no memory.
fn zeros(len: usize) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    drop(bytes);
    Some(vec![0; len])
}

#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn what_is_too_large_is_refused_before_it_is_copied() {
    const LIMIT: usize = 3 << 30;
    let Some(over) = zeros(LIMIT + 1) else {
        return;
    };
    let (db, backend) = memory(4096, 1 << 20);
    commit(&db, "t", [(&b"k"[..], Some(&b"v"[..]))]);
    let txn = db.begin_write().unwrap();
    let before = resident_bytes();
    {
        let mut table = txn.open_table(Bytes::new("t")).unwrap();
        let mut too_large = |key: &[u8], value: &[u8], len: usize| {
            let error = table.insert(key, value).unwrap_err();
            assert!(matches!(error, StorageError::ValueTooLarge(found) if found == len));
            assert!(error.to_string().contains(&len.to_string()), "{error}");
        };
        too_large(b"k", &over, LIMIT + 1);
        too_large(&over, b"v", LIMIT + 1);
        too_large(
            &over[..LIMIT],
            &over[..LIMIT / 4 + 1],
            LIMIT + LIMIT / 4 + 1,
        );
        table.insert(&b"l"[..], &b"w"[..]).unwrap();
    }
    txn.commit().unwrap();
    assert!(
        resident_bytes() < before + (256 << 20),
        "something was copied"
    );
    let rows = current(&db, "t");
    assert_eq!((rows.len(), rows[&b"k"[..]].as_slice()), (2, &b"v"[..]));
    assert!(backend.size() < 1 << 20);
    assert_sound(&db);
}
