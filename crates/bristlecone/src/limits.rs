//! Limits of the engine and its format, with the relations between them checked at compile time.

/// Bytes of the allocation unit; no two pages share one.
pub(crate) const UNIT_BYTES: usize = 4096;

/// Longest key or value, in bytes (3 GiB, as in redb).
pub(crate) const VALUE_BYTES_MAX: usize = 3 << 30;

/// Longest key and value together, in bytes (3.75 GiB, as in redb).
pub(crate) const PAIR_BYTES_MAX: usize = (3 << 30) + (3 << 28);

/// Smallest and largest page size that [`crate::Builder::set_page_size`] takes, in bytes.
pub(crate) const PAGE_BYTES_MIN: usize = UNIT_BYTES;
/// See [`PAGE_BYTES_MIN`].
pub(crate) const PAGE_BYTES_MAX: usize = 64 << 10;
/// Page size of a new database unless its builder says otherwise.
pub(crate) const PAGE_BYTES_DEFAULT: usize = 8 << 10;

const _: () = assert!(PAGE_BYTES_DEFAULT.is_multiple_of(UNIT_BYTES));
const _: () = assert!(PAGE_BYTES_MIN <= PAGE_BYTES_DEFAULT && PAGE_BYTES_DEFAULT <= PAGE_BYTES_MAX);
// A page that holds one longest key and an extent reference still counts its bytes in 32 bits.
const _: () = assert!((VALUE_BYTES_MAX as u64) + (1 << 20) < u32::MAX as u64);

/// Longest table name, in bytes.
pub(crate) const TABLE_NAME_BYTES_MAX: usize = 64 << 10;
