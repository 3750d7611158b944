//! Writing of tree pages and extents: draw a place from the session, encode, write, cache.

use std::sync::Arc;

use crate::cache::Pager;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::branch::{self, BranchSize, Entry};
use crate::page::leaf::ValueKind;
use crate::page::leaf_encoder::{self, LeafSize, Row};
use crate::page::{ChildRef, ExtentRef, Page, PageId, UNIT_BYTES, seal};
use crate::probe::Shared;
use crate::space::Session;

/// Writes pages into one session; they are unreachable until the session's flip.
#[derive(Debug)]
pub(crate) struct PageWriter<'s> {
    pager: &'s Arc<Pager>,
    session: &'s mut Session,
}

impl<'s> PageWriter<'s> {
    /// A writer of `session`'s pages.
    pub(crate) fn new(pager: &'s Arc<Pager>, session: &'s mut Session) -> PageWriter<'s> {
        PageWriter { pager, session }
    }

    /// Where pages are read.
    pub(crate) fn pager(&self) -> &Arc<Pager> {
        self.pager
    }

    /// The session drawn from.
    pub(crate) fn session(&mut self) -> &mut Session {
        self.session
    }

    /// Page size in bytes.
    pub(crate) fn page_bytes(&self) -> usize {
        self.pager.page_bytes()
    }

    /// Units of a page that must hold `bytes`: the database's page size, or more for an entry that needs more.
    fn units_for(&self, bytes: usize) -> u32 {
        int::narrow(bytes.max(self.page_bytes()).div_ceil(UNIT_BYTES))
    }

    /// Writes a leaf of `rows`, whose size is `size`.
    pub(crate) fn write_leaf(&mut self, rows: &[Row<'_>], size: &LeafSize) -> Result<ChildRef> {
        let units = self.units_for(size.page_bytes());
        let id = self.session.allocate(units)?;
        let child = ChildRef {
            id,
            units,
            birth: self.session.number(),
            rows: int::wide(rows.len()),
            extents: rows.iter().any(|row| row.kind == ValueKind::Extent),
            fill: fill(size.page_bytes(), units),
        };
        let bytes = leaf_encoder::encode(rows, size, id, child.birth, units);
        self.session.counters().leaf_pages_written.add_one();
        self.write(child, bytes)
    }

    /// Writes a branch at distance `level` from the leaves.
    pub(crate) fn write_branch(
        &mut self,
        entries: &[Entry],
        size: &BranchSize,
        level: u8,
    ) -> Result<ChildRef> {
        let rows = sum_rows(entries)?;
        let units = self.units_for(size.page_bytes());
        let id = self.session.allocate(units)?;
        let birth = self.session.number();
        if let Some(entry) = entries.iter().find(|entry| entry.child.birth > birth) {
            let corruption = Corruption::new("page is younger than the database");
            return Err(corruption.page(entry.child.id.0).into());
        }
        let child = ChildRef {
            id,
            units,
            birth,
            rows,
            extents: entries.iter().any(|entry| entry.child.extents),
            fill: fill(size.page_bytes(), units),
        };
        let bytes = branch::encode(entries, size, level, (id, child.birth, units));
        self.session.counters().branch_pages_written.add_one();
        self.write(child, bytes)
    }

    fn write(&mut self, child: ChildRef, bytes: Box<[u8]>) -> Result<ChildRef> {
        self.pager.disk().write(child.id.offset(), &bytes)?;
        // Opening what was encoded proves the pair of them on every write, and yields the layout to cache.
        let page = Shared::new(Page::open(bytes, &child)?);
        self.pager.cache().insert(child.id, child.birth, &page);
        Ok(child)
    }

    /// Writes a large value to units of its own.
    pub(crate) fn write_extent(&mut self, value: &[u8]) -> Result<ExtentRef> {
        assert!(!value.is_empty(), "an extent holds at least a byte");
        let units = int::narrow(value.len().div_ceil(UNIT_BYTES));
        let id = self.session.allocate(units)?;
        let extent = ExtentRef {
            id,
            len: int::wide(value.len()),
            birth: self.session.number(),
            hash: seal::checksum(value),
        };
        // Given back at once: nothing will ever name the units, and the transaction may go on.
        self.write_value(id, value).inspect_err(|_| {
            self.session.free(id, units, extent.birth);
        })?;
        self.session.counters().extents_written.add_one();
        Ok(extent)
    }

    fn write_value(&self, id: PageId, value: &[u8]) -> Result {
        let whole = value.len() / UNIT_BYTES * UNIT_BYTES;
        let (body, tail) = value.split_at(whole);
        if !body.is_empty() {
            self.pager.disk().write(id.offset(), body)?;
        }
        if !tail.is_empty() {
            // The rest of the last unit is zero, so that a check can account for every byte of it.
            let mut unit = [0; UNIT_BYTES];
            unit[..tail.len()].copy_from_slice(tail);
            self.pager
                .disk()
                .write(id.offset() + int::wide(whole), &unit)?;
        }
        Ok(())
    }

    /// Frees a page.
    pub(crate) fn free(&mut self, child: &ChildRef) {
        if self.session.free(child.id, child.units, child.birth) {
            self.pager.cache().forget(child.id);
        }
    }

    /// Frees an extent.
    pub(crate) fn free_extent(&mut self, extent: &ExtentRef) {
        self.session.free(extent.id, extent.units(), extent.birth);
    }
}

/// Rows below all entries; damaged pages may name more than any tree holds.
fn sum_rows(entries: &[Entry]) -> Result<u64> {
    let sum: u64 = entries
        .iter()
        .fold(0, |sum, entry| sum.saturating_add(entry.child.rows));
    if sum > int::U48_MAX {
        return Err(Corruption::new("children name more rows than a tree can hold").into());
    }
    Ok(sum)
}

fn fill(used: usize, units: u32) -> u16 {
    let permille = used * 1000 / (int::index(units) * UNIT_BYTES);
    u16::try_from(permille).unwrap_or(1000)
}
