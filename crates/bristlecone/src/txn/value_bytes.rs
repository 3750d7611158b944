//! Bytes that a guard lends: where they live and what keeps them alive.

use std::ops::Range;
use std::sync::Arc;

use crate::cache::Pager;
use crate::error::Result;
use crate::page::Page;
use crate::page::leaf::{Stored, ValueKind};
use crate::probe::Shared;
use crate::tree::lookup::Found;

/// Value bytes with their owner.
#[derive(Clone, Debug)]
pub(crate) enum ValueBytes {
    /// Part of a page; the page outlives its eviction.
    Page(Shared<Page>, Range<usize>),
    /// A large value read from its extent.
    Shared(Arc<[u8]>),
    /// A copy.
    Owned(Vec<u8>),
}

impl ValueBytes {
    /// The bytes.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            ValueBytes::Page(page, range) => &page.bytes()[range.clone()],
            ValueBytes::Shared(bytes) => bytes,
            ValueBytes::Owned(bytes) => bytes,
        }
    }

    /// The value of a row in a leaf; `None` for a tombstone of a run.
    pub(crate) fn of_row(
        pager: &Pager,
        page: &Shared<Page>,
        row: usize,
    ) -> Result<Option<ValueBytes>> {
        let leaf = page.leaf()?;
        let (range, kind) = leaf.value_range(row);
        match kind {
            ValueKind::Inline => Ok(Some(ValueBytes::Page(Shared::clone(page), range))),
            _ => ValueBytes::load(pager, leaf.stored(row)?),
        }
    }

    /// The value found by a look-up; `None` for a tombstone.
    pub(crate) fn of_found(pager: &Pager, found: &Found) -> Result<Option<ValueBytes>> {
        ValueBytes::of_row(pager, &found.page, found.row)
    }

    /// A stored value, copied or read; `None` for a tombstone.
    pub(crate) fn load(pager: &Pager, stored: Stored<'_>) -> Result<Option<ValueBytes>> {
        match stored {
            Stored::Inline(bytes) => Ok(Some(ValueBytes::Owned(bytes.to_vec()))),
            Stored::Extent(extent) => Ok(Some(ValueBytes::Shared(pager.extent(&extent)?))),
            Stored::Tombstone => Ok(None),
        }
    }
}
