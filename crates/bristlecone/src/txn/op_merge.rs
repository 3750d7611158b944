//! One sorted stream out of a buffer and runs: the newest source wins, and the stream remembers what it supersedes.

use std::sync::Arc;

use super::buffer::{Place, WriteBuffer};
use crate::cache::Pager;
use crate::error::Result;
use crate::page::leaf::Stored;
use crate::page::order::KeyCompare;
use crate::page::{ExtentRef, Root};
use crate::tree::cursor::TreeCursor;
use crate::tree::merge::OpStream;
use crate::tree::writer::PageWriter;

/// A run being read front to back.
struct RunSource {
    cursor: TreeCursor,
    key: Vec<u8>,
    live: bool,
}

impl RunSource {
    fn new(pager: &Arc<Pager>, root: Root, compare: &KeyCompare) -> Result<RunSource> {
        let mut cursor = TreeCursor::new(pager, Some(root), compare.clone());
        cursor.seek(std::ops::Bound::Unbounded)?;
        let mut source = RunSource {
            cursor,
            key: Vec::new(),
            live: false,
        };
        source.live = source.cursor.key_into(&mut source.key)?;
        Ok(source)
    }

    fn advance(&mut self) -> Result {
        self.cursor.next()?;
        self.live = self.cursor.key_into(&mut self.key)?;
        Ok(())
    }
}

/// The operations of a buffer over runs, each key once.
pub(crate) struct OpMerge<'b> {
    compare: KeyCompare,
    buffer: Option<&'b WriteBuffer>,
    place: Option<Place>,
    /// Newest first.
    runs: Vec<RunSource>,
    /// Source of the next operation: 0 the buffer, `i + 1` run `i`.
    next: Option<usize>,
    /// Extents of operations that newer ones replaced.
    superseded: Vec<ExtentRef>,
}

impl<'b> OpMerge<'b> {
    /// A stream over `buffer` and `runs` (oldest first, as a table keeps them).
    pub(crate) fn new(
        pager: &Arc<Pager>,
        buffer: Option<&'b WriteBuffer>,
        runs: impl DoubleEndedIterator<Item = Root>,
        compare: &KeyCompare,
    ) -> Result<OpMerge<'b>> {
        let place = buffer.and_then(|buffer| buffer.seek(std::ops::Bound::Unbounded, compare));
        let runs = runs
            .rev()
            .map(|root| RunSource::new(pager, root, compare))
            .collect::<Result<_>>()?;
        let mut merge = OpMerge {
            compare: compare.clone(),
            buffer,
            place,
            runs,
            next: None,
            superseded: Vec::new(),
        };
        merge.next = merge.least();
        Ok(merge)
    }

    /// Ends the stream and frees what its operations superseded within it. Not before all of them are written: until
    /// then a transaction that goes on after an error still reads the runs.
    pub(crate) fn finish(self, writer: &mut PageWriter<'_>) {
        for extent in &self.superseded {
            writer.free_extent(extent);
        }
    }

    fn key(&self, source: usize) -> Option<&[u8]> {
        match source.checked_sub(1) {
            None => Some(self.buffer?.key(self.place?)),
            Some(idx) => self
                .runs
                .get(idx)
                .filter(|run| run.live)
                .map(|run| run.key.as_slice()),
        }
    }

    /// The source with the least key; the newest of several.
    fn least(&self) -> Option<usize> {
        let mut least: Option<(usize, &[u8])> = None;
        for source in 0..=self.runs.len() {
            let Some(key) = self.key(source) else {
                continue;
            };
            if least.is_none_or(|(_, best)| self.compare.compare(key, best).is_lt()) {
                least = Some((source, key));
            }
        }
        least.map(|(source, _)| source)
    }

    fn step(&mut self, source: usize) -> Result {
        match source.checked_sub(1) {
            None => {
                self.place = self
                    .buffer
                    .zip(self.place)
                    .and_then(|(buffer, at)| buffer.after(at));
                Ok(())
            }
            Some(idx) => self.runs[idx].advance(),
        }
    }
}

impl OpStream for OpMerge<'_> {
    fn peek(&self) -> Option<(&[u8], Stored<'_>)> {
        let source = self.next?;
        let stored = match source.checked_sub(1) {
            None => self.buffer?.stored(self.place?),
            // The leaf was validated when it was read, so its rows decode.
            Some(idx) => self.runs[idx].cursor.stored().ok().flatten()?,
        };
        Some((self.key(source)?, stored))
    }

    fn advance(&mut self) -> Result {
        let Some(winner) = self.next else {
            return Ok(());
        };
        let key = self.key(winner).unwrap_or_default().to_vec();
        for source in winner + 1..=self.runs.len() {
            let same = self
                .key(source)
                .is_some_and(|other| self.compare.compare(other, &key).is_eq());
            if !same {
                continue;
            }
            if let Some(Stored::Extent(extent)) = self.runs[source - 1].cursor.stored()? {
                self.superseded.push(extent);
            }
            self.step(source)?;
        }
        self.step(winner)?;
        self.next = self.least();
        Ok(())
    }
}
