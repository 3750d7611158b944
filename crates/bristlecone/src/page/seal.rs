//! Sealing and opening of pages: a checksum over all bytes, the page's own name among them.
//!
//! The trailer is the XXH3-64 of every byte before it (`docs/format.md`, "Page"). A page that was never written, was
//! written elsewhere, is an older write of the same place, or has a bit flipped fails here.

use twox_hash::XxHash3_64;

use super::header::{PageHeader, TRAILER_BYTES};
use super::{Number, PageId};
use crate::error::Corruption;
use crate::int;

/// XXH3-64, the checksum of pages, extents and header slots.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// Writes the trailer of a complete page.
pub(crate) fn seal(page: &mut [u8]) {
    let at = page.len() - TRAILER_BYTES;
    let sum = checksum(&page[..at]);
    page[at..].copy_from_slice(&sum.to_le_bytes());
}

/// Proves that `page` is intact and is the write of page `id` that session `birth` made.
///
/// # Errors
/// A [`Corruption`] that names the page: damaged, misdirected or stale.
pub(crate) fn open(
    page: &[u8],
    id: PageId,
    birth: Number,
    units: u32,
) -> Result<PageHeader, Corruption> {
    let at = page
        .len()
        .checked_sub(TRAILER_BYTES)
        .ok_or_else(|| Corruption::new("page is shorter than its trailer").page(id.0))?;
    let stored = int::read_u64(page, at)
        .ok_or_else(|| Corruption::new("page is shorter than its trailer").page(id.0))?;
    let sum = checksum(&page[..at]);
    if stored != sum {
        return Err(Corruption::new("page checksum does not match")
            .page(id.0)
            .offset(id.offset())
            .expected(format_args!("{stored:016x}"))
            .found(format_args!("{sum:016x}")));
    }
    let header = PageHeader::decode(page).map_err(|found| found.page(id.0))?;
    if header.id != id {
        return Err(Corruption::new("page was written for another place")
            .page(id.0)
            .offset(id.offset())
            .expected(id.0)
            .found(header.id.0));
    }
    if header.birth != birth {
        return Err(
            Corruption::new("page is another write than its parent names")
                .page(id.0)
                .offset(id.offset())
                .expected(birth.0)
                .found(header.birth.0),
        );
    }
    if header.units != units {
        return Err(
            Corruption::new("page has another size than its parent names")
                .page(id.0)
                .expected(units)
                .found(header.units),
        );
    }
    Ok(header)
}
