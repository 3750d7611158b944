//! Readers of random age beside a writer that overwrites everything hundreds of times. What a reader sees is compared
//! with a copy taken when it began; once all are gone the file must stop growing.

use bristlecone::{ReadOnlyTable, ReadTransaction, ReadableDatabase};

use crate::support::{
    Bytes, Model, Rng, assert_sound, commit, current, memory, read_rows, rows_of,
};

fn key(idx: u32) -> Vec<u8> {
    format!("key {idx:06}").into_bytes()
}

/// Overwrites all of `rows` keys, and deletes or adds some, with values that tell the round.
fn overwrite(db: &bristlecone::Database, rows: u32, round: u64, model: &mut Model) {
    let changes: Vec<(Vec<u8>, Option<Vec<u8>>)> = (0..rows)
        .map(|idx| {
            let len = if idx.is_multiple_of(97) {
                9_000
            } else {
                20 + idx as usize % 90
            };
            let value =
                (!(u64::from(idx) + round).is_multiple_of(11)).then(|| vec![round as u8; len]);
            (key(idx), value)
        })
        .collect();
    commit(
        db,
        "t",
        changes
            .iter()
            .map(|(key, value)| (key.as_slice(), value.as_deref())),
    );
    for (key, value) in changes {
        match value {
            Some(value) => drop(model.insert(key, value)),
            None => drop(model.remove(&key)),
        }
    }
}

enum Reader {
    Transaction(ReadTransaction),
    Table(ReadOnlyTable<&'static [u8], &'static [u8]>),
}

impl Reader {
    fn rows(&self) -> Model {
        match self {
            Reader::Transaction(txn) => read_rows(txn, "t"),
            Reader::Table(table) => rows_of(table),
        }
    }
}

#[test]
fn readers_of_any_age_keep_their_state_and_their_space_comes_back() {
    let (db, backend) = memory(4096, 256 << 10);
    let mut rng = Rng::new(17);
    let mut model = Model::new();
    let mut held: Vec<(Reader, Model)> = Vec::new();
    for round in 0..300 {
        overwrite(&db, 300, round, &mut model);
        if rng.below(3) == 0 {
            let txn = db.begin_read().unwrap();
            let reader = if rng.below(2) == 0 {
                Reader::Table(txn.open_table(Bytes::new("t")).unwrap())
            } else {
                Reader::Transaction(txn)
            };
            held.push((reader, model.clone()));
        }
        if held.len() > 8 || (!held.is_empty() && rng.below(5) == 0) {
            let (reader, then) = held.swap_remove(rng.below(held.len() as u64) as usize);
            assert!(reader.rows() == then, "round {round}: a snapshot changed");
        }
        if round % 50 == 0 {
            for (reader, then) in &held {
                assert!(reader.rows() == *then, "round {round}: a snapshot changed");
            }
            assert_sound(&db);
        }
    }
    drop(held);
    for round in 300..310 {
        overwrite(&db, 300, round, &mut model);
    }
    let size = backend.size();
    for round in 310..400 {
        overwrite(&db, 300, round, &mut model);
    }
    assert!(
        backend.size() <= size,
        "grew from {size} to {}",
        backend.size()
    );
    assert!(current(&db, "t") == model);
    assert_sound(&db);
}

/// FAILURES C01: a version held for long pins what it reaches, and nothing of what came after it.
#[test]
fn a_reader_held_for_long_pins_its_own_pages_and_no_others() {
    let (db, backend) = memory(4096, 256 << 10);
    let mut model = Model::new();
    overwrite(&db, 1000, 0, &mut model);
    overwrite(&db, 1000, 1, &mut model);
    let base = backend.size();
    let held = db.begin_read().unwrap();
    let then = model.clone();
    for round in 2..200 {
        overwrite(&db, 1000, round, &mut model);
    }
    let while_held = backend.size();
    assert!(
        while_held <= 4 * base,
        "a reader pins what is younger than it: {base} to {while_held}"
    );
    let pinned = db.begin_read().unwrap().stats().unwrap().pinned_pages();
    assert!(pinned * 4096 >= then.values().map(|value| value.len() as u64).sum());
    assert!(read_rows(&held, "t") == then);
    drop(held);
    for round in 200..220 {
        overwrite(&db, 1000, round, &mut model);
    }
    let released = backend.size();
    for round in 220..300 {
        overwrite(&db, 1000, round, &mut model);
    }
    assert!(backend.size() <= released, "space does not come back");
    assert!(released <= while_held);
    let stats = db.begin_read().unwrap().stats().unwrap();
    assert!(stats.pinned_pages() < pinned * 2, "{stats:?}");
    assert!(current(&db, "t") == model);
    assert_sound(&db);
}

/// FAILURES E13: two readers of one version; the end of one must not release the other's pages.
#[test]
fn the_end_of_one_reader_leaves_another_of_the_same_version_alone() {
    let (db, _) = memory(4096, 64 << 10);
    let mut model = Model::new();
    overwrite(&db, 500, 0, &mut model);
    let first = db.begin_read().unwrap();
    let second = db.begin_read().unwrap();
    let table = second.open_table(Bytes::new("t")).unwrap();
    let range = table.range::<&[u8]>(..).unwrap();
    let then = model.clone();
    drop(first);
    for round in 1..100 {
        overwrite(&db, 500, round, &mut model);
    }
    assert!(read_rows(&second, "t") == then);
    drop(second);
    for round in 100..150 {
        overwrite(&db, 500, round, &mut model);
    }
    assert!(rows_of(&table) == then);
    drop(table);
    for round in 150..200 {
        overwrite(&db, 500, round, &mut model);
    }
    let rows = range.map(|row| {
        let (key, value) = row.unwrap();
        (key.value().to_vec(), value.value().to_vec())
    });
    assert!(rows.eq(then));
    assert_sound(&db);
}

#[test]
fn deleted_tables_stay_readable_in_older_snapshots() {
    let (db, backend) = memory(4096, 64 << 10);
    let mut model = Model::new();
    let mut sizes = Vec::new();
    for round in 0..30 {
        overwrite(&db, 400, round, &mut model);
        let held = db.begin_read().unwrap();
        let then = std::mem::take(&mut model);
        let txn = db.begin_write().unwrap();
        txn.delete_table(Bytes::new("t")).unwrap();
        txn.commit().unwrap();
        commit(&db, "other", [(&b"k"[..], Some(&b"v"[..]))]);
        assert!(read_rows(&held, "t") == then);
        assert!(current(&db, "t").is_empty());
        sizes.push(backend.size());
    }
    assert!(sizes[29] <= sizes[5], "{sizes:?}");
    assert_sound(&db);
}
