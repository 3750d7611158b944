//! Integer conversions and little-endian field access: the one place where widths change.
//!
//! Readers return `None` past the end of the slice, so decoders turn a short input into a typed error.

/// Widens a 32-bit count or length to an index.
pub(crate) const fn index(value: u32) -> usize {
    // Lossless: the engine supports targets of 32 bits and more.
    value as usize
}

/// Widens an index to 64 bits.
pub(crate) const fn wide(value: usize) -> u64 {
    value as u64
}

/// Narrows a length that an engine limit keeps below 4 GiB.
///
/// # Panics
/// If it does not fit: a limit was not enforced, and writing on would damage data.
pub(crate) fn narrow(value: usize) -> u32 {
    u32::try_from(value).expect("length limit enforced before encoding")
}

/// Narrows a 64-bit value to an index, saturating: only for values compared against a slice length next.
pub(crate) fn saturating_index(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// Reads a little-endian `u16` at `at`.
pub(crate) fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    let field = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(field.try_into().ok()?))
}

/// Reads a little-endian `u32` at `at`.
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

/// Reads a little-endian `u64` at `at`.
pub(crate) fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

/// Reads a little-endian 48-bit integer at `at`.
pub(crate) fn read_u48(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(6)?)?;
    let mut buf = [0; 8];
    buf[..6].copy_from_slice(field);
    Some(u64::from_le_bytes(buf))
}

/// Largest value of a 48-bit field.
pub(crate) const U48_MAX: u64 = (1 << 48) - 1;

/// The six bytes of a 48-bit field.
///
/// # Panics
/// If the value needs more: page ids, numbers and row counts stay far below 2^48 by construction.
pub(crate) fn u48_bytes(value: u64) -> [u8; 6] {
    assert!(value <= U48_MAX, "48-bit field overflow");
    let bytes = value.to_le_bytes();
    [bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]]
}
