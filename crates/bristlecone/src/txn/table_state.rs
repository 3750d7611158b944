//! One table within a write transaction: its snapshot's tree, its changes, its count.

use std::ops::Bound;
use std::sync::Arc;

use super::buffer::WriteBuffer;
use super::merged::Merged;
use super::op_merge::OpMerge;
use super::run::{self, Run};
use super::value_bytes::ValueBytes;
use crate::cache::{Lease, Pager};
use crate::error::{Corruption, Result};
use crate::page::Root;
use crate::page::leaf::Stored;
use crate::page::order::KeyCompare;
use crate::tree::builder::Builder;
use crate::tree::free::{Extents, free_tree};
use crate::tree::lookup::{self, Found};
use crate::tree::merge;
use crate::tree::writer::PageWriter;
use crate::types::TableSchema;

/// A table as its write transaction sees it.
#[derive(Debug)]
pub(crate) struct TableState {
    /// The table's id.
    pub(crate) id: u64,
    /// Its types.
    pub(crate) schema: TableSchema,
    /// Whether this transaction created it.
    pub(crate) created: bool,
    compare: KeyCompare,
    base: Option<Root>,
    rows: u64,
    buffer: WriteBuffer,
    lease: Lease,
    /// Oldest first.
    runs: Vec<Run>,
}

/// What a look-up found before it became bytes.
enum Place<'a> {
    Buffered(Stored<'a>),
    Row(Found),
    Absent,
}

impl TableState {
    /// A table whose snapshot's root is `base`.
    pub(crate) fn new(
        id: u64,
        schema: TableSchema,
        compare: KeyCompare,
        base: Option<Root>,
        lease: Lease,
    ) -> TableState {
        TableState {
            id,
            schema,
            created: false,
            compare,
            base,
            rows: base.map_or(0, |root| root.child.rows),
            buffer: WriteBuffer::default(),
            lease,
            runs: Vec::new(),
        }
    }

    /// Uses another comparator for the same order: a type's own where the untyped one was used before.
    pub(crate) fn set_compare(&mut self, compare: KeyCompare) {
        self.compare = compare;
    }

    /// Rows, this transaction's changes included.
    pub(crate) fn len(&self) -> u64 {
        self.rows
    }

    /// Root in the snapshot.
    pub(crate) fn base(&self) -> Option<Root> {
        self.base
    }

    /// Bytes of changes in memory.
    pub(crate) fn buffered_bytes(&self) -> usize {
        self.buffer.bytes()
    }

    /// Whether there are changes to commit.
    pub(crate) fn is_changed(&self) -> bool {
        !self.buffer.is_empty() || !self.runs.is_empty()
    }

