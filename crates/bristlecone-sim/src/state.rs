//! What a simulated disk knows: the durable bytes, the bytes that reads return, and what lies between.
//!
//! # Invariants
//! 1. `cache` is what the process sees; `durable` is what a power cut certainly leaves.
//! 2. A barrier that succeeds moves pending operations into `durable`. It moves what is pending and not what is
//!    cached: bytes that a failed barrier dropped are clean, so no later barrier makes them durable, and only
//!    writing them again does.
//! 3. After the planned crash nothing changes any more.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Range;

use fastrand::Rng;

use crate::counters::{Counters, Operation, OperationKind};
use crate::faults::{Crashed, ErrorCode, Fault, FaultPlan, SyncLoss};
use crate::pending::{Pending, to_index, to_u64};

/// The longest file a simulated disk takes; more is `EFBIG`.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 30;

/// One simulated file.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) durable: Vec<u8>,
    pub(crate) cache: Vec<u8>,
    pub(crate) pending: Vec<Pending>,
    pub(crate) is_entry_durable: bool,
    /// Whether only an explicit sync of the directory makes the entry durable.
    pub(crate) needs_directory_sync: bool,
    pub(crate) faults: FaultPlan,
    /// Bits that every read of a byte finds flipped, by offset.
    pub(crate) read_flips: BTreeMap<u64, u8>,
    pub(crate) quota: Option<u64>,
    pub(crate) sync_loss: SyncLoss,
    /// Whether barriers are acknowledged and do nothing.
    pub(crate) ignores_barriers: bool,
    /// The first change or barrier, counted from 1, that no longer happens.
    pub(crate) crash_at: Option<u64>,
    pub(crate) is_crashed: bool,
    /// Whether a barrier of the current backend has failed.
    pub(crate) has_failed_barrier: bool,
    /// Raised by each kill; backends of earlier processes are refused.
    pub(crate) process: u64,
    pub(crate) counters: Counters,
    pub(crate) log: Vec<Operation>,
    pub(crate) rng: Rng,
}

