//! Counts of what the engine did, for tests and tools.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Running counts, one per kind of event. All Relaxed: they order nothing.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)+
        }

        /// What the engine has done since the database was opened.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct EngineCounters {
            $($(#[$doc])* pub $name: u64,)+
        }

        impl Counters {
            /// The counts at this moment.
            pub(crate) fn snapshot(&self) -> EngineCounters {
                EngineCounters { $($name: self.$name.get(),)+ }
            }
        }
    };
}

counters! {
    /// Leaves written.
    leaf_pages_written,
    /// Branches written.
    branch_pages_written,
    /// Windows of leaves or branches that came out as more pages than went in.
    splits,
    /// Windows that came out as fewer pages than went in.
    merges,
    /// Pages drawn from units that held something before.
    pages_reused,
    /// Large values written to extents of their own.
    extents_written,
    /// Write buffers spilled to sorted runs.
    spills,
    /// Tables deleted by committed transactions.
    table_drops,
    /// Header slots written.
    header_writes,
    /// Transactions committed.
    commits,
}

/// One running count.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub(crate) fn add_one(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The count at this moment.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
