//! A small database file that holds every kind of page, and the judgement of what a reader makes of a damaged copy of
//! it: each table is right to the end, or a right beginning followed by a typed error.

use std::io;
use std::ops::Bound;
use std::sync::Arc;

use bristlecone::{
    CheckReport, Database, DatabaseError, ReadOnlyDatabase, ReadableDatabase, StorageBackend,
    StorageError, TableDefinition, TableError, TableHandle, check_backend,
};

use crate::support::{Bytes, Rng, Shared, commit};

pub(crate) const UNIT: usize = 4096;

/// Rows of one table as stored, in key order.
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// What a unit of the file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Slot,
    Leaf,
    Branch,
    Map,
    Names,
    Roots,
    Extent,
    Unreached,
}

/// A closed database file and what is in it.
#[derive(Debug)]
pub(crate) struct Corpus {
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) tables: Vec<(String, Rows)>,
    /// Per unit: its kind, and the first unit of the page or extent it belongs to.
    pub(crate) units: Vec<(Kind, u64)>,
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Reads a 48-bit integer.
pub(crate) fn u48_at(bytes: &[u8], at: usize) -> u64 {
    let mut wide = [0; 8];
    wide[..6].copy_from_slice(&bytes[at..at + 6]);
    u64::from_le_bytes(wide)
}

pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(bytes)
}

impl Corpus {
    /// Builds a file of roughly `units` units in several commits, so that some units hold what was freed.
    pub(crate) fn build(units: usize) -> Corpus {
        let backend = Shared::default();
        let db = Database::builder()
            .set_page_size(UNIT)
            .set_cache_size(1 << 20)
            .create_with_backend(backend.clone())
            .unwrap();
        fill(&db, units);
        let tables = stored_tables(&db);
        db.close().unwrap();
        let bytes = backend.bytes();
        let units = map_units(&bytes, &tables);
        Corpus {
            bytes: Arc::new(bytes),
            tables,
            units,
        }
    }

    /// Units of one kind, the first of each page or extent.
    pub(crate) fn of_kind(&self, kind: Kind) -> Vec<usize> {
        let first = |idx: usize| self.units[idx] == (kind, idx as u64);
        (0..self.units.len()).filter(|&idx| first(idx)).collect()
    }

    /// Where the page that starts at unit `first` lies in the file.
    pub(crate) fn place_of(&self, first: usize) -> std::ops::Range<usize> {
        let owner = self.units[first];
        let mut end = first + 1;
        while self.units.get(end) == Some(&owner) {
            end += 1;
        }
        first * UNIT..end * UNIT
    }

    /// Reads everything through a read-only database; returns whether all of it was there.
    ///
    /// # Panics
    /// If wrong data, or an error that is not one of damage, comes out.
    pub(crate) fn judge(&self, backend: impl StorageBackend) -> bool {
        let mut builder = Database::builder();
        builder.set_cache_size(1 << 20);
        let db = match builder.open_read_only_with_backend(backend) {
            Ok(db) => db,
            Err(DatabaseError::Storage(error)) => return !is_damage(&error),
            Err(DatabaseError::NotADatabase | DatabaseError::UpgradeRequired(_)) => return false,
            Err(error) => panic!("{error}"),
        };
        self.judge_open(&db)
    }

    fn judge_open(&self, db: &ReadOnlyDatabase) -> bool {
        let read = db.begin_read().unwrap();
        let names: Option<Vec<String>> = match read.list_tables() {
            Ok(handles) => Some(handles.map(|handle| handle.name().to_owned()).collect()),
            Err(error) => (!is_damage(&error)).then(Vec::new),
        };
        let expected = self.tables.iter().map(|(name, _)| name);
        assert!(
            names.as_ref().is_none_or(|names| names.iter().eq(expected)),
            "wrong tables: {names:?}"
        );
        let mut whole = names.is_some();
        for (name, rows) in &self.tables {
            let table = match read
                .open_untyped_table(bristlecone::UntypedTableHandle::new(name.as_str()))
            {
                Ok(table) => table,
                Err(TableError::Storage(error)) => {
                    whole &= !is_damage(&error);
                    continue;
                }
                Err(error) => panic!("{name}: {error}"),
            };
            let mut expected = rows.iter();
            for row in table
                .range_stored(Bound::Unbounded, Bound::Unbounded)
                .unwrap()
            {
                let (key, value) = match row {
                    Ok(row) => row,
                    Err(error) => {
                        assert!(is_damage(&error), "{error}");
                        whole = false;
                        expected = [].iter();
                        break;
                    }
                };
                let (right_key, right_value) = expected.next().expect("too many rows");
                assert!(*right_key == *key && *right_value == *value, "wrong row");
            }
            assert!(expected.next().is_none(), "{name}: rows are missing");
        }
        whole
    }
}

/// Whether the error says that bytes are damaged; no other is expected of a damaged file.
fn is_damage(error: &StorageError) -> bool {
    assert!(matches!(error, StorageError::Corrupted(_)), "{error}");
    true
}

