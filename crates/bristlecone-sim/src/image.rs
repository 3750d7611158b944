//! What a power cut may leave of a file.
//!
//! The durable bytes are always there. Of every pending operation any part may be, cut at the multiples of the
//! sector size, in any order where operations overlap; the length is durable, or was reached by any pending
//! operation, or lies between (a file system grows a file block by block as it writes back), whatever
//! the fate of the bytes. What is missing below the length reads as zero. A file whose directory entry is not
//! durable may be gone.

use fastrand::Rng;

use crate::pending::{Fragment, Pending, to_index, to_u64};
use crate::state::State;

/// How a power cut chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// Nothing that is not durable is kept; a file whose entry is not durable is gone.
    Nothing,
    /// Everything is kept, as if the power had stayed.
    Everything,
    /// The first operations are kept whole, in order, and nothing of the others.
    Prefix(usize),
    /// Everything but one operation is kept.
    AllBut(usize),
    /// Nothing but one operation is kept; a coin decides on the length.
    Only(usize),
    /// Chance decides on each piece, their order, the length and the entry.
    Random,
}

/// A file after a power cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The file's bytes; none if it is gone.
    pub bytes: Vec<u8>,
    /// Whether the file still has its name. Without one, the next opener sees an empty directory.
    pub has_entry: bool,
    /// The choice that led here.
    pub cut: Cut,
}

/// Builds what `cut` leaves of `state`.
pub(crate) fn build(state: &State, cut: Cut, rng: &mut Rng) -> Image {
    let may_be_gone = !state.is_entry_durable;
    let is_gone = may_be_gone
        && match cut {
            Cut::Nothing => true,
            Cut::Random => rng.u8(..4) == 0,
            _ => false,
        };
    if is_gone {
        return Image {
            bytes: Vec::new(),
            has_entry: false,
            cut,
        };
    }
    let mut bytes = state.durable.clone();
    for fragment in kept_fragments(&state.pending, cut, rng) {
        fragment.overlay(&mut bytes);
    }
    bytes.resize(to_index(kept_len(state, cut, rng)), 0);
    Image {
        bytes,
        has_entry: true,
        cut,
    }
}

/// The fragments that survive, in the order in which they reached the disk.
fn kept_fragments(pending: &[Pending], cut: Cut, rng: &mut Rng) -> Vec<Fragment> {
    let is_kept = |idx: usize| match cut {
        Cut::Nothing => false,
        Cut::Everything | Cut::Random => true,
        Cut::Prefix(count) => idx < count,
        Cut::AllBut(lost) => idx != lost,
        Cut::Only(kept) => idx == kept,
    };
    if cut == Cut::Random {
        return random_fragments(pending, rng);
    }
    pending
        .iter()
        .enumerate()
        .filter(|(idx, _)| is_kept(*idx))
        .flat_map(|(_, operation)| operation.fragments.clone())
        .collect()
}

fn random_fragments(pending: &[Pending], rng: &mut Rng) -> Vec<Fragment> {
    let piece_bytes = if rng.bool() { 512 } else { 4096 };
    let percent_kept = [3, 25, 50, 75, 97][rng.usize(..5)];
    let percent_torn = [0, 20, 100][rng.usize(..3)];
    let mut kept = Vec::new();
    for fragment in pending.iter().flat_map(|operation| &operation.fragments) {
        if rng.u8(..100) < percent_torn {
            let pieces = fragment.pieces(piece_bytes);
            kept.extend(pieces.into_iter().filter(|_| rng.u8(..100) < percent_kept));
        } else if rng.u8(..100) < percent_kept {
            kept.push(fragment.clone());
        }
    }
    if rng.u8(..3) == 0 {
        rng.shuffle(&mut kept);
    }
    kept
}

fn kept_len(state: &State, cut: Cut, rng: &mut Rng) -> u64 {
    let durable = to_u64(state.durable.len());
    let written = to_u64(state.cache.len());
    let reached = |count: usize| {
        count
            .checked_sub(1)
            .and_then(|last| state.pending.get(last))
            .map_or(durable, |p| p.len_after)
    };
    match cut {
        Cut::Nothing => durable,
        Cut::Everything | Cut::AllBut(_) => written,
        Cut::Prefix(count) => reached(count.min(state.pending.len())),
        Cut::Only(_) => {
            if rng.bool() {
                durable
            } else {
                written
            }
        }
        Cut::Random => match rng.u8(..8) {
            0..=2 => durable,
            3..=5 => written,
            6 => reached(rng.usize(..=state.pending.len())),
            _ => between(durable, written, rng),
        },
    }
}

/// A block boundary that a growing file passes on its way, or `written` if it does not grow.
fn between(durable: u64, written: u64, rng: &mut Rng) -> u64 {
    const BLOCK_BYTES: u64 = 4096;
    let first = durable.div_ceil(BLOCK_BYTES);
    let last = written / BLOCK_BYTES;
    if first > last {
        return written;
    }
    (rng.u64(first..=last) * BLOCK_BYTES).max(durable)
}
