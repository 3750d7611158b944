//! Cursors over one tree: seek, then step either way.
//!
//! A cursor holds the path from the root to its leaf; pages are immutable and shared, so it needs no latch and never
//! sees a change. It stands on a row or past the end it ran over.

use std::ops::Bound;
use std::sync::Arc;

use super::lookup::check_level;
use crate::cache::Pager;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::leaf::Stored;
use crate::page::order::KeyCompare;
use crate::page::{ChildRef, Page, Root, UNIT_BYTES};
use crate::probe::Shared;

#[derive(Clone, Debug)]
struct Step {
    page: Shared<Page>,
    idx: usize,
}

/// A position in a tree.
#[derive(Clone, Debug)]
pub(crate) struct TreeCursor {
    pager: Arc<Pager>,
    compare: KeyCompare,
    root: Option<Root>,
    path: Vec<Step>,
    leaf: Option<Step>,
    /// Leaves stepped into since the last seek.
    entered: u64,
}

/// Which child or row to take when entering a page.
#[derive(Clone, Copy)]
enum Edge {
    First,
    Last,
}

impl TreeCursor {
    /// A cursor that stands nowhere until it seeks.
    pub(crate) fn new(pager: &Arc<Pager>, root: Option<Root>, compare: KeyCompare) -> TreeCursor {
        TreeCursor {
            pager: Arc::clone(pager),
            compare,
            root,
            path: Vec::new(),
            leaf: None,
            entered: 0,
        }
    }

    /// Fails where branches name one leaf over and over: a walk in one direction meets each leaf once.
    fn count_leaf(&mut self) -> Result {
        self.entered += 1;
        // The file's length costs a system call, so it is asked for seldom.
        if self.entered < 1024 || !self.entered.is_power_of_two() {
            return Ok(());
        }
        let units = self.pager.disk().len()? / int::wide(UNIT_BYTES);
        if self.entered <= units {
            return Ok(());
        }
        Err(Corruption::new("tree has more leaves than its file has units").into())
    }

    /// The leaf and row the cursor stands on.
    pub(crate) fn current(&self) -> Option<(&Shared<Page>, usize)> {
        self.leaf.as_ref().map(|step| (&step.page, step.idx))
    }

    /// Copies the current key into `out`; returns whether there is one.
    pub(crate) fn key_into(&self, out: &mut Vec<u8>) -> Result<bool> {
        let Some(step) = &self.leaf else {
            return Ok(false);
        };
        step.page.leaf()?.key_into(step.idx, out);
        Ok(true)
    }

    /// The current row's stored value.
    pub(crate) fn stored(&self) -> Result<Option<Stored<'_>>> {
        match &self.leaf {
            None => Ok(None),
            Some(step) => Ok(Some(step.page.leaf()?.stored(step.idx)?)),
        }
    }

    /// Moves to the first row at or behind `bound` (`Unbounded`: the first row).
    pub(crate) fn seek(&mut self, bound: Bound<&[u8]>) -> Result {
        let target = match bound {
            Bound::Unbounded => return self.enter_root(Edge::First),
            Bound::Included(key) | Bound::Excluded(key) => key,
        };
        let Some(page) = self.descend(target)? else {
            return Ok(());
        };
        let leaf = page.leaf()?;
        let idx = match leaf.search(target, &self.compare) {
            Ok(idx) if matches!(bound, Bound::Excluded(_)) => idx + 1,
            Ok(idx) | Err(idx) => idx,
        };
        let inside = idx < leaf.count();
        self.leaf = Some(Step { page, idx });
        if inside { Ok(()) } else { self.next_leaf() }
    }

    /// Moves to the last row at or before `bound` (`Unbounded`: the last row).
    pub(crate) fn seek_back(&mut self, bound: Bound<&[u8]>) -> Result {
        let target = match bound {
            Bound::Unbounded => return self.enter_root(Edge::Last),
            Bound::Included(key) | Bound::Excluded(key) => key,
        };
        let Some(page) = self.descend(target)? else {
            return Ok(());
        };
        let after = match page.leaf()?.search(target, &self.compare) {
            Ok(idx) if matches!(bound, Bound::Included(_)) => idx + 1,
            Ok(idx) | Err(idx) => idx,
        };
        match after.checked_sub(1) {
            Some(idx) => {
                self.leaf = Some(Step { page, idx });
                Ok(())
            }
            None => self.previous_leaf(),
        }
    }

    /// Steps to the next row.
    pub(crate) fn next(&mut self) -> Result {
        let Some(step) = &mut self.leaf else {
            return Ok(());
        };
        step.idx += 1;
        if step.idx < step.page.leaf()?.count() {
            Ok(())
        } else {
            self.next_leaf()
        }
    }

    /// Steps to the previous row.
    pub(crate) fn prev(&mut self) -> Result {
        let Some(step) = &mut self.leaf else {
            return Ok(());
        };
        match step.idx.checked_sub(1) {
            Some(idx) => {
                step.idx = idx;
                Ok(())
            }
            None => self.previous_leaf(),
        }
    }

    /// Descends to the leaf whose range holds `target`, recording the path.
    fn descend(&mut self, target: &[u8]) -> Result<Option<Shared<Page>>> {
        self.path.clear();
        self.leaf = None;
        self.entered = 0;
        let Some(root) = self.root else {
            return Ok(None);
        };
        let mut child = root.child;
        for level in (1..root.height).rev() {
            let page = self.pager.page(&child)?;
            let branch = page.branch()?;
            check_level(branch.level(), level, &child)?;
            let idx = branch.find(target, &self.compare);
            child = branch.child(idx)?;
            self.path.push(Step { page, idx });
        }
        Ok(Some(self.pager.page(&child)?))
    }

    fn enter_root(&mut self, edge: Edge) -> Result {
        self.path.clear();
        self.leaf = None;
        self.entered = 0;
        match self.root {
            None => Ok(()),
            Some(root) => self.enter(root.child, root.height - 1, edge),
        }
    }

    /// Descends along one edge of the subtree `child` at distance `level` from the leaves.
    fn enter(&mut self, mut child: ChildRef, mut level: u8, edge: Edge) -> Result {
        while level > 0 {
            let page = self.pager.page(&child)?;
            let branch = page.branch()?;
            check_level(branch.level(), level, &child)?;
            let idx = match edge {
                Edge::First => 0,
                Edge::Last => branch.count() - 1,
            };
            child = branch.child(idx)?;
            self.path.push(Step { page, idx });
            level -= 1;
        }
        self.count_leaf()?;
        let page = self.pager.page(&child)?;
        // A validated leaf has a row.
        let idx = match edge {
            Edge::First => 0,
            Edge::Last => page.leaf()?.count() - 1,
        };
        self.leaf = Some(Step { page, idx });
        Ok(())
    }

    fn next_leaf(&mut self) -> Result {
        self.leaf = None;
        let mut level = 0;
        while let Some(step) = self.path.last_mut() {
            level += 1;
            let branch = step.page.branch()?;
            if step.idx + 1 < branch.count() {
                step.idx += 1;
                let child = branch.child(step.idx)?;
                return self.enter(child, level - 1, Edge::First);
            }
            self.path.pop();
        }
        Ok(())
    }

    fn previous_leaf(&mut self) -> Result {
        self.leaf = None;
        let mut level = 0;
        while let Some(step) = self.path.last_mut() {
            level += 1;
            if let Some(idx) = step.idx.checked_sub(1) {
                step.idx = idx;
                let child = step.page.branch()?.child(idx)?;
                return self.enter(child, level - 1, Edge::Last);
            }
            self.path.pop();
        }
        Ok(())
    }
}
