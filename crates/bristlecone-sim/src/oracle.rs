//! Judges what a crash leaves: every image is opened, compared, written to and crashed again.
//!
//! # What is demanded of each image
//! 1. It opens. Its state is one of the committed versions, not older than the last acknowledged one.
//! 2. Counts are right and the integrity check is clean.
//! 3. What an opened database has shown is the floor for later power cuts.
//! 4. Writing goes on: a commit succeeds, survives a power cut and a clean close.
//! 5. If a header slot rots besides, the other one leads to a committed version, whole.
//! 6. A crash at any change of the recovery itself leaves an image of which the same is true.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use bristlecone::{Database, Error, ReadableDatabase};
use fastrand::Rng;

use crate::content::{Key, Recipe, TableId};
use crate::disk::SimDisk;
use crate::image::{Cut, Image};
use crate::model::{History, Version};
use crate::store;
use crate::summary::Summary;
use crate::verdict::{identify, version_difference};

/// Where the header slots are.
const SLOT_OFFSETS: [u64; 2] = [0, 4096];
/// The length of a file that was created and never written to.
const CREATED_BYTES: u64 = 8192;

/// How much is tried at each crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Images of each crashed disk.
    pub(crate) images: usize,
    /// Crashes during the recovery of each image, at most; chosen at random if there are more places.
    pub(crate) recovery_crashes: usize,
    /// Whether a header slot rots besides. Not after a failed write: that may have torn the other one in a sector.
    pub(crate) rots_slots: bool,
}

/// Examines what is left of `disk`: images of a power cut, and the disk itself as a killed process leaves it.
pub(crate) struct Oracle<'a> {
    pub(crate) history: &'a History,
    pub(crate) effort: Effort,
    pub(crate) rng: &'a mut Rng,
    pub(crate) summary: &'a mut Summary,
}

