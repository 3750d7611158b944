//! Point look-up: root to leaf, one page per level.

use crate::cache::Pager;
use crate::error::{Corruption, Result};
use crate::page::order::KeyCompare;
use crate::page::{ChildRef, Page, Root};
use crate::probe::Shared;

/// A row found in a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The leaf.
    pub(crate) page: Shared<Page>,
    /// Index of the row in it.
    pub(crate) row: usize,
}

/// Finds `key` below `root`.
pub(crate) fn get(
    pager: &Pager,
    root: Option<&Root>,
    key: &[u8],
    compare: &KeyCompare,
) -> Result<Option<Found>> {
    let Some(root) = root else { return Ok(None) };
    let mut child = root.child;
    for level in (1..root.height).rev() {
        let page = pager.page(&child)?;
        let branch = page.branch()?;
        check_level(branch.level(), level, &child)?;
        child = branch.child(branch.find(key, compare))?;
    }
    let page = pager.page(&child)?;
    let found = page.leaf()?.search(key, compare);
    Ok(found.ok().map(|row| Found { page, row }))
}

/// Fails unless a branch stands where its parent says, which also bounds every descent.
pub(crate) fn check_level(found: u8, expected: u8, child: &ChildRef) -> Result {
    if found == expected {
        return Ok(());
    }
    let corruption = Corruption::new("branch stands at the wrong level");
    Err(corruption
        .page(child.id.0)
        .expected(expected)
        .found(found)
        .into())
}
