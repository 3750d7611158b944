//! Lengths and counts of variable width: LEB128, shortest form only.
//!
//! # Invariants
//! 1. A number has exactly one encoding: readers refuse a longer one, so equal values have equal bytes.

/// Appends `number`, seven bits to a byte, lowest first; every byte but the last has its top bit set.
pub(super) fn push(mut number: u64, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Appends a length or count held in memory.
#[inline]
pub(super) fn push_len(len: usize, out: &mut Vec<u8>) {
    push(u64::try_from(len).unwrap_or(u64::MAX), out);
}

/// Takes a number off the front of `data`; `None` if it is cut off, too large, or not in its shortest form.
pub(super) fn take(data: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = data.split_first()?;
        *data = rest;
        let low = u64::from(byte & 0x7f);
        if (low << shift) >> shift != low {
            return None;
        }
        number |= low << shift;
        if byte & 0x80 == 0 {
            return (byte != 0 || shift == 0).then_some(number);
        }
    }
    None
}

/// Takes a length or count that must fit in memory.
#[inline]
pub(super) fn take_len(data: &mut &[u8]) -> Option<usize> {
    take(data).and_then(|len| usize::try_from(len).ok())
}