/// Checks a file that has an intact header slot.
pub(crate) fn check(backend: impl StorageBackend) -> Option<CheckReport> {
    match check_backend(backend, &mut |_| {}) {
        Ok(report) => Some(report),
        Err(DatabaseError::Storage(error)) => (!is_damage(&error)).then(CheckReport::default),
        Err(DatabaseError::NotADatabase | DatabaseError::UpgradeRequired(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

fn fill(db: &Database, units: usize) {
    let mut rng = Rng::new(99);
    let count = units as u32 * 8;
    for round in 0..3_u32 {
        let rows: Vec<_> = (0..count)
            .filter(|idx| round == 0 || idx % 40 == round)
            .map(|idx| {
                let len = 150 + rng.below(180) as usize;
                (format!("row {idx:06}").into_bytes(), rng.bytes(len))
            })
            .collect();
        commit(
            db,
            "rows",
            rows.iter().map(|(key, value)| (&key[..], Some(&value[..]))),
        );
        let long = [b'L'; 5000];
        commit(
            db,
            "long",
            [(&long[..], Some(&b"x"[..])), (&long[1..], Some(b"y"))],
        );
        let values: Vec<Vec<u8>> = [4096, 9000, 70_000_usize.min(units * 200)]
            .iter()
            .map(|&len| rng.bytes(len))
            .collect();
        let keys = [b"a", b"b", b"c"];
        commit(
            db,
            "big",
            keys.iter()
                .zip(&values)
                .map(|(key, value)| (&key[..], Some(&value[..]))),
        );
    }
    let txn = db.begin_write().unwrap();
    let numbers: TableDefinition<i32, Option<&str>> = TableDefinition::new("numbers");
    let pairs: TableDefinition<(&str, u16), ()> = TableDefinition::new("pairs");
    for idx in 0..100_i32 {
        let mut table = txn.open_table(numbers).unwrap();
        table
            .insert(idx - 50, (idx % 2 == 0).then_some("even"))
            .unwrap();
        let mut table = txn.open_table(pairs).unwrap();
        table.insert(("pair", idx as u16), ()).unwrap();
    }
    drop(txn.open_table(Bytes::new("empty")).unwrap());
    txn.commit().unwrap();
}

fn stored_tables(db: &Database) -> Vec<(String, Rows)> {
    let read = db.begin_read().unwrap();
    let handles: Vec<_> = read.list_tables().unwrap().collect();
    handles
        .into_iter()
        .map(|handle| {
            let name = handle.name().to_owned();
            let table = read.open_untyped_table(handle).unwrap();
            let rows = table
                .range_stored(Bound::Unbounded, Bound::Unbounded)
                .unwrap();
            let rows = rows.map(|row| row.map(|(key, value)| (key.to_vec(), value.to_vec())));
            (name, rows.collect::<Result<_, _>>().unwrap())
        })
        .collect()
}

/// Finds out what every unit belongs to, by the format alone.
fn map_units(bytes: &[u8], tables: &[(String, Rows)]) -> Vec<(Kind, u64)> {
    let count = bytes.len() / UNIT;
    let mut units: Vec<(Kind, u64)> = (0..count)
        .map(|idx| (Kind::Unreached, idx as u64))
        .collect();
    units[0].0 = Kind::Slot;
    units[1].0 = Kind::Slot;
    assert_eq!(bytes[176], 0, "the map is one page");
    let map = u64_at(bytes, 160) as usize;
    let reached = |unit: usize| bytes[map * UNIT + 32 + unit / 8] >> (unit % 8) & 1 == 1;
    let (names, roots) = (u48_at(bytes, 96) as usize, u48_at(bytes, 128) as usize);
    let mut claim = |kind: Kind, first: usize, len: usize| {
        for unit in &mut units[first..first + len.div_ceil(UNIT)] {
            assert_eq!(unit.0, Kind::Unreached, "claimed twice");
            *unit = (kind, first as u64);
        }
    };
    for unit in (2..count).filter(|&unit| reached(unit)) {
        let page = &bytes[unit * UNIT..];
        let len = u32::from_le_bytes(page[24..28].try_into().unwrap()) as usize * UNIT;
        let is_page = len > 0
            && u64_at(page, 8) == unit as u64
            && page.len() >= len
            && checksum(&page[..len - 8]) == u64_at(page, len - 8);
        if is_page {
            let kind = match page[0] {
                1 if unit == names => Kind::Names,
                1 if unit == roots => Kind::Roots,
                1 => Kind::Leaf,
                2 => Kind::Branch,
                _ => Kind::Map,
            };
            claim(kind, unit, len);
            continue;
        }
        let starts_here = |value: &&Vec<u8>| value.len() >= 2000 && page.starts_with(value);
        let values = tables.iter().flat_map(|(_, rows)| rows);
        if let Some(value) = values.map(|(_, value)| value).find(starts_here) {
            claim(Kind::Extent, unit, value.len());
        }
    }
    for (idx, unit) in units.iter().enumerate().skip(2) {
        assert_eq!(reached(idx), unit.0 != Kind::Unreached, "unit {idx}");
    }
    units
}

/// A file of which one byte reads changed. Nothing can be written.
#[derive(Clone, Debug)]
pub(crate) struct Flipped {
    pub(crate) base: Arc<Vec<u8>>,
    pub(crate) at: usize,
    pub(crate) xor: u8,
}

impl StorageBackend for Flipped {
    fn len(&self) -> io::Result<u64> {
        Ok(self.base.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let Some(found) = self.base.get(start..start + out.len()) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        out.copy_from_slice(found);
        if let Some(byte) = self.at.checked_sub(start).and_then(|idx| out.get_mut(idx)) {
            *byte ^= self.xor;
        }
        Ok(())
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        panic!("length changed by a reader");
    }

    fn sync_data(&self) -> io::Result<()> {
        panic!("sync by a reader");
    }

    fn write(&self, _offset: u64, _data: &[u8]) -> io::Result<()> {
        panic!("write by a reader");
    }
}
