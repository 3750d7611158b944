//! Conditional removal for engines that have no call for it: look, then delete, in steps that hold few keys.

use anyhow::Result;

use super::{SeeEntry, Writer};

/// Entries that a step looks at before it deletes those it picked.
const STEP_ENTRIES: usize = 10_000;

/// Keys that a step picked, and where the next one begins.
struct Picked {
    keys: Vec<Vec<u8>>,
    next: Option<Vec<u8>>,
}

/// Removes from `[from, to)` (to the end, if there is no `to`) the entries that `wanted` picks; returns how many.
pub(super) fn sweep(
    writer: &mut dyn Writer,
    from: &[u8],
    to: Option<&[u8]>,
    wanted: &mut SeeEntry<'_>,
) -> Result<u64> {
    let (mut start, mut count) = (from.to_vec(), 0);
    loop {
        let picked = pick(writer, &start, to, wanted)?;
        for key in &picked.keys {
            writer.delete(key)?;
        }
        count += picked.keys.len() as u64;
        match picked.next {
            Some(key) => start = key,
            None => return Ok(count),
        }
    }
}

fn pick(
    writer: &mut dyn Writer,
    from: &[u8],
    to: Option<&[u8]>,
    wanted: &mut SeeEntry<'_>,
) -> Result<Picked> {
    let (mut keys, mut next, mut seen) = (Vec::new(), None, 0);
    writer.scan(Some(from), &mut |key, value| {
        if to.is_some_and(|to| key >= to) {
            return false;
        }
        if seen == STEP_ENTRIES {
            next = Some(key.to_vec());
            return false;
        }
        seen += 1;
        if wanted(key, value) {
            keys.push(key.to_vec());
        }
        true
    })?;
    Ok(Picked { keys, next })
}
