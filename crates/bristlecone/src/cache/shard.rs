//! Shards of the page cache: a table of pages and a clock hand that forgets the ones not used lately.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Budget;
use crate::int;
use crate::page::{Number, Page, PageId};
use crate::probe::{self, Shared};

/// Bookkeeping bytes of one cached page beyond its content: table entry, slot, allocation headers.
const ENTRY_BYTES: usize = 160;

#[derive(Debug)]
struct Frame {
    id: PageId,
    birth: Number,
    page: Shared<Page>,
    used: bool,
}

#[derive(Debug, Default)]
struct Shard {
    /// Hashed with fixed keys: random ones would have the same calls cost another number of instructions in each process.
    places: HashMap<u64, usize, BuildHasherDefault<DefaultHasher>>,
    frames: Vec<Frame>,
    hand: usize,
}

/// Cached pages of one database.
#[derive(Debug)]
pub(crate) struct PageCache {
    shards: Box<[Mutex<Shard>]>,
    budget: Arc<Budget>,
    /// Pages forgotten for want of room. A counter, so Relaxed.
    evictions: AtomicU64,
}

/// Below this budget one shard serves all, so that the few pages that fit are not split further.
const SHARDED_BUDGET_BYTES: usize = 4 << 20;

impl PageCache {
    /// An empty cache under `budget`.
    pub(crate) fn new(budget: &Arc<Budget>) -> PageCache {
        let count = if budget.total() < SHARDED_BUDGET_BYTES {
            1
        } else {
            16
        };
        PageCache {
            shards: (0..count).map(|_| Mutex::default()).collect(),
            budget: Arc::clone(budget),
            evictions: AtomicU64::new(0),
        }
    }

    fn shard(&self, id: PageId) -> MutexGuard<'_, Shard> {
        // Pages take at least two units by default, so the low bit alone would leave every other shard empty.
        let mixed = id.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let idx = int::saturating_index(mixed) % self.shards.len();
        // Locked here, unlocked when the guard goes.
        probe::stored_shared(2);
        self.shards[idx]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The page written at `id` by session `birth`, if cached.
    pub(crate) fn get(&self, id: PageId, birth: Number) -> Option<Shared<Page>> {
        probe::looked_up_page();
        let mut shard = self.shard(id);
        let idx = *shard.places.get(&id.0)?;
        let frame = shard.frames.get_mut(idx)?;
        if frame.birth != birth {
            return None;
        }
        frame.used = true;
        probe::stored_shared(1);
        Some(Shared::clone(&frame.page))
    }

    /// Keeps a page, replacing any other write of its place; a page too large for the budget is not kept.
    pub(crate) fn insert(&self, id: PageId, birth: Number, page: &Shared<Page>) {
        let bytes = frame_bytes(page);
        let mut shard = self.shard(id);
        self.budget.drop_cached(shard.forget(id));
        if bytes > self.budget.total() / 4 {
            return;
        }
        while self.budget.is_passed_by(bytes) && self.evict_one(&mut shard) {}
        let idx = shard.frames.len();
        shard.places.insert(id.0, idx);
        shard.frames.push(Frame {
            id,
            birth,
            page: Shared::clone(page),
            used: false,
        });
        self.budget.add_cached(bytes);
    }

    /// Forgets whatever is cached for `id`.
    pub(crate) fn forget(&self, id: PageId) {
        self.budget.drop_cached(self.shard(id).forget(id));
    }

    /// Forgets pages until what has been leased meanwhile fits the budget beside the rest, or none is left.
    pub(crate) fn make_room(&self) {
        let mut evicted = true;
        while evicted && self.budget.is_passed_by(0) {
            evicted = false;
            // One of each in turn, so that all shards keep their share.
            for shard in &self.shards {
                let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
                evicted |= self.evict_one(&mut shard);
            }
        }
    }

    fn evict_one(&self, shard: &mut Shard) -> bool {
        let bytes = shard.evict_one();
        if let Some(bytes) = bytes {
            self.budget.drop_cached(bytes);
            self.evictions.fetch_add(1, Ordering::Relaxed);
        }
        bytes.is_some()
    }

    /// Pages forgotten for want of room so far.
    pub(crate) fn evictions(&self) -> u64 {
        self.evictions.load(Ordering::Relaxed)
    }
}

/// What a page takes of the budget.
fn frame_bytes(page: &Page) -> usize {
    page.bytes().len() + ENTRY_BYTES
}

impl Shard {
    /// Returns the bytes given up.
    fn forget(&mut self, id: PageId) -> usize {
        match self.places.remove(&id.0) {
            None => 0,
            Some(idx) => self.remove_frame(idx),
        }
    }

    fn remove_frame(&mut self, idx: usize) -> usize {
        let frame = self.frames.swap_remove(idx);
        if let Some(moved) = self.frames.get(idx) {
            self.places.insert(moved.id.0, idx);
        }
        frame_bytes(&frame.page)
    }

    /// Second chance: passes over pages used since the hand was last here, at most one round. Returns the bytes given
    /// up; `None` if the shard is empty.
    fn evict_one(&mut self) -> Option<usize> {
        for _ in 0..=self.frames.len() {
            if self.hand >= self.frames.len() {
                self.hand = 0;
            }
            let frame = self.frames.get_mut(self.hand)?;
            if frame.used {
                frame.used = false;
                self.hand += 1;
                continue;
            }
            let id = frame.id;
            return Some(self.forget(id));
        }
        None
    }
}
