//! Freeing of whole trees: branches are read, leaves only where a row below them keeps its value in an extent.

use super::lookup::check_level;
use super::writer::PageWriter;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::leaf::Stored;
use crate::page::{ChildRef, Root, UNIT_BYTES};

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
    let left = writer.pager().disk().len()? / int::wide(UNIT_BYTES);
    let mut walk = Walk {
        writer,
        extents,
        left,
    };
    walk.subtree(&root.child, root.height - 1)
}

struct Walk<'w, 's> {
    writer: &'w mut PageWriter<'s>,
    extents: Extents,
    /// Units that may still be freed: no tree has more than its file, unless branches name one child over and over.
    left: u64,
}

impl Walk<'_, '_> {
    fn subtree(&mut self, child: &ChildRef, level: u8) -> Result {
        if level > 0 {
            let page = self.writer.pager().page(child)?;
            let branch = page.branch()?;
            check_level(branch.level(), level, child)?;
            for idx in 0..branch.count() {
                self.subtree(&branch.child(idx)?, level - 1)?;
            }
        } else if child.extents && self.extents == Extents::Free {
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
