//! Bf-Tree: an index without transactions, whose only way to the disk that outlives the process is a snapshot.
//!
//! # Files
//! `tree` is the last snapshot, from which the tree is opened and which is its file from then on; `fresh` is the file of
//! a tree that has no snapshot yet. A snapshot is written to `next`, synced, and takes the place of `tree`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use bf_tree::{BfTree, Config, LeafInsertResult, LeafReadResult, ScanReturnField, StorageBackend};

use super::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    Unsupported, WriteBody, Writer, sweep,
};

const KEY_LEN_MAX: usize = 64;
/// Key and value together; a page of 4 KiB must hold two.
const RECORD_LEN_MAX: usize = 1536;
/// The smallest key.
const FIRST: &[u8] = &[0];

/// Bf-Tree.
pub(super) fn contender() -> Contender {
    Contender {
        name: "bf-tree",
        version: "0.5.7",
        settings: |options| {
            vec![
                format!("cb_size_byte = {}", buffer_len(options)),
                format!("cb_max_key_len = {KEY_LEN_MAX}"),
                format!("cb_max_record_size = {RECORD_LEN_MAX}"),
                "use_snapshot = true".to_owned(),
                "a snapshot is taken, and synced, when it settles after writes and when it is closed".to_owned(),
            ]
        },
        promises: Promises {
            durable_commits: false,
            transactions: false,
            snapshots: false,
            note: "it has neither transactions nor a log that can be replayed; its buffer is a power of two; no scans backwards, no compaction, no records of more than 1,536 bytes; len() is a scan; entries that are removed after it was opened from a snapshot may come back",
        },
        open,
    }
}

/// Its buffer must be a power of two.
fn buffer_len(options: &Options) -> usize {
    1 << options.cache_bytes.max(1 << 16).ilog2()
}

fn open(dir: &Path, options: &Options) -> Result<Box<dyn Engine>> {
    let snapshot = dir.join("tree");
    let buffer_len = buffer_len(options);
    let opened = if snapshot.exists() {
        BfTree::new_from_cpr_snapshot(&snapshot, true, None, Some(buffer_len), None)
    } else {
        let mut config = Config::new(dir.join("fresh"), buffer_len);
        config
            .storage_backend(StorageBackend::Std)
            .cb_max_key_len(KEY_LEN_MAX)
            .cb_max_record_size(RECORD_LEN_MAX)
            .use_snapshot(true);
        BfTree::with_config(config, None)
    };
    Ok(Box::new(Tree {
        tree: opened.map_err(|error| anyhow!("{error:?}"))?,
        dir: dir.to_owned(),
        changed: AtomicBool::new(!snapshot.exists()),
    }))
}

struct Tree {
    tree: BfTree,
    dir: PathBuf,
    /// Whether there may be something that the last snapshot does not hold.
    changed: AtomicBool,
}

impl Tree {
    fn snapshot(&self) -> Result<()> {
        if !self.changed.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let next = self.dir.join("next");
        self.tree.cpr_snapshot(&next);
        File::open(&next)
            .and_then(|file| file.sync_all())
            .context("syncing a snapshot")?;
        fs::rename(&next, self.dir.join("tree")).context("putting a snapshot in its place")?;
        Ok(File::open(&self.dir)?.sync_all()?)
    }
}

impl Engine for Tree {
    fn write(&self, _durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        self.changed.store(true, Ordering::Relaxed);
        body(&mut Session::on(&self.tree))
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        body(&mut Session::on(&self.tree))
    }

    fn compact(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn settle(&self) -> Result<()> {
        self.snapshot()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.snapshot()
    }
}

struct Session<'a> {
    tree: &'a BfTree,
    /// Where a value or an entry is copied to.
    buffer: Vec<u8>,
}

impl<'a> Session<'a> {
    fn on(tree: &'a BfTree) -> Session<'a> {
        Session {
            tree,
            buffer: vec![0; RECORD_LEN_MAX],
        }
    }

    fn walk(&mut self, from: &[u8], field: ScanReturnField, see: &mut SeeEntry<'_>) -> Result<()> {
        let mut entries = self
            .tree
            .scan_with_count(from, usize::MAX, field)
            .map_err(|error| anyhow!("{error:?}"))?;
        while let Some((key_len, value_len)) = entries.next(&mut self.buffer) {
            let (key, rest) = self.buffer.split_at(key_len);
            if !see(key, &rest[..value_len]) {
                break;
            }
        }
        Ok(())
    }
}

impl Reader for Session<'_> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        match self.tree.read(key, &mut self.buffer) {
            LeafReadResult::Found(len) => {
                see(&self.buffer[..len as usize]);
                Ok(true)
            }
            LeafReadResult::Deleted | LeafReadResult::NotFound => Ok(false),
            LeafReadResult::InvalidKey => bail!("a key of {} bytes", key.len()),
        }
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        self.walk(from.unwrap_or(FIRST), ScanReturnField::KeyAndValue, see)
    }

    fn scan_back(&mut self, _from: Option<&[u8]>, _see: &mut SeeEntry<'_>) -> Result<()> {
        Err(Unsupported("it has no scans backwards").into())
    }

    fn len(&mut self) -> Result<u64> {
        let mut count = 0;
        self.walk(FIRST, ScanReturnField::Key, &mut |_, _| {
            count += 1;
            true
        })?;
        Ok(count)
    }
}

impl Writer for Session<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if key.len() + value.len() > RECORD_LEN_MAX {
            return Err(Unsupported("it has no records of more than 1,536 bytes").into());
        }
        match self.tree.insert(key, value) {
            LeafInsertResult::Success => Ok(()),
            LeafInsertResult::InvalidKV(reason) => bail!(reason),
        }
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.tree.delete(key);
        Ok(())
    }

    fn take(&mut self, key: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        let found = self.get(key, see_old)?;
        if found {
            self.delete(key)?;
        }
        Ok(found)
    }

    fn retain(&mut self, keep: &mut SeeEntry<'_>) -> Result<()> {
        sweep::retain(self, keep)
    }

    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64> {
        sweep::extract(self, from, to, take)
    }

    /// Without transactions, pops at one end would stay done when one at the other turns out to be impossible.
    fn pop(&mut self, _end: End, _see: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        Err(Unsupported("it has no way to its last entry").into())
    }
}
