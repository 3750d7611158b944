//! Freeing of whole trees: branches are read, leaves only where a row below them keeps its value in an extent.

use super::lookup::check_level;
use super::writer::PageWriter;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::leaf::Stored;
use crate::page::{ChildRef, Root, UNIT_BYTES};

/// Frees every page and extent below `root`.
pub(crate) fn free_tree(writer: &mut PageWriter<'_>, root: Option<&Root>) -> Result {
    root.map_or(Ok(()), |root| Walk::free(writer, root, true))
}

/// Frees the pages below `root` but not the extents their rows name: those live on under another tree.
pub(crate) fn free_pages(writer: &mut PageWriter<'_>, root: &Root) -> Result {
    Walk::free(writer, root, false)
}

struct Walk<'w, 's> {
    writer: &'w mut PageWriter<'s>,
    extents: bool,
    /// Units that may still be freed: no tree has more than its file, unless branches name one child over and over.
    left: u64,
}

impl<'w, 's> Walk<'w, 's> {
    fn free(writer: &'w mut PageWriter<'s>, root: &Root, extents: bool) -> Result {
        let left = writer.pager().disk().len()? / int::wide(UNIT_BYTES);
        let mut walk = Walk {
            writer,
            extents,
            left,
        };
        walk.subtree(&root.child, root.height - 1)
    }

    fn subtree(&mut self, child: &ChildRef, level: u8) -> Result {
        if level > 0 {
            let page = self.writer.pager().page(child)?;
            let branch = page.branch()?;
            check_level(branch.level(), level, child)?;
            for idx in 0..branch.count() {
                self.subtree(&branch.child(idx)?, level - 1)?;
            }
        } else if child.extents && self.extents {
            let page = self.writer.pager().page(child)?;
            let leaf = page.leaf()?;
            for idx in 0..leaf.count() {
                if let Stored::Extent(extent) = leaf.stored(idx)? {
                    self.count(extent.units(), child)?;
                    self.writer.free_extent(&extent);
                }
            }
        }
        self.count(child.units, child)?;
        self.writer.free(child);
        Ok(())
    }

    fn count(&mut self, units: u32, at: &ChildRef) -> Result {
        match self.left.checked_sub(u64::from(units)) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Corruption::new("tree has more pages than its file")
                .page(at.id.0)
                .into()),
        }
    }
}
