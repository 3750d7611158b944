//! Numbers and a log of what was asked of a simulated disk, for assertions.
//!
//! Every call counts when it arrives, whether it then succeeds or fails.

/// What a call to the disk was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// `read`
    Read,
    /// `write` or `write_vectored`
    Write,
    /// `set_len`
    SetLen,
    /// `allocate`
    Allocate,
    /// `sync_data`
    Sync,
    /// `sync_range`
    SyncRange,
}

impl OperationKind {
    /// Whether it is a barrier.
    #[must_use]
    pub fn is_barrier(self) -> bool {
        matches!(self, OperationKind::Sync | OperationKind::SyncRange)
    }

    /// Whether it changes the disk or is a barrier: the points between which a crash makes a difference.
    #[must_use]
    pub fn is_change(self) -> bool {
        self != OperationKind::Read
    }
}

/// One call to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// What it was.
    pub kind: OperationKind,
    /// Where its range begins; 0 for `set_len` and `sync_data`.
    pub offset: u64,
    /// The bytes of its range; the wanted length for `set_len`, 0 for `sync_data`.
    pub len: u64,
}

/// How often each call was made since the disk was built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls of `read`.
    pub reads: u64,
    /// Bytes asked for by reads.
    pub bytes_read: u64,
    /// Calls of `write` and `write_vectored`.
    pub writes: u64,
    /// Bytes handed to writes.
    pub bytes_written: u64,
    /// Calls of `set_len`.
    pub set_lens: u64,
    /// Calls of `allocate`.
    pub allocates: u64,
    /// Calls of `sync_data`.
    pub syncs: u64,
    /// Calls of `sync_range`.
    pub range_syncs: u64,
    /// The greatest length that the file had.
    pub len_max: u64,
    /// Calls of `close`.
    pub closes: u64,
    /// Calls made through a backend after its `close`, which the trait forbids.
    pub after_close: u64,
    /// Writes, changes of length, allocations and barriers after a barrier had failed and before the next
    /// [`backend`](crate::SimDisk::backend): a failed barrier is final, so there should be none.
    pub after_failed_barrier: u64,
    /// Planned faults that have struck, and growth that the quota refused.
    pub faults: u64,
}

impl Counters {
    /// Writes, changes of length, allocations and barriers: the operations that [`crash_at`] counts.
    ///
    /// [`crash_at`]: crate::SimDisk::crash_at
    #[must_use]
    pub fn operation_count(&self) -> u64 {
        self.writes + self.set_lens + self.allocates + self.barrier_count()
    }

    /// Barriers of both kinds.
    #[must_use]
    pub fn barrier_count(&self) -> u64 {
        self.syncs + self.range_syncs
    }

    pub(crate) fn count(&mut self, operation: Operation) {
        match operation.kind {
            OperationKind::Read => {
                self.reads += 1;
                self.bytes_read += operation.len;
            }
            OperationKind::Write => {
                self.writes += 1;
                self.bytes_written += operation.len;
            }
            OperationKind::SetLen => self.set_lens += 1,
            OperationKind::Allocate => self.allocates += 1,
            OperationKind::Sync => self.syncs += 1,
            OperationKind::SyncRange => self.range_syncs += 1,
        }
    }
}
