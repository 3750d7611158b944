//! Sizes of tables and of the whole database, counted by walking their pages.

use crate::cache::Pager;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::leaf::Stored;
use crate::page::{ChildRef, Root, UNIT_BYTES};
use crate::tree::lookup::check_level;
use crate::txn::snapshot::Snapshot;

/// Sizes of one table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStats {
    tree_height: u32,
    leaf_pages: u64,
    branch_pages: u64,
    stored_bytes: u64,
    page_bytes: u64,
    rows: u64,
}

impl TableStats {
    /// Levels of the tree, leaves included; 0 for an empty table.
    pub fn tree_height(&self) -> u32 {
        self.tree_height
    }

    /// Leaf pages.
    pub fn leaf_pages(&self) -> u64 {
        self.leaf_pages
    }

    /// Branch pages.
    pub fn branch_pages(&self) -> u64 {
        self.branch_pages
    }

    /// Bytes of keys and values.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Bytes of pages and extents beyond those of keys and values: headers, offsets, separators, free space.
    pub fn metadata_bytes(&self) -> u64 {
        self.page_bytes.saturating_sub(self.stored_bytes)
    }

    /// Always 0: what a page does not use counts as metadata.
    pub fn fragmented_bytes(&self) -> u64 {
        0
    }
}

/// Sizes of a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseStats {
    tables: TableStats,
    allocated_pages: u64,
    file_pages: u64,
    pinned_pages: u64,
    page_size: usize,
}

impl DatabaseStats {
    /// Levels of the highest table's tree.
    pub fn tree_height(&self) -> u32 {
        self.tables.tree_height
    }

    /// Pages' worth of space in use: reachable, or held for older snapshots.
    pub fn allocated_pages(&self) -> u64 {
        self.allocated_pages
    }

    /// Pages' worth of space in the file.
    pub fn file_pages(&self) -> u64 {
        self.file_pages
    }

    /// Pages' worth of space that only older snapshots and the previous header still reach.
    pub fn pinned_pages(&self) -> u64 {
        self.pinned_pages
    }

    /// Leaf pages of all tables.
    pub fn leaf_pages(&self) -> u64 {
        self.tables.leaf_pages
    }

    /// Branch pages of all tables.
    pub fn branch_pages(&self) -> u64 {
        self.tables.branch_pages
    }

    /// Bytes of keys and values.
    pub fn stored_bytes(&self) -> u64 {
        self.tables.stored_bytes
    }

    /// Bytes of the tables' pages beyond those of keys and values.
    pub fn metadata_bytes(&self) -> u64 {
        self.tables.metadata_bytes()
    }

    /// Bytes of the file that hold nothing.
    pub fn fragmented_bytes(&self) -> u64 {
        self.file_pages.saturating_sub(self.allocated_pages) * int::wide(self.page_size)
    }

    /// Page size in bytes.
    pub fn page_size(&self) -> usize {
        self.page_size
    }
}

/// Walks a table's tree.
pub(super) fn table_stats(pager: &Pager, root: Option<&Root>) -> Result<TableStats> {
    let mut stats = TableStats::default();
    if let Some(root) = root {
        stats.tree_height = u32::from(root.height);
        add_subtree(pager, &root.child, root.height - 1, &mut stats)?;
    }
    Ok(stats)
}

fn add_subtree(pager: &Pager, child: &ChildRef, level: u8, stats: &mut TableStats) -> Result {
    stats.page_bytes += int::wide(child.page_bytes());
    if stats.page_bytes > pager.disk().len()? {
        // Branches name one child over and over; without this the walk might never end.
        return Err(Corruption::new("table has more pages than its file")
            .page(child.id.0)
            .into());
    }
    let page = pager.page(child)?;
    if level > 0 {
        stats.branch_pages += 1;
        let branch = page.branch()?;
        check_level(branch.level(), level, child)?;
        for idx in 0..branch.count() {
            add_subtree(pager, &branch.child(idx)?, level - 1, stats)?;
        }
        return Ok(());
    }
    stats.leaf_pages += 1;
    let leaf = page.leaf()?;
    let mut key = Vec::new();
    for idx in 0..leaf.count() {
        leaf.key_into(idx, &mut key);
        let value_len = match leaf.stored(idx)? {
            Stored::Inline(value) => int::wide(value.len()),
            Stored::Tombstone => 0,
            Stored::Extent(extent) => {
                stats.page_bytes += u64::from(extent.units()) * int::wide(UNIT_BYTES);
                extent.len
            }
        };
        stats.rows += 1;
        stats.stored_bytes += int::wide(key.len()) + value_len;
    }
    Ok(())
}

/// Walks every table of a snapshot.
pub(super) fn database_stats(snapshot: &Snapshot) -> Result<DatabaseStats> {
    let pager = snapshot.pager();
    let mut sum = TableStats::default();
    for (_, entry) in snapshot.list()? {
        let stats = table_stats(pager, snapshot.root_of(entry.id)?.as_ref())?;
        sum.tree_height = sum.tree_height.max(stats.tree_height);
        sum.leaf_pages += stats.leaf_pages;
        sum.branch_pages += stats.branch_pages;
        sum.stored_bytes += stats.stored_bytes;
        sum.page_bytes += stats.page_bytes;
        sum.rows += stats.rows;
    }
    let (in_use, pinned) = match snapshot.checkpoint().space() {
        Some(space) => {
            let usage = space.usage();
            (usage.reachable + usage.pending, usage.pending)
        }
        None => (snapshot.reachable_units()?, 0),
    };
    let page_size = pager.page_bytes();
    let pages = |bytes: u64| bytes.div_ceil(int::wide(page_size));
    Ok(DatabaseStats {
        tables: sum,
        allocated_pages: pages(in_use * int::wide(UNIT_BYTES)),
        file_pages: pages(pager.disk().len()?),
        pinned_pages: pages(pinned * int::wide(UNIT_BYTES)),
        page_size,
    })
}