impl Oracle<'_> {
    /// Builds the images and judges each that differs from the others, then the kill.
    pub(crate) fn judge(&mut self, disk: &SimDisk) -> Result<(), String> {
        let mut seen = HashSet::new();
        for cut in self.cuts(disk.pending_count()) {
            let image = disk.image(cut, self.rng);
            self.summary.runs.crash_images += 1;
            if !seen.insert((image.has_entry, image.bytes.clone())) {
                continue;
            }
            self.summary.runs.images_verified += 1;
            let start = SimDisk::from_image(&image, self.rng.u64(..));
            self.judge_start(&start)
                .map_err(|what| format!("image {}: {what}", shown(&image)))?;
        }
        let killed = disk.fork();
        killed.kill();
        killed.clear_faults();
        self.judge_start(&killed)
            .map_err(|what| format!("after a kill: {what}"))
    }

    /// The cuts to try: the extremes, some with one operation missing or alone, the rest at random.
    fn cuts(&mut self, pending: usize) -> Vec<Cut> {
        let mut cuts = vec![Cut::Nothing, Cut::Everything];
        if pending > 0 {
            for _ in 0..(self.effort.images / 6).max(1) {
                cuts.push(Cut::Prefix(self.rng.usize(..=pending)));
                cuts.push(Cut::AllBut(self.rng.usize(..pending)));
                cuts.push(Cut::Only(self.rng.usize(..pending)));
            }
            // The last operations before a crash are the ones that matter most.
            cuts.extend([
                Cut::AllBut(pending - 1),
                Cut::Only(pending - 1),
                Cut::Prefix(pending - 1),
            ]);
        }
        while cuts.len() < self.effort.images {
            cuts.push(Cut::Random);
        }
        cuts
    }

    /// Judges one disk as a fresh process finds it.
    fn judge_start(&mut self, start: &SimDisk) -> Result<(), String> {
        let candidates = self.history.candidates();
        let disk = start.fork();
        let (operations_before, mut database) = (disk.operation_count(), opened(&disk)?);
        let idx = self.recognise(&database, candidates.clone())?;
        self.summary.runs.unacknowledged_found += u64::from(idx > self.history.floor());
        let recovery = operations_before + 1..=disk.operation_count();
        self.judge_floor(&disk, idx)?;
        self.judge_slots(start)?;
        check(&mut database)?;
        self.judge_writing(&disk, database, idx)?;
        self.judge_recovery_crashes(start, recovery, candidates)
    }

    /// What was shown once must not go away with the power (demand 3).
    fn judge_floor(&mut self, disk: &SimDisk, idx: usize) -> Result<(), String> {
        for cut in [Cut::Nothing, Cut::Random] {
            let again = SimDisk::from_image(&disk.image(cut, self.rng), 1);
            self.reopened(&again, idx..=idx).map_err(|what| {
                format!("version {idx} was shown and is gone after a power cut ({cut:?}): {what}")
            })?;
        }
        Ok(())
    }

    /// A rotten header slot besides the crash (demand 5): the other slot, which a crash leaves old or new because its
    /// content fits a sector, names a version that nothing has overwritten.
    fn judge_slots(&mut self, start: &SimDisk) -> Result<(), String> {
        // Before the create is done, there may be one slot alone.
        if !self.effort.rots_slots || start.len() <= CREATED_BYTES {
            return Ok(());
        }
        for offset in SLOT_OFFSETS {
            let disk = start.fork();
            let place = offset + self.rng.u64(..100);
            disk.corrupt(place, 1 + self.rng.u8(..255))
                .map_err(|error| error.to_string())?;
            self.reopened(&disk, 0..=self.history.newest_idx())
                .map_err(|what| format!("besides, byte {place} of a slot rots: {what}"))?;
        }
        Ok(())
    }

    /// A commit after the recovery (demand 4).
    fn judge_writing(
        &mut self,
        disk: &SimDisk,
        database: Database,
        idx: usize,
    ) -> Result<(), String> {
        let mut version = self.history.version(idx).clone();
        self.write_on(&database, &mut version)
            .map_err(|error| format!("the recovered database does not take a commit: {error}"))?;
        let cut = SimDisk::from_image(&disk.image(Cut::Nothing, self.rng), 1);
        shows(&cut, &version)
            .map_err(|what| format!("commit after recovery, power cut: {what}"))?;
        self.summary.take(&database);
        drop(database);
        let cut = SimDisk::from_image(&disk.image(Cut::Random, self.rng), 1);
        shows(&cut, &version).map_err(|what| format!("close after recovery, power cut: {what}"))?;
        shows(disk, &version).map_err(|what| format!("close after recovery: {what}"))
    }

    fn write_on(&mut self, database: &Database, version: &mut Version) -> Result<(), Error> {
        let txn = database.begin_write()?;
        for table in [TableId::Spare, TableId::Numbers] {
            let rows: Vec<(Key, Recipe)> = (0..20)
                .map(|nth| {
                    let value = Recipe {
                        seed: self.rng.u64(..),
                        len: self.rng.u32(..600),
                    };
                    (Key::numbered(table, 7 * nth), value)
                })
                .collect();
            store::insert(&txn, table, &rows)?;
            for (key, value) in rows {
                version.insert(table, key, value);
            }
        }
        Ok(txn.commit()?)
    }

    /// Crashes inside of the recovery (demand 6).
    fn judge_recovery_crashes(
        &mut self,
        start: &SimDisk,
        places: RangeInclusive<u64>,
        candidates: RangeInclusive<usize>,
    ) -> Result<(), String> {
        let mut places: Vec<u64> = places.collect();
        if places.len() > self.effort.recovery_crashes {
            self.rng.shuffle(&mut places);
            places.truncate(self.effort.recovery_crashes);
        }
        for place in places {
            let disk = start.fork();
            disk.crash_at(place);
            self.summary.runs.recovery_crashes += 1;
            let mut candidates = candidates.clone();
            // A database that opens although the disk has crashed meanwhile has shown a version.
            if let Ok(database) = store::open(disk.backend()) {
                if let Ok(Ok(idx)) = identify(&database, self.history, candidates.clone().rev()) {
                    candidates = idx..=idx;
                }
            } else if !disk.has_crashed() {
                return Err("the recovery fails although the disk does not".to_owned());
            }
            for cut in [Cut::Nothing, Cut::Everything, Cut::Random, Cut::Random] {
                let again = SimDisk::from_image(&disk.image(cut, self.rng), 1);
                self.reopened(&again, candidates.clone()).map_err(|what| {
                    format!("crash at operation {place} of the recovery, then {cut:?}: {what}")
                })?;
            }
        }
        Ok(())
    }

    /// Opens, recognises a version and checks.
    fn reopened(&self, disk: &SimDisk, candidates: RangeInclusive<usize>) -> Result<(), String> {
        let mut database = opened(disk)?;
        self.recognise(&database, candidates)?;
        check(&mut database)
    }

    fn recognise(
        &self,
        database: &Database,
        candidates: RangeInclusive<usize>,
    ) -> Result<usize, String> {
        identify(database, self.history, candidates.rev())
            .map_err(|error| format!("reading fails: {error}"))?
    }
}

