//! Freeing of whole trees: branches are read, leaves only where a row below them keeps its value in an extent.

use super::lookup::check_level;
use super::writer::PageWriter;
use crate::error::Result;
use crate::page::leaf::Stored;
use crate::page::{ChildRef, Root};

/// What becomes of the extents that a freed tree's rows name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extents {
    /// They are freed with it.
    Free,
    /// They live on under another tree.
    Keep,
}

/// Frees every page below `root`.
pub(crate) fn free_tree(writer: &mut PageWriter<'_>, root: &Root, extents: Extents) -> Result {
    free_subtree(writer, &root.child, root.height - 1, extents)
}

fn free_subtree(
    writer: &mut PageWriter<'_>,
    child: &ChildRef,
    level: u8,
    extents: Extents,
) -> Result {
    if level > 0 {
        let page = writer.pager().page(child)?;
        let branch = page.branch()?;
        check_level(branch.level(), level, child)?;
        for idx in 0..branch.count() {
            free_subtree(writer, &branch.child(idx)?, level - 1, extents)?;
        }
    } else if child.extents && extents == Extents::Free {
        let page = writer.pager().page(child)?;
        let leaf = page.leaf()?;
        for idx in 0..leaf.count() {
            if let Stored::Extent(extent) = leaf.stored(idx)? {
                writer.free_extent(&extent);
            }
        }
    }
    writer.free(child);
    Ok(())
}
