//! What a set of runs has done, so that a set that tests less than it seems to is noticed.

use std::fmt;

use bristlecone::Database;

/// Declares a struct of counts with addition and a list of its fields by name.
macro_rules! counts {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: u64,)*
        }

        impl $name {
            /// Adds the counts of another set of runs.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// The counts by name.
            #[must_use]
            pub fn fields(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($field), self.$field),)*]
            }
        }
    };
}

counts! {
    /// What the engine did, summed over all databases that were opened.
    EngineTotals {
        /// Leaf pages written.
        leaf_pages_written,
        /// Branch pages written.
        branch_pages_written,
        /// Pages split.
        splits,
        /// Pages merged.
        merges,
        /// Freed pages that were allocated again.
        pages_reused,
        /// Large values written outside of pages.
        extents_written,
        /// Transactions that outgrew their memory.
        spills,
        /// Tables dropped.
        table_drops,
        /// Header slots written.
        header_writes,
        /// Commits.
        commits,
    }
}

counts! {
    /// What the runs did.
    RunTotals {
        /// Operations of programs.
        operations,
        /// Commits acknowledged.
        commits,
        /// Transactions aborted by the program.
        aborts,
        /// Tables dropped that existed.
        table_drops,
        /// Snapshots compared with the model.
        snapshots_verified,
        /// Clean closes followed by an open.
        reopens,
        /// Integrity checks.
        checks,
        /// Runs that ended in a planned crash.
        crashes,
        /// Images that were built of crashed disks.
        crash_images,
        /// Those that differed from all others of their crash, opened and verified.
        images_verified,
        /// Recoveries that met a crash themselves.
        recovery_crashes,
        /// Versions found after a crash that had not been acknowledged.
        unacknowledged_found,
        /// Faults that struck.
        faults,
        /// Errors that the engine reported because of them.
        errors_reported,
        /// Commits that failed.
        commits_failed,
        /// Databases that refused writes after a fault.
        halts,
        /// Places that rotted in a closed file.
        rots,
        /// Those that led to an error; the others were never read or not needed.
        rots_noticed,
    }
}

/// What a set of runs has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// By the engine's own count.
    pub engine: EngineTotals,
    /// By the runner's.
    pub runs: RunTotals,
}

impl Summary {
    /// Adds another set.
    pub fn add(&mut self, other: &Self) {
        self.engine.add(&other.engine);
        self.runs.add(&other.runs);
    }

    /// What never happened, by name: over a whole set of seeds there should be nothing.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let fields = self.engine.fields().into_iter().chain(self.runs.fields());
        fields
            .filter(|(_, count)| *count == 0)
            .map(|(name, _)| name)
            .collect()
    }

    /// Takes the counts of a database that is about to be dropped.
    pub(crate) fn take(&mut self, database: &Database) {
        let counted = database.engine_counters();
        self.engine.add(&EngineTotals {
            leaf_pages_written: counted.leaf_pages_written,
            branch_pages_written: counted.branch_pages_written,
            splits: counted.splits,
            merges: counted.merges,
            pages_reused: counted.pages_reused,
            extents_written: counted.extents_written,
            spills: counted.spills,
            table_drops: counted.table_drops,
            header_writes: counted.header_writes,
            commits: counted.commits,
        });
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, fields) in [
            ("engine", self.engine.fields()),
            ("runs", self.runs.fields()),
        ] {
            writeln!(f, "{title}:")?;
            for (name, count) in fields {
                writeln!(f, "  {name:<22} {count:>12}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_happened_is_named() {
        let mut summary = Summary::default();
        assert!(summary.missing().contains(&"splits"));
        let mut other = Summary::default();
        other.engine.splits = 2;
        other.runs.aborts = 3;
        summary.add(&other);
        summary.add(&other);
        assert!(!summary.missing().contains(&"splits"));
        assert_eq!((summary.engine.splits, summary.runs.aborts), (4, 6));
        assert!(summary.to_string().contains("aborts"));
    }
}
