//! Opening a file: finding the newest intact slot, proving it durable, and loading the space map.

use std::sync::{Arc, Mutex};

use super::header::{Header, slot_offset};
use super::{Checkpoint, Roots, Version, WriteSide};
use crate::cache::{Budget, Pager};
use crate::counters::Counters;
use crate::error::{Corruption, DatabaseError, StorageError};
use crate::int;
use crate::page::slot::{MAGIC, Slot, SlotError};
use crate::page::{Number, PageId, UNIT_BYTES};
use crate::space::{MapRoot, MapTree, Numbers, Space, UnitMap, VersionPin, load_map};
use crate::vfs::Disk;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// For reading and writing.
    ReadWrite,
    /// For reading; nothing is written, not even to make an unproven header durable.
    ReadOnly,
}

/// What a builder decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Bytes of memory for cached pages and write buffers together.
    pub(crate) cache_bytes: usize,
    /// Page size of a database that is created.
    pub(crate) page_bytes: usize,
}

/// Largest file that an unfinished create can leave behind: its two slots.
const UNFINISHED_BYTES_MAX: u64 = 2 * UNIT_BYTES as u64;

/// Creates a database in a file that nobody has written: empty, or all zero and no larger than a new one.
///
/// Returns whether it did; any other file is left untouched.
///
/// # Durability
/// On return the empty database is durable, but for the directory entry of its file.
pub(crate) fn create_if_unwritten(disk: &Disk, options: &Options) -> Result<bool, StorageError> {
    if !is_unwritten(disk)? {
        return Ok(false);
    }
    let mut database_id = [0; 16];
    disk.random(&mut database_id)?;
    let slot = Slot {
        page_bytes: int::narrow(options.page_bytes),
        database_id,
        generation: 1,
        version: Number(1),
        ceiling: Number(2),
        units: UNFINISHED_BYTES_MAX / int::wide(UNIT_BYTES),
        next_table: 1,
        names: None,
        roots: None,
        map: None,
        map_height: 0,
        base_seq: 0,
        clean: true,
    };
    // The length first, so that no crash leaves a slot in a file shorter than the slot says.
    disk.truncate(UNFINISHED_BYTES_MAX)?;
    let _length = disk.sync_all()?;
    let block = slot.encode();
    disk.write_header(slot_offset(0), &block)?;
    let _first = disk.sync_all()?;
    disk.write_header(slot_offset(1), &block)?;
    let _second = disk.sync_all()?;
    Ok(true)
}

fn is_unwritten(disk: &Disk) -> Result<bool, StorageError> {
    let len = disk.len()?;
    if len > UNFINISHED_BYTES_MAX {
        return Ok(false);
    }
    let mut bytes = vec![0; int::saturating_index(len)];
    disk.read(0, &mut bytes)?;
    Ok(bytes.iter().all(|&byte| byte == 0) || is_half_written(&bytes))
}

/// Whether a create failed within its first write to slot 0: the length is a new file's, slot 0 is the start of a slot
/// of this version, and slot 1, which is written next, is zero. Such a file has never held a page.
fn is_half_written(bytes: &[u8]) -> bool {
    if int::wide(bytes.len()) != UNFINISHED_BYTES_MAX {
        return false;
    }
    let (first, second) = bytes.split_at(UNIT_BYTES);
    let written = first[..MAGIC.len()].iter().rposition(|&byte| byte != 0);
    let magic = &first[..written.map_or(0, |last| last + 1)];
    let unfinished = matches!(
        Slot::decode(first),
        Err(SlotError::Damaged(_) | SlotError::Foreign)
    );
    unfinished
        && !magic.is_empty()
        && MAGIC.starts_with(magic)
        && second.iter().all(|&byte| byte == 0)
}

/// The slots as found.
struct Found {
    slots: [Result<Slot, SlotError>; 2],
    newest: usize,
}

fn find_newest(disk: &Disk) -> Result<Found, DatabaseError> {
    let slots = [read_slot(disk, 0)?, read_slot(disk, 1)?];
    let generation = |idx: usize| slots[idx].as_ref().ok().map(|slot| slot.generation);
    let newest = match (generation(0), generation(1)) {
        (Some(first), Some(second)) => usize::from(second > first),
        (Some(_), None) => 0,
        (None, Some(_)) => 1,
        (None, None) => return Err(refusal(&slots)),
    };
    Ok(Found { slots, newest })
}

fn read_slot(disk: &Disk, idx: usize) -> Result<Result<Slot, SlotError>, StorageError> {
    let mut block = vec![0; UNIT_BYTES];
    let offset = slot_offset(idx);
    let present = disk
        .len()?
        .saturating_sub(offset)
        .min(int::wide(UNIT_BYTES));
    // A file cut short in a slot is read as far as it goes; the checksum decides.
    if present > 0 {
        disk.read(offset, &mut block[..int::saturating_index(present)])?;
    }
    Ok(Slot::decode(&block))
}

/// What is wrong with each slot that is not intact.
pub(super) fn damaged_slots(disk: &Disk) -> Result<Vec<Corruption>, StorageError> {
    let mut damaged = Vec::new();
    for idx in 0..2 {
        let corruption = match read_slot(disk, idx)? {
            Ok(_) => continue,
            Err(SlotError::Damaged(corruption)) => corruption,
            Err(SlotError::Foreign) => Corruption::new("header slot has no header"),
            Err(SlotError::Version(version)) => {
                Corruption::new("header slot has another format version").found(version)
            }
        };
        damaged.push(corruption.page(int::wide(idx)).offset(slot_offset(idx)));
    }
    Ok(damaged)
}

