//! Removal of some of the entries of a range, for engines that have no call for it: a batch of keys is found by a scan,
//! then deleted, then the scan goes on behind the last key it saw.
//!
//! # Invariants
//! 1. Every entry is shown once, in ascending order.
//! 2. No more than [`BATCH`] keys are held at a time.

use anyhow::Result;

use super::{End, SeeEntry, Writer};

/// Keys that are found before they are deleted: enough that finding the place again costs nothing.
const BATCH: usize = 10_000;

/// Keeps the entries for which `keep` returns true.
pub(super) fn retain<W: Writer>(writer: &mut W, keep: &mut SeeEntry<'_>) -> Result<()> {
    sweep(writer, None, None, &mut |key, value| !keep(key, value)).map(drop)
}

/// Removes from `[from, to)` the entries for which `take` returns true; returns how many.
pub(super) fn extract<W: Writer>(
    writer: &mut W,
    from: &[u8],
    to: &[u8],
    take: &mut SeeEntry<'_>,
) -> Result<u64> {
    sweep(writer, Some(from), Some(to), take)
}

/// Removes the entry at one end and shows it to `see`; false if the table is empty.
pub(super) fn pop<W: Writer>(
    writer: &mut W,
    end: End,
    see: &mut dyn FnMut(&[u8], &[u8]),
) -> Result<bool> {
    let mut found = None;
    let mut take = |key: &[u8], value: &[u8]| {
        see(key, value);
        found = Some(key.to_vec());
        false
    };
    match end {
        End::First => writer.scan(None, &mut take)?,
        End::Last => writer.scan_back(None, &mut take)?,
    }
    match found {
        Some(key) => writer.delete(&key).map(|()| true),
        None => Ok(false),
    }
}

fn sweep<W: Writer>(
    writer: &mut W,
    from: Option<&[u8]>,
    to: Option<&[u8]>,
    remove: &mut SeeEntry<'_>,
) -> Result<u64> {
    let mut begin = from.map(<[u8]>::to_vec);
    let mut keys = Vec::new();
    let mut removed = 0;
    loop {
        keys.clear();
        writer.scan(begin.as_deref(), &mut |key, value| {
            if to.is_some_and(|to| key >= to) {
                return false;
            }
            if remove(key, value) {
                keys.push(key.to_vec());
            }
            keys.len() < BATCH
        })?;
        keys.iter().try_for_each(|key| writer.delete(key))?;
        removed += keys.len() as u64;
        if keys.len() < BATCH {
            return Ok(removed);
        }
        // The first key behind the last one that was removed is that key and a zero.
        begin = keys.pop().map(|mut last| {
            last.push(0);
            last
        });
    }
}