impl State {
    pub(crate) fn new(bytes: Vec<u8>, is_entry_durable: bool, seed: u64) -> Self {
        Self {
            cache: bytes.clone(),
            durable: bytes,
            pending: Vec::new(),
            is_entry_durable,
            needs_directory_sync: false,
            faults: FaultPlan::default(),
            read_flips: BTreeMap::new(),
            quota: None,
            sync_loss: SyncLoss::default(),
            ignores_barriers: false,
            crash_at: None,
            is_crashed: false,
            has_failed_barrier: false,
            process: 0,
            counters: Counters::default(),
            log: Vec::new(),
            rng: Rng::with_seed(seed),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        to_u64(self.cache.len())
    }

    /// Lets a backend of `process` in, or says why not.
    pub(crate) fn admit(&self, process: u64) -> io::Result<()> {
        if self.is_crashed {
            return Err(io::Error::other(Crashed));
        }
        if process != self.process {
            return Err(io::Error::other(
                "the process of this simulated backend was killed",
            ));
        }
        Ok(())
    }

    pub(crate) fn read(&mut self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let len = to_u64(out.len());
        let fault = self.enter(Operation {
            kind: OperationKind::Read,
            offset,
            len,
        })?;
        let end = offset.checked_add(len).filter(|end| *end <= self.len());
        if end.is_none() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        out.copy_from_slice(&self.cache[to_index(offset)..][..out.len()]);
        for (place, mask) in self.read_flips.range(offset..offset + len) {
            out[to_index(place - offset)] ^= mask;
        }
        match fault {
            None => Ok(()),
            Some(Fault::FlipBit(bit)) if !out.is_empty() => {
                let bit = bit % (len * 8);
                out[to_index(bit / 8)] ^= 1 << (bit % 8);
                Ok(())
            }
            Some(fault) => Err(code_of(fault).to_error()),
        }
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let len = to_u64(data.len());
        let fault = self.enter(Operation {
            kind: OperationKind::Write,
            offset,
            len,
        })?;
        let end = bounded_end(offset, len)?;
        match fault {
            None => self.write_within_quota(offset, data),
            Some(Fault::LoseWrite) => {
                self.grow(end);
                Ok(())
            }
            Some(Fault::Misdirect(target)) => {
                bounded_end(target, len)?;
                self.store(target, data);
                self.grow(end);
                Ok(())
            }
            Some(Fault::Short { kept_bytes, code }) => {
                self.store(offset, &data[..to_index(kept_bytes.min(len))]);
                Err(code.to_error())
            }
            Some(fault) => Err(code_of(fault).to_error()),
        }
    }

    pub(crate) fn set_len(&mut self, len: u64) -> io::Result<()> {
        let fault = self.enter(Operation {
            kind: OperationKind::SetLen,
            offset: 0,
            len,
        })?;
        bounded_end(0, len)?;
        if len >= self.len() {
            return self.grow_or_fail(len, fault);
        }
        match fault {
            None => {
                self.pending.push(Pending::resize(self.len(), len));
                self.cache.truncate(to_index(len));
                Ok(())
            }
            Some(fault) => Err(code_of(fault).to_error()),
        }
    }

    pub(crate) fn allocate(&mut self, offset: u64, len: u64) -> io::Result<()> {
        let fault = self.enter(Operation {
            kind: OperationKind::Allocate,
            offset,
            len,
        })?;
        let end = bounded_end(offset, len)?;
        self.grow_or_fail(end.max(self.len()), fault)
    }

    /// Makes everything durable, or the bytes of `range` and the length that reading them takes.
    pub(crate) fn sync(&mut self, range: Option<Range<u64>>) -> io::Result<()> {
        let operation = match &range {
            None => Operation {
                kind: OperationKind::Sync,
                offset: 0,
                len: 0,
            },
            Some(range) => Operation {
                kind: OperationKind::SyncRange,
                offset: range.start,
                len: range.end - range.start,
            },
        };
        let fault = self.enter(operation)?;
        if let Some(fault) = fault {
            self.has_failed_barrier = true;
            self.drop_dirty(&range.unwrap_or(0..u64::MAX));
            return Err(code_of(fault).to_error());
        }
        match range {
            _ if self.ignores_barriers => {}
            None => self.settle_all(),
            Some(range) => self.settle_range(&range),
        }
        Ok(())
    }

    /// Forgets cached bytes that are clean, as memory pressure does: what a failed barrier dropped is gone.
    pub(crate) fn evict_clean(&mut self) {
        let len = self.cache.len();
        self.cache = self.durable.clone();
        for fragment in self
            .pending
            .iter()
            .flat_map(|operation| &operation.fragments)
        {
            fragment.overlay(&mut self.cache);
        }
        self.cache.resize(len, 0);
    }

    /// Counts a call and finds out whether it may happen and which fault strikes it.
    fn enter(&mut self, operation: Operation) -> io::Result<Option<Fault>> {
        let is_next = |at: u64| at <= self.counters.operation_count() + 1;
        if operation.kind.is_change() && self.crash_at.is_some_and(is_next) {
            self.is_crashed = true;
        }
        if self.is_crashed {
            return Err(io::Error::other(Crashed));
        }
        self.counters.count(operation);
        if operation.kind.is_change() && self.has_failed_barrier {
            self.counters.after_failed_barrier += 1;
        }
        self.log.push(operation);
        let fault = self.faults.strike(operation);
        self.counters.faults += u64::from(fault.is_some());
        Ok(fault)
    }

    fn write_within_quota(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset + to_u64(data.len());
        let room = self.quota.map_or(u64::MAX, |quota| quota.max(self.len()));
        if end <= room || data.is_empty() {
            self.store(offset, data);
            return Ok(());
        }
        self.counters.faults += 1;
        self.store(offset, &data[..to_index(room.saturating_sub(offset))]);
        Err(ErrorCode::Enospc.to_error())
    }

    /// Grows to `len`, as far as `fault` and the quota let it.
    fn grow_or_fail(&mut self, len: u64, fault: Option<Fault>) -> io::Result<()> {
        match fault {
            None if self.quota.is_some_and(|quota| len > quota.max(self.len())) => {
                self.counters.faults += 1;
                Err(ErrorCode::Enospc.to_error())
            }
            None => {
                self.grow(len);
                Ok(())
            }
            Some(Fault::Short { kept_bytes, code }) => {
                self.grow(len.min(self.len() + kept_bytes));
                Err(code.to_error())
            }
            Some(fault) => Err(code_of(fault).to_error()),
        }
    }

    fn grow(&mut self, len: u64) {
        if self.len() < len {
            self.pending.push(Pending::resize(self.len(), len));
            self.cache.resize(to_index(len), 0);
            self.counters.len_max = self.counters.len_max.max(len);
        }
    }

    fn store(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let end = offset + to_u64(data.len());
        if self.len() < end {
            self.cache.resize(to_index(end), 0);
            self.counters.len_max = self.counters.len_max.max(end);
        }
        self.cache[to_index(offset)..to_index(end)].copy_from_slice(data);
        self.pending.push(Pending::write(offset, data, self.len()));
    }

    fn settle_all(&mut self) {
        for fragment in self
            .pending
            .drain(..)
            .flat_map(|operation| operation.fragments)
        {
            fragment.overlay(&mut self.durable);
        }
        self.durable.resize(self.cache.len(), 0);
        self.is_entry_durable |= !self.needs_directory_sync;
    }

    fn settle_range(&mut self, range: &Range<u64>) {
        let needed = if range.is_empty() {
            0
        } else {
            range.end.min(self.len())
        };
        let len = to_index(needed.max(to_u64(self.durable.len())));
        for operation in &mut self.pending {
            for fragment in operation.take_inside(range) {
                fragment.overlay(&mut self.durable);
            }
            // No earlier length may come back below what is durable.
            operation.len_after = operation.len_after.max(needed);
        }
        self.durable.resize(len, 0);
        // What has lost its bytes and keeps the length of its predecessor tells nothing any more.
        let mut len_before = to_u64(len);
        self.pending.retain(|operation| {
            let is_kept = !operation.fragments.is_empty() || operation.len_after != len_before;
            len_before = operation.len_after;
            is_kept
        });
    }

    /// What a failed barrier does: the written bytes it covers become clean without being durable.
    fn drop_dirty(&mut self, range: &Range<u64>) {
        let len = self.durable.len();
        for operation in &mut self.pending {
            let dropped = operation.take_bytes_inside(range);
            if self.sync_loss == SyncLoss::Sectors {
                let sectors = dropped.iter().flat_map(|fragment| fragment.pieces(512));
                for sector in sectors.filter(|_| self.rng.bool()) {
                    sector.overlay(&mut self.durable);
                }
            }
        }
        self.durable.truncate(len);
    }
}

/// The error of a fault that the call cannot act out in another way.
fn code_of(fault: Fault) -> ErrorCode {
    match fault {
        Fault::Fail(code) | Fault::Short { code, .. } => code,
        Fault::FlipBit(_) | Fault::LoseWrite | Fault::Misdirect(_) => ErrorCode::Eio,
    }
}

fn bounded_end(offset: u64, len: u64) -> io::Result<u64> {
    offset
        .checked_add(len)
        .filter(|end| *end <= FILE_BYTES_MAX)
        .ok_or_else(|| ErrorCode::Efbig.to_error())
}