    fn find<'a>(&'a self, pager: &Pager, key: &[u8]) -> Result<Place<'a>> {
        if let Some(stored) = self.buffer.get(key, &self.compare) {
            return Ok(Place::Buffered(stored));
        }
        for root in self.trees() {
            if let Some(found) = lookup::get(pager, Some(&root), key, &self.compare)? {
                return Ok(Place::Row(found));
            }
        }
        Ok(Place::Absent)
    }

    /// Runs, newest first, then the snapshot's tree.
    fn trees(&self) -> impl Iterator<Item = Root> {
        self.runs.iter().rev().map(|run| run.root).chain(self.base)
    }

    /// The value of a stored key.
    pub(crate) fn get(&self, pager: &Pager, key: &[u8]) -> Result<Option<ValueBytes>> {
        match self.find(pager, key)? {
            Place::Absent => Ok(None),
            Place::Buffered(stored) => ValueBytes::load(pager, stored),
            Place::Row(found) => ValueBytes::of_found(pager, &found),
        }
    }

    /// The rows between two stored keys.
    pub(crate) fn range(
        &self,
        pager: &Arc<Pager>,
        bounds: (Bound<Vec<u8>>, Bound<Vec<u8>>),
    ) -> Merged<'_> {
        let trees = self.trees().collect();
        Merged::new(pager, &self.compare, Some(&self.buffer), trees, bounds)
    }

    /// Sets the value of a key; returns the value it had.
    ///
    /// An extent that this transaction itself put there, and that is still in the buffer, is handed to `drop_extent`.
    pub(crate) fn put(
        &mut self,
        pager: &Pager,
        key: &[u8],
        value: Stored<'_>,
        drop_extent: &mut dyn FnMut(Stored<'_>),
    ) -> Result<Option<ValueBytes>> {
        let old = self.take_old(pager, key, drop_extent)?;
        self.buffer.set(key, value, &self.compare);
        self.lease.resize(self.buffer.bytes());
        self.rows += u64::from(old.is_none());
        Ok(old)
    }

    /// The value that a key is about to lose, and its extent if only the buffer names that.
    fn take_old(
        &self,
        pager: &Pager,
        key: &[u8],
        drop_extent: &mut dyn FnMut(Stored<'_>),
    ) -> Result<Option<ValueBytes>> {
        match self.find(pager, key)? {
            Place::Absent => Ok(None),
            Place::Row(found) => ValueBytes::of_found(pager, &found),
            Place::Buffered(stored) => {
                let old = ValueBytes::load(pager, stored)?;
                drop_extent(stored);
                Ok(old)
            }
        }
    }

    /// Deletes a key; returns the value it had. An absent key leaves no trace.
    pub(crate) fn remove(
        &mut self,
        pager: &Pager,
        key: &[u8],
        drop_extent: &mut dyn FnMut(Stored<'_>),
    ) -> Result<Option<ValueBytes>> {
        let old = self.take_old(pager, key, drop_extent)?;
        if old.is_none() {
            return Ok(None);
        }
        let Some(rows) = self.rows.checked_sub(1) else {
            return Err(Corruption::new("table has more rows than its root counts").into());
        };
        self.buffer.set(key, Stored::Tombstone, &self.compare);
        self.lease.resize(self.buffer.bytes());
        self.rows = rows;
        Ok(old)
    }

    /// Writes the buffer to a sorted run and empties it; merges runs where a level of them is full.
    pub(crate) fn spill(&mut self, writer: &mut PageWriter<'_>) -> Result {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let pager = Arc::clone(writer.pager());
        let none = std::iter::empty();
        let mut ops = OpMerge::new(&pager, Some(&self.buffer), none, &self.compare)?;
        let root = merge::build_run(writer, &mut ops, &self.compare)?;
        self.runs.extend(root.map(|root| Run { root, level: 0 }));
        self.buffer = WriteBuffer::default();
        self.lease.resize(0);
        writer.session().counters().spills.add_one();
        while let Some(count) = run::full_level(&self.runs) {
            self.merge_runs(writer, count)?;
        }
        Ok(())
    }

    /// Merges the newest `count` runs into one of the next level.
    fn merge_runs(&mut self, writer: &mut PageWriter<'_>, count: usize) -> Result {
        let pager = Arc::clone(writer.pager());
        let at = self.runs.len() - count;
        let roots = self.runs[at..].iter().map(|run| run.root);
        let mut ops = OpMerge::new(&pager, None, roots, &self.compare)?;
        let root = merge::build_run(writer, &mut ops, &self.compare)?;
        // Only here, so that after an error every change is still found.
        ops.finish(writer);
        let merged = self.runs.split_off(at);
        let level = merged.iter().map(|run| run.level).max().unwrap_or(0) + 1;
        self.runs.extend(root.map(|root| Run { root, level }));
        for run in &merged {
            free_tree(writer, &run.root, Extents::Keep)?;
        }
        Ok(())
    }

    /// Merges all changes into the snapshot's tree and returns the table's root.
    pub(crate) fn apply(&self, writer: &mut PageWriter<'_>) -> Result<Option<Root>> {
        let pager = Arc::clone(writer.pager());
        let runs = self.runs.iter().map(|run| run.root);
        let mut ops = OpMerge::new(&pager, Some(&self.buffer), runs, &self.compare)?;
        let root = merge::apply(writer, self.base, &mut ops, &self.compare)?;
        ops.finish(writer);
        for run in &self.runs {
            free_tree(writer, &run.root, Extents::Keep)?;
        }
        Builder::check_rows(root.as_ref(), self.rows)?;
        Ok(root)
    }

    /// Frees everything the table holds: its tree, its runs, and the extents that its changes name.
    pub(crate) fn free(&self, writer: &mut PageWriter<'_>) -> Result {
        let mut place = self.buffer.seek(Bound::Unbounded, &self.compare);
        while let Some(at) = place {
            if let Stored::Extent(extent) = self.buffer.stored(at) {
                writer.free_extent(&extent);
            }
            place = self.buffer.after(at);
        }
        for run in &self.runs {
            free_tree(writer, &run.root, Extents::Free)?;
        }
        match &self.base {
            Some(base) => free_tree(writer, base, Extents::Free),
            None => Ok(()),
        }
    }
}
