//! An engine that is a map in memory: an honest one, one that lies, one that can do little.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use anyhow::Result;

use crate::engine::{
    Contender, Durability, End, Engine, Options, Promises, ReadBody, Reader, SeeEntry, SeeValue,
    Unsupported, WriteBody, Writer,
};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// What maps hold between close and open, by folder.
static DISK: LazyLock<Mutex<BTreeMap<PathBuf, Arc<Mutex<Map>>>>> = LazyLock::new(Mutex::default);

/// How a map behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Honest,
    /// Every value that it shows has a bit turned, once some have been right.
    Liar,
    /// It has neither old values, nor unsynced commits, nor compaction.
    Incapable,
}

struct MapEngine {
    map: Arc<Mutex<Map>>,
    manner: Manner,
}

struct Session<'a> {
    map: MutexGuard<'a, Map>,
    manner: Manner,
    turned: Vec<u8>,
}

/// An engine that keeps every promise.
pub(super) fn honest() -> Contender {
    contender(true, |dir, _| open(dir, Manner::Honest))
}

/// An engine that returns other values than were stored.
pub(super) fn liar() -> Contender {
    contender(true, |dir, _| open(dir, Manner::Liar))
}

/// An engine that has next to nothing beyond puts and gets.
pub(super) fn incapable() -> Contender {
    contender(false, |dir, _| open(dir, Manner::Incapable))
}

fn contender(promises: bool, open: fn(&Path, &Options) -> Result<Box<dyn Engine>>) -> Contender {
    Contender {
        name: "map",
        version: "1",
        settings: |_| Vec::new(),
        promises: Promises {
            durable_commits: promises,
            transactions: promises,
            snapshots: promises,
            note: "",
        },
        open,
    }
}

fn open(dir: &Path, manner: Manner) -> Result<Box<dyn Engine>> {
    let map = DISK
        .lock()
        .unwrap()
        .entry(dir.to_owned())
        .or_default()
        .clone();
    Ok(Box::new(MapEngine { map, manner }))
}

impl MapEngine {
    fn session(&self) -> Session<'_> {
        Session {
            map: self.map.lock().unwrap(),
            manner: self.manner,
            turned: Vec::new(),
        }
    }
}

impl Engine for MapEngine {
    fn write(&self, durability: Durability, body: &mut WriteBody<'_>) -> Result<()> {
        if self.manner == Manner::Incapable && durability == Durability::Unsynced {
            return Err(Unsupported("every commit is synced").into());
        }
        body(&mut self.session())
    }

    fn read(&self, body: &mut ReadBody<'_>) -> Result<()> {
        body(&mut self.session())
    }

    fn compact(&mut self) -> Result<bool> {
        Ok(self.manner != Manner::Incapable)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Session<'_> {
    /// Shows a value, or what a liar makes of it.
    fn show<T>(&mut self, value: &[u8], see: impl FnOnce(&[u8]) -> T) -> T {
        self.turned.clear();
        self.turned.extend_from_slice(value);
        if self.manner == Manner::Liar {
            let last = self.turned.len() - 1;
            self.turned[last] ^= 1;
        }
        see(&self.turned)
    }

    fn walk(&mut self, entries: Vec<(Vec<u8>, Vec<u8>)>, see: &mut SeeEntry<'_>) {
        for (key, value) in entries {
            if !self.show(&value, |value| see(&key, value)) {
                break;
            }
        }
    }

    /// Entries from a key on; maps of tests are small.
    fn copy(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Vec<(Vec<u8>, Vec<u8>)> {
        let range = self.map.range::<[u8], _>((lower, upper));
        range
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }
}

impl Reader for Session<'_> {
    fn get(&mut self, key: &[u8], see: &mut SeeValue<'_>) -> Result<bool> {
        let Some(value) = self.map.get(key).cloned() else {
            return Ok(false);
        };
        self.show(&value, see);
        Ok(true)
    }

    fn scan(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let entries = self.copy(
            from.map_or(Bound::Unbounded, Bound::Included),
            Bound::Unbounded,
        );
        self.walk(entries, see);
        Ok(())
    }

    fn scan_back(&mut self, from: Option<&[u8]>, see: &mut SeeEntry<'_>) -> Result<()> {
        let upper = from.map_or(Bound::Unbounded, Bound::Included);
        let mut entries = self.copy(Bound::Unbounded, upper);
        entries.reverse();
        self.walk(entries, see);
        Ok(())
    }

    fn len(&mut self) -> Result<u64> {
        Ok(self.map.len() as u64)
    }
}

impl Writer for Session<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.map.insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    fn replace(&mut self, key: &[u8], value: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        if self.manner == Manner::Incapable {
            return Err(Unsupported("it does not return old values").into());
        }
        let found = self.get(key, see_old)?;
        self.put(key, value)?;
        Ok(found)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.map.remove(key);
        Ok(())
    }

    fn take(&mut self, key: &[u8], see_old: &mut SeeValue<'_>) -> Result<bool> {
        if self.manner == Manner::Incapable {
            return Err(Unsupported("it does not return old values").into());
        }
        let found = self.get(key, see_old)?;
        self.delete(key)?;
        Ok(found)
    }

    fn retain(&mut self, keep: &mut SeeEntry<'_>) -> Result<()> {
        for (key, value) in self.copy(Bound::Unbounded, Bound::Unbounded) {
            if !self.show(&value, |value| keep(&key, value)) {
                self.map.remove(&key);
            }
        }
        Ok(())
    }

    fn extract(&mut self, from: &[u8], to: &[u8], take: &mut SeeEntry<'_>) -> Result<u64> {
        let mut taken = 0;
        for (key, value) in self.copy(Bound::Included(from), Bound::Excluded(to)) {
            if self.show(&value, |value| take(&key, value)) {
                self.map.remove(&key);
                taken += 1;
            }
        }
        Ok(taken)
    }

    fn pop(&mut self, end: End, see: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let entry = match end {
            End::First => self.map.pop_first(),
            End::Last => self.map.pop_last(),
        };
        let Some((key, value)) = entry else {
            return Ok(false);
        };
        self.show(&value, |value| see(&key, value));
        Ok(true)
    }
}
