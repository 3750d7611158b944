//! Reading pages and extents: from the cache, else from the disk with every check.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Budget, PageCache};
use crate::error::{Corruption, Result, StorageError};
use crate::int;
use crate::page::{ChildRef, ExtentRef, Page, UNIT_BYTES, seal};
use crate::probe::{self, Shared};
use crate::vfs::Disk;

/// Reads of a database file, each verified before use.
#[derive(Debug)]
pub(crate) struct Pager {
    disk: Arc<Disk>,
    cache: PageCache,
    budget: Arc<Budget>,
    page_bytes: usize,
    /// Look-ups that found their page cached. Counters, so Relaxed.
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Pager {
    /// A pager over `disk` with a cache under `budget`; `page_bytes` is the database's page size.
    pub(crate) fn new(disk: Arc<Disk>, budget: Arc<Budget>, page_bytes: usize) -> Pager {
        Pager {
            disk,
            cache: PageCache::new(&budget),
            budget,
            page_bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Page size in bytes.
    pub(crate) fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The disk below.
    pub(crate) fn disk(&self) -> &Arc<Disk> {
        &self.disk
    }

    /// The memory budget.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The cache.
    pub(crate) fn cache(&self) -> &PageCache {
        &self.cache
    }

    /// Hits and misses of the cache.
    pub(crate) fn hits_and_misses(&self) -> (u64, u64) {
        (
            self.hits.load(Ordering::Relaxed),
            self.misses.load(Ordering::Relaxed),
        )
    }

    /// The page that `child` names.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not the intact page meant; `Io` if they cannot be read.
    pub(crate) fn page(&self, child: &ChildRef) -> Result<Shared<Page>> {
        self.disk.check_open()?;
        if let Some(page) = self.cache.get(child.id, child.birth) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            probe::stored_shared(1);
            return Ok(page);
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let page = Shared::new(self.read_page(child)?);
        self.cache.insert(child.id, child.birth, &page);
        Ok(page)
    }

    /// The page that `child` names, read from the disk whatever is cached.
    pub(crate) fn read_page(&self, child: &ChildRef) -> Result<Page> {
        let bytes = self.read_units(child.id.offset(), child.page_bytes())?;
        Ok(Page::open(bytes, child)?)
    }

    /// Reads `len` bytes at `offset`; a range past the end of the file is damage, not an I/O error.
    pub(crate) fn read_units(&self, offset: u64, len: usize) -> Result<Box<[u8]>> {
        // Checked before allocating: a crafted reference may name gigabytes that the file does not have.
        let end = offset.checked_add(int::wide(len));
        let file_len = self.disk.len()?;
        if end.is_none_or(|end| end > file_len) {
            return Err(StorageError::Corrupted(
                Corruption::new("reference past the end of the file")
                    .page(offset / int::wide(UNIT_BYTES))
                    .offset(offset)
                    .expected(file_len)
                    .found(offset.saturating_add(int::wide(len))),
            ));
        }
        let mut bytes = vec![0; len].into_boxed_slice();
        self.disk.read(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// The value that `extent` names, verified against its hash.
    pub(crate) fn extent(&self, extent: &ExtentRef) -> Result<Arc<[u8]>> {
        let bytes = self.read_units(extent.id.offset(), int::saturating_index(extent.len))?;
        let hash = seal::checksum(&bytes);
        if hash != extent.hash {
            return Err(StorageError::Corrupted(
                Corruption::new("extent does not match its hash")
                    .page(extent.id.0)
                    .offset(extent.id.offset())
                    .expected(format_args!("{:016x}", extent.hash))
                    .found(format_args!("{hash:016x}")),
            ));
        }
        Ok(bytes.into())
    }
}
