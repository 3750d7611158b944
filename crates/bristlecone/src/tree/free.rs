//! Freeing of whole trees: branches are read, leaves only where a row below them keeps its value in an extent.

use super::lookup::check_level;
use super::writer::PageWriter;
use crate::error::Result;
use crate::page::leaf::Stored;
use crate::page::{ChildRef, Root};

/// Frees every page and extent below `root`.
pub(crate) fn free_tree(writer: &mut PageWriter<'_>, root: Option<&Root>) -> Result {
    match root {
        None => Ok(()),
        Some(root) => free_subtree(writer, &root.child, root.height - 1),
    }
}

fn free_subtree(writer: &mut PageWriter<'_>, child: &ChildRef, level: u8) -> Result {
    if level > 0 {
        let page = writer.pager().page(child)?;
        let branch = page.branch()?;
        check_level(branch.level(), level, child)?;
        for idx in 0..branch.count() {
            free_subtree(writer, &branch.child(idx)?, level - 1)?;
        }
    } else if child.extents {
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

/// Frees the pages below `root` but not the extents their rows name: those live on under another tree.
pub(crate) fn free_pages(writer: &mut PageWriter<'_>, root: &Root) -> Result {
    free_pages_below(writer, &root.child, root.height - 1)
}

fn free_pages_below(writer: &mut PageWriter<'_>, child: &ChildRef, level: u8) -> Result {
    if level > 0 {
        let page = writer.pager().page(child)?;
        let branch = page.branch()?;
        check_level(branch.level(), level, child)?;
        for idx in 0..branch.count() {
            free_pages_below(writer, &branch.child(idx)?, level - 1)?;
        }
    }
    writer.free(child);
    Ok(())
}
