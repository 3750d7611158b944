//! A simulated disk that holds one file, and the handle by which a test plays with it.
//!
//! What is written is kept apart from what is durable, so that a test can cut the power and look at every state the
//! file may then be in. See `state.rs` for what the disk remembers and `image.rs` for what a power cut leaves.
//!
//! # Concurrency
//! One mutex around the state; a handle may be cloned and used from any thread.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;

use crate::backend::SimBackend;
use crate::counters::{Counters, Operation};
use crate::faults::{ErrorCode, Fault, OperationClass, SyncLoss};
use crate::image::{self, Cut, Image};
use crate::pending::to_index;
use crate::state::State;

/// A handle to one simulated file; clones share it.
#[derive(Debug, Clone)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

impl SimDisk {
    /// Creates an empty file whose directory entry is not durable. `seed` decides on the bytes of
    /// [`random`](bristlecone::StorageBackend::random) and on what a failed barrier drops.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::from_state(State::new(Vec::new(), false, seed))
    }

    /// Starts from what a power cut left, all of it durable. A file that is gone is a created, empty one.
    #[must_use]
    pub fn from_image(image: &Image, seed: u64) -> Self {
        Self::from_state(State::new(image.bytes.clone(), image.has_entry, seed))
    }

    /// Starts from a file with these bytes, all of them durable.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>, seed: u64) -> Self {
        Self::from_state(State::new(bytes, true, seed))
    }

    /// Returns a backend for the process that runs on this disk; see [`kill`](Self::kill).
    #[must_use]
    pub fn backend(&self) -> SimBackend {
        let mut state = self.lock();
        state.has_failed_barrier = false;
        SimBackend::new(self.clone(), state.process)
    }

    /// Copies the disk with everything it knows, pending operations and planned faults, too; the copy goes its own way.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::from_state(self.lock().clone())
    }

    /// Kills the process: its backends fail from then on, what it wrote stays in the page cache and stays pending.
    /// A planned crash is forgotten, and a disk that had crashed goes on.
    pub fn kill(&self) {
        let mut state = self.lock();
        state.process += 1;
        state.is_crashed = false;
        state.crash_at = None;
    }

    /// Cuts the power at random and returns what is left; the disk itself goes on as if nothing had happened.
    pub fn power_cut(&self, rng: &mut Rng) -> Image {
        self.image(Cut::Random, rng)
    }

    /// Cuts the power in the given way.
    pub fn image(&self, cut: Cut, rng: &mut Rng) -> Image {
        image::build(&self.lock(), cut, rng)
    }

    /// The number of operations that a power cut may undo, the indexes of [`Cut`].
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.lock().pending.len()
    }

    /// Lets every change and barrier from the `nth` on fail, counted from 1 since the disk was built: the disk stays
    /// as it was before that operation, and reads fail, too. [`is_crash`](crate::is_crash) knows the error.
    pub fn crash_at(&self, nth: u64) {
        self.lock().crash_at = Some(nth);
    }

    /// Whether the planned crash has come.
    #[must_use]
    pub fn has_crashed(&self) -> bool {
        self.lock().is_crashed
    }

    /// Lets the `nth` call of `class` from here on, counted from 1, meet `fault`.
    pub fn fail_at(&self, class: OperationClass, nth: u64, fault: Fault) {
        self.lock()
            .faults
            .add(class, nth.saturating_sub(1), false, fault);
    }

    /// Lets the `nth` call of `class` from here on, counted from 1, and all later ones meet `fault`.
    pub fn fail_from(&self, class: OperationClass, nth: u64, fault: Fault) {
        self.lock()
            .faults
            .add(class, nth.saturating_sub(1), true, fault);
    }

    /// Forgets the planned faults and the bits that reads flip.
    pub fn clear_faults(&self) {
        let mut state = self.lock();
        state.faults.clear();
        state.read_flips.clear();
    }

    /// Lets growth past `bytes` fail with `ENOSPC`; `None` takes the limit away. A write that crosses the limit
    /// stores its first part.
    pub fn quota(&self, bytes: Option<u64>) {
        self.lock().quota = bytes;
    }

    /// Chooses what a failed barrier does to the data it covers.
    pub fn set_sync_loss(&self, loss: SyncLoss) {
        self.lock().sync_loss = loss;
    }

    /// Lets barriers be acknowledged and do nothing, as a drive with a broken cache does: no engine survives it, so it
    /// serves to show that a test would notice a missing barrier.
    pub fn ignore_barriers(&self) {
        self.lock().ignores_barriers = true;
    }

    /// Lets every read find the bits of `mask` flipped in the byte at `offset`, whatever is stored there.
    pub fn flip_on_read(&self, offset: u64, mask: u8) {
        self.lock().read_flips.insert(offset, mask);
    }

    /// Rots the stored byte at `offset`, on the disk and in the cache.
    ///
    /// # Errors
    /// `EFBIG` if the file has no such byte.
    pub fn corrupt(&self, offset: u64, xor: u8) -> io::Result<()> {
        let mut state = self.lock();
        if offset >= state.len() {
            return Err(ErrorCode::Efbig.to_error());
        }
        let index = to_index(offset);
        state.cache[index] ^= xor;
        if let Some(byte) = state.durable.get_mut(index) {
            *byte ^= xor;
        }
        Ok(())
    }

    /// Forgets cached bytes that are clean, as memory pressure does. Only after a failed barrier does it change
    /// what reads return: the dropped bytes are then those of the disk.
    pub fn evict_clean(&self) {
        self.lock().evict_clean();
    }

    /// Demands an explicit [`sync_directory`](Self::sync_directory) for the file's entry; otherwise the first
    /// whole-file barrier after the creation makes it durable.
    pub fn demand_directory_sync(&self) {
        self.lock().needs_directory_sync = true;
    }

    /// Makes the file's directory entry durable.
    pub fn sync_directory(&self) {
        self.lock().is_entry_durable = true;
    }

    /// The bytes that reads return.
    #[must_use]
    pub fn cached_bytes(&self) -> Vec<u8> {
        self.lock().cache.clone()
    }

    /// The bytes that a power cut certainly leaves.
    #[must_use]
    pub fn durable_bytes(&self) -> Vec<u8> {
        self.lock().durable.clone()
    }

    /// How often each call was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.lock().counters.clone()
    }

    /// Every call that was made, in order.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        self.lock().log.clone()
    }

    /// Changes and barriers so far: a crash may come before each of them.
    #[must_use]
    pub fn operation_count(&self) -> u64 {
        self.lock().counters.operation_count()
    }

    /// Barriers of both kinds so far.
    #[must_use]
    pub fn barrier_count(&self) -> u64 {
        self.lock().counters.barrier_count()
    }

    pub(crate) fn admit(&self, process: u64) -> io::Result<()> {
        self.lock().admit(process)
    }

    pub(crate) fn len(&self) -> u64 {
        self.lock().len()
    }

    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.lock().read(offset, out)
    }

    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.lock().write(offset, data)
    }

    pub(crate) fn set_len(&self, len: u64) -> io::Result<()> {
        self.lock().set_len(len)
    }

    pub(crate) fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.lock().allocate(offset, len)
    }

    pub(crate) fn sync(&self, range: Option<(u64, u64)>) -> io::Result<()> {
        let range = range.map(|(offset, len)| offset..offset.saturating_add(len));
        self.lock().sync(range)
    }

    pub(crate) fn random(&self, out: &mut [u8]) {
        self.lock().rng.fill(out);
    }

    pub(crate) fn count_close(&self) {
        self.lock().counters.closes += 1;
    }

    pub(crate) fn count_after_close(&self) {
        self.lock().counters.after_close += 1;
    }

    fn from_state(state: State) -> Self {
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    // A failed assertion in a test must not hide behind a poisoned lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