/// Why a file without an intact slot is refused.
fn refusal(slots: &[Result<Slot, SlotError>; 2]) -> DatabaseError {
    let errors = || slots.iter().filter_map(|slot| slot.as_ref().err());
    if let Some(SlotError::Damaged(corruption)) =
        errors().find(|error| matches!(error, SlotError::Damaged(_)))
    {
        return DatabaseError::Storage(StorageError::Corrupted(corruption.clone().offset(0)));
    }
    match errors().find(|error| matches!(error, SlotError::Version(_))) {
        Some(SlotError::Version(version)) => DatabaseError::UpgradeRequired(*version),
        _ => DatabaseError::NotADatabase,
    }
}

/// Rewrites what the page cache shows but the disk may lack: the older slot, then the newest, a sync after each; then
/// the older slot once more, with the newest's content.
///
/// After a failed sync or a kill the page cache holds slots that a sync alone does not make durable: the kernel counts
/// them as written. Writing the same bytes again makes them dirty.
fn prove_durable(disk: &Disk, found: &Found) -> Result<(), StorageError> {
    let older = 1 - found.newest;
    let newest = found.slots[found.newest].as_ref().map(Slot::encode);
    let Ok(newest) = newest else {
        return Err(StorageError::Unsupported);
    };
    if let Ok(slot) = &found.slots[older] {
        disk.write_header(slot_offset(older), &slot.encode())?;
        let _older = disk.sync_all()?;
        disk.write_header(slot_offset(found.newest), &newest)?;
        let _newest = disk.sync_all()?;
    }
    disk.write_header(slot_offset(older), &newest)?;
    let _both = disk.sync_all()?;
    if found.slots[older].is_err() {
        disk.write_header(slot_offset(found.newest), &newest)?;
        let _both = disk.sync_all()?;
    }
    Ok(())
}

/// Whether the last close was clean: both slots say so, in the same bytes.
fn is_clean(found: &Found) -> bool {
    match &found.slots {
        [Ok(first), Ok(second)] => first == second && first.clean,
        _ => false,
    }
}

impl Checkpoint {
    /// Opens the file on `disk`.
    ///
    /// # Errors
    /// `NotADatabase` and `UpgradeRequired` leave the file untouched; `Corrupted` names what is damaged.
    pub(crate) fn open(
        disk: Disk,
        mode: OpenMode,
        options: &Options,
    ) -> Result<Checkpoint, DatabaseError> {
        let disk = Arc::new(disk);
        let found = find_newest(&disk)?;
        let Ok(slot) = found.slots[found.newest].clone() else {
            return Err(DatabaseError::NotADatabase);
        };
        check_length(&disk, &slot)?;
        let counters = Arc::new(Counters::default());
        let budget = Budget::new(options.cache_bytes);
        let page_bytes = int::index(slot.page_bytes);
        let pager = Arc::new(Pager::new(Arc::clone(&disk), budget, page_bytes));
        let map = MapRoot {
            top: slot.map,
            height: slot.map_height,
        };
        let roots = Roots {
            names: slot.names,
            tables: slot.roots,
            next_table: slot.next_table,
        };
        let pin = Arc::new(VersionPin(slot.version));
        let write = match mode {
            OpenMode::ReadOnly => None,
            OpenMode::ReadWrite => {
                // The map before any write: a file whose map is damaged is refused untouched.
                let (durable, tree) = load_map(&pager, map)?;
                check_map(&durable, &tree, &slot)?;
                if !is_clean(&found) {
                    prove_durable(&disk, &found)?;
                }
                let numbers = Numbers {
                    next: slot.ceiling,
                    ceiling: slot.ceiling,
                };
                let space = Space::new(&disk, durable, tree, numbers, &counters)?;
                space.opened(&pin);
                for idx in 0..2 {
                    space.slot_written(idx, slot.version);
                    space.slot_settled(idx);
                }
                Some(WriteSide {
                    space,
                    header: Mutex::new(Header::new(slot)),
                })
            }
        };
        let version = Arc::new(Version::new(pin, roots, map));
        Ok(Checkpoint {
            pager,
            counters,
            write,
            current: Mutex::new(version),
            #[cfg(feature = "invariants")]
            was_sound: std::sync::OnceLock::new(),
        })
    }
}

fn check_length(disk: &Disk, slot: &Slot) -> Result<(), StorageError> {
    let expected = PageId(slot.units).offset();
    let found = disk.len()?;
    if found >= expected {
        return Ok(());
    }
    let corruption = Corruption::new("file is cut short");
    Err(corruption
        .offset(found)
        .expected(expected)
        .found(found)
        .into())
}

fn check_map(durable: &UnitMap, tree: &MapTree, slot: &Slot) -> Result<(), StorageError> {
    let mut pages = UnitMap::default();
    for page in tree.pages() {
        // A map page that the map does not hold would be overwritten; one named twice would be freed twice.
        if !durable.contains(page.id.0) || !pages.insert(page.id.0, 1) {
            let corruption = Corruption::new("space map does not hold its own pages once each");
            return Err(corruption.page(page.id.0).into());
        }
    }
    if durable.end() <= slot.units && !durable.contains(0) && !durable.contains(1) {
        return Ok(());
    }
    let corruption = Corruption::new("space map contradicts its header");
    Err(corruption.expected(slot.units).found(durable.end()).into())
}