/// Judges a disk that has lied: any committed version or a typed error, and never a wrong row.
pub(crate) fn judge_lies(disk: &SimDisk, history: &History, rng: &mut Rng) -> Result<u64, String> {
    let mut errors = 0;
    for cut in [Cut::Nothing, Cut::Everything, Cut::Random] {
        let again = SimDisk::from_image(&disk.image(cut, rng), 1);
        let Ok(database) = store::open(again.backend()) else {
            errors += 1;
            continue;
        };
        match identify(&database, history, (0..=history.newest_idx()).rev()) {
            Ok(outcome) => {
                outcome.map_err(|what| format!("{cut:?}: {what}"))?;
            }
            Err(_) => errors += 1,
        }
    }
    Ok(errors)
}

/// Lets one byte or one sector of a file rot: right rows or a typed error, and never a wrong row. Returns whether
/// there was an error.
pub(crate) fn judge_rot(
    mut bytes: Vec<u8>,
    history: &History,
    rng: &mut Rng,
) -> Result<u64, String> {
    const SECTOR_BYTES: usize = 512;
    // Half of the places are near the front, where headers and roots of small databases are.
    let end = if rng.bool() {
        bytes.len()
    } else {
        bytes.len().min(64 * 1024)
    };
    let place = rng.usize(..end);
    let what = if rng.bool() {
        let xor = rng.u8(1..);
        bytes[place] ^= xor;
        format!("byte {place} xor {xor:#04x}")
    } else {
        let first = place / SECTOR_BYTES * SECTOR_BYTES;
        bytes
            .iter_mut()
            .skip(first)
            .take(SECTOR_BYTES)
            .for_each(|byte| *byte = 0);
        format!("sector at {first} zeroed")
    };
    let Ok(mut database) = store::open(SimDisk::from_bytes(bytes, 1).backend()) else {
        return Ok(1);
    };
    match identify(&database, history, [history.newest_idx()]) {
        Ok(outcome) => outcome.map_err(|difference| format!("{what}: {difference}"))?,
        Err(_) => return Ok(1),
    };
    // Whatever it says of damage that no row needs, it must not panic.
    Ok(u64::from(!matches!(database.check_integrity(), Ok(true))))
}

fn opened(disk: &SimDisk) -> Result<Database, String> {
    store::open(disk.backend()).map_err(|error| format!("opening fails: {error}"))
}

fn check(database: &mut Database) -> Result<(), String> {
    match database.check_integrity() {
        Ok(true) => Ok(()),
        Ok(false) => Err("the integrity check finds damage".to_owned()),
        Err(error) => Err(format!("the integrity check fails: {error}")),
    }
}

/// Opens the database and demands one version.
fn shows(disk: &SimDisk, version: &Version) -> Result<(), String> {
    let mut database = opened(disk)?;
    let difference = database
        .begin_read()
        .map_err(Error::from)
        .and_then(|txn| version_difference(&txn, version))
        .map_err(|error| format!("reading fails: {error}"))?;
    match difference {
        None => check(&mut database),
        Some(what) => Err(what),
    }
}

fn shown(image: &Image) -> String {
    let gone = if image.has_entry { "" } else { ", gone" };
    format!("{:?} ({} bytes{gone})", image.cut, image.bytes.len())
}
