//! Entries by number: stores them, and checks whatever comes back.

use std::ops::Range;

use anyhow::Result;

use super::ending::Wrong;
use crate::data::Shape;
use crate::engine::{Durability, Engine, Reader, Writer};

/// Whether a change asks for the value that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// It does not.
    Nothing,
    /// It does, and the answer is checked.
    OldValue,
}

/// Makes, stores and checks entries of one shape.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    /// What they look like.
    pub(super) shape: Shape,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Entries {
    /// Entries of a shape.
    pub(super) fn new(shape: Shape) -> Entries {
        let (key, value) = (Vec::new(), Vec::new());
        Entries { shape, key, value }
    }

    /// The key of entry `index`.
    pub(super) fn key(&mut self, index: u64) -> &[u8] {
        self.shape.key(index, &mut self.key);
        &self.key
    }

    /// Stores entry `index` at a revision, whatever was there.
    pub(super) fn put(&mut self, writer: &mut dyn Writer, index: u64, revision: u32) -> Result<()> {
        self.shape.key(index, &mut self.key);
        self.shape.value(&self.key, revision, &mut self.value);
        writer.put(&self.key, &self.value)
    }

    /// Stores entry `index`, which is not there yet.
    pub(super) fn insert(&mut self, writer: &mut dyn Writer, index: u64, ask: Ask) -> Result<()> {
        if ask == Ask::Nothing {
            return self.put(writer, index, 0);
        }
        self.shape.key(index, &mut self.key);
        self.shape.value(&self.key, 0, &mut self.value);
        if writer.replace(&self.key, &self.value, &mut |_| {})? {
            return Err(Wrong::error(format!(
                "entry {index} was there before it was stored"
            )));
        }
        Ok(())
    }

    /// Stores entry `index` at a revision, where it is at the one before.
    pub(super) fn replace(
        &mut self,
        writer: &mut dyn Writer,
        index: u64,
        revision: u32,
        ask: Ask,
    ) -> Result<()> {
        if ask == Ask::Nothing {
            return self.put(writer, index, revision);
        }
        self.shape.key(index, &mut self.key);
        self.shape.value(&self.key, revision, &mut self.value);
        let (key, shape) = (&self.key, &self.shape);
        let mut right = false;
        let found = writer.replace(key, &self.value, &mut |old| {
            right = shape.revision(key, old) == Some(revision - 1);
        })?;
        judge(found, right, index)
    }

    /// Removes entry `index`, which is there at `revision`.
    pub(super) fn remove(
        &mut self,
        writer: &mut dyn Writer,
        index: u64,
        revision: u32,
        ask: Ask,
    ) -> Result<()> {
        self.shape.key(index, &mut self.key);
        if ask == Ask::Nothing {
            return writer.delete(&self.key);
        }
        let (key, shape) = (&self.key, &self.shape);
        let mut right = false;
        let found = writer.take(key, &mut |value| {
            right = shape.revision(key, value) == Some(revision);
        })?;
        judge(found, right, index)
    }

    /// Reads entry `index`, which must be there at `revision`.
    pub(super) fn get<R: Reader + ?Sized>(
        &mut self,
        reader: &mut R,
        index: u64,
        revision: u32,
    ) -> Result<()> {
        let found = self.has(reader, index, revision)?;
        judge(found, found, index)
    }

    /// Whether entry `index` is there; if so, it must be right at `revision`.
    pub(super) fn has<R: Reader + ?Sized>(
        &mut self,
        reader: &mut R,
        index: u64,
        revision: u32,
    ) -> Result<bool> {
        self.shape.key(index, &mut self.key);
        let (key, shape) = (&self.key, &self.shape);
        let mut right = false;
        let found = reader.get(key, &mut |value| {
            right = shape.revision(key, value) == Some(revision);
        })?;
        if found {
            judge(found, right, index)?;
        }
        Ok(found)
    }
}

/// The verdict on a read.
fn judge(found: bool, right: bool, index: u64) -> Result<()> {
    match (found, right) {
        (true, true) => Ok(()),
        (true, false) => Err(Wrong::error(format!("entry {index} has another value"))),
        (false, _) => Err(Wrong::error(format!("entry {index} is missing"))),
    }
}

/// Stores entries in one transaction.
pub(super) fn put_all(
    engine: &dyn Engine,
    shape: Shape,
    range: Range<u64>,
    durability: Durability,
) -> Result<()> {
    insert_each(
        engine,
        shape,
        range.clone(),
        range.end - range.start,
        durability,
        Ask::Nothing,
    )
}

/// Stores entries, `per_txn` in a transaction.
pub(super) fn insert_each(
    engine: &dyn Engine,
    shape: Shape,
    range: Range<u64>,
    per_txn: u64,
    durability: Durability,
    ask: Ask,
) -> Result<()> {
    let mut entries = Entries::new(shape);
    let mut begin = range.start;
    while begin < range.end {
        let end = range.end.min(begin + per_txn);
        engine.write(durability, &mut |writer| {
            (begin..end).try_for_each(|index| entries.insert(writer, index, ask))
        })?;
        begin = end;
    }
    Ok(())
}

/// Reads `ops` entries out of the first `count` in one transaction.
pub(super) fn get_randomly(engine: &dyn Engine, shape: Shape, ops: u64, count: u64) -> Result<()> {
    let mut entries = Entries::new(shape);
    engine
        .read(&mut |reader| (0..ops).try_for_each(|i| entries.get(reader, shape.pick(i, count), 0)))
}

/// Number of entries, asked for in a transaction of its own.
pub(super) fn len(engine: &dyn Engine) -> Result<u64> {
    let mut count = 0;
    engine.read(&mut |reader| {
        count = reader.len()?;
        Ok(())
    })?;
    Ok(count)
}

/// Runs `work` for each thread's number at once; the first failure is returned.
pub(super) fn in_threads(count: u64, work: impl Fn(u64) -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                scope.spawn({
                    let work = &work;
                    move || work(number)
                })
            })
            .collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        results.into_iter().try_for_each(|result| {
            result.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread of the row panicked")))
        })
    })
}
