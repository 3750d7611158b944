//! Golden files: databases of every format version, opened, checked and read by every later build that reads the format.
//!
//! `three-keys-0.1` is the file that `docs/format.md` explains byte by byte; writing it again must give the same bytes.
//! `every-kind-0.1` holds each kind of page, key order and value that the format has, and is only ever read: which rows
//! share a page is the builder's choice, not the format's.

mod every_kind;
pub(crate) mod kept;

use bristlecone::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
};

use kept::Kept;

const THREE_KEYS: &[u8] = include_bytes!("../fixtures/three-keys-0.1.bristlecone");
const EVERY_KIND: &[u8] = include_bytes!("../fixtures/every-kind-0.1.bristlecone");

const PINES: TableDefinition<&str, u32> = TableDefinition::new("pines");
const AGES: [(&str, u32); 3] = [
    ("pine/bristlecone", 4857),
    ("pine/limber", 1670),
    ("pine/whitebark", 1267),
];

/// Writes the three keys with the smallest pages and closes the file.
fn write_three_keys() -> Vec<u8> {
    let kept = Kept::default();
    let mut builder = Database::builder();
    builder.set_page_size(4096);
    let db = builder.create_with_backend(kept.clone()).unwrap();
    let txn = db.begin_write().unwrap();
    {
        let mut pines = txn.open_table(PINES).unwrap();
        for (name, age) in AGES {
            pines.insert(name, age).unwrap();
        }
    }
    txn.commit().unwrap();
    db.close().unwrap();
    kept.bytes()
}

/// Opens a golden file for writing, after a check that found nothing.
fn open_sound(golden: &[u8]) -> Database {
    let report = bristlecone::check_backend(Kept::new(golden), &mut |_| {}).unwrap();
    assert_eq!(report.findings, []);
    let db = Database::builder()
        .create_with_backend(Kept::new(golden))
        .unwrap();
    let report = db.check(&mut |_| {}).unwrap();
    assert_eq!(report.findings, []);
    db
}

#[test]
fn three_keys_are_written_byte_for_byte() {
    let written = write_three_keys();
    let differing = written
        .iter()
        .zip(THREE_KEYS)
        .position(|(left, right)| left != right);
    assert_eq!(differing, None, "first differing byte");
    assert_eq!(written.len(), THREE_KEYS.len());
}

#[test]
fn three_keys_are_read() {
    let db = open_sound(THREE_KEYS);
    let pines = db.begin_read().unwrap().open_table(PINES).unwrap();
    let rows: Vec<(String, u32)> = pines
        .iter()
        .unwrap()
        .map(|row| {
            row.map(|(name, age)| (name.value().to_owned(), age.value()))
                .unwrap()
        })
        .collect();
    let ages: Vec<(String, u32)> = AGES.map(|(name, age)| (name.to_owned(), age)).into();
    assert_eq!(rows, ages);
}

/// One line of the dump in `docs/format.md`: six digits of offset, two blanks, bytes in columns 8 to 57.
fn dump_line(line: &str) -> Option<(usize, Vec<u8>)> {
    let at = usize::from_str_radix(line.get(..6)?, 16).ok()?;
    let shown = line.get(8..line.len().min(57))?.replace('|', " ");
    let bytes = shown
        .split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16));
    Some((at, bytes.collect::<Result<_, _>>().ok()?))
}

#[test]
fn the_dump_in_the_format_document_is_the_golden_file() {
    let document = include_str!("../../../../docs/format.md");
    let (_, dump) = document.rsplit_once("## 11.").unwrap();
    let mut shown = vec![0; THREE_KEYS.len()];
    for (at, bytes) in dump.lines().filter_map(dump_line) {
        shown[at..at + bytes.len()].copy_from_slice(&bytes);
    }
    // Both header slots say the same; the document shows one.
    shown.copy_within(..4096, 4096);
    let differing = shown
        .iter()
        .zip(THREE_KEYS)
        .position(|(left, right)| left != right);
    assert_eq!(differing, None, "first differing byte");
}

#[test]
fn every_kind_is_read() {
    let db = open_sound(EVERY_KIND);
    every_kind::verify(&db);
}

#[test]
fn every_kind_is_written_on() {
    let kept = Kept::new(EVERY_KIND);
    let db = Database::builder()
        .create_with_backend(kept.clone())
        .unwrap();
    let txn = db.begin_write().unwrap();
    txn.open_table(PINES)
        .unwrap()
        .insert("pine/foxtail", 2123)
        .unwrap();
    txn.commit().unwrap();
    every_kind::verify(&db);
    db.close().unwrap();

    let db = open_sound(&kept.bytes());
    every_kind::verify(&db);
    let pines = db.begin_read().unwrap().open_table(PINES).unwrap();
    assert_eq!(pines.len().unwrap(), 1);
}

#[test]
fn golden_files_are_small() {
    assert!(THREE_KEYS.len() < 64 << 10);
    assert!(EVERY_KIND.len() < 200 << 10);
}

/// Writes the golden files of the current format into the source tree; asked for when a format version is born, never
/// after.
#[test]
fn golden_files_are_written_when_asked_for() {
    if std::env::var_os("BRISTLECONE_WRITE_FIXTURES").is_none() {
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let version = bristlecone::FILE_FORMAT;
    for (name, bytes) in [
        ("three-keys", write_three_keys()),
        ("every-kind", every_kind::write()),
    ] {
        std::fs::write(format!("{folder}/{name}-{version}.bristlecone"), bytes).unwrap();
    }
}
