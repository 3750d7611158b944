//! Planned errors and lies of a simulated disk.
//!
//! # Invariants
//! 1. A plan strikes by the number of calls in its class, so that the same run meets it at the same place.
//! 2. A fault that does not fit the call it meets (a flipped bit in a write, say) is a plain `EIO` there.

use std::fmt;
use std::io;

use crate::counters::{Operation, OperationKind};

/// Which calls a planned fault counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationClass {
    /// Every read, write, change of length, allocation and barrier.
    Any,
    /// Everything but reads.
    Change,
    /// Reads.
    Read,
    /// Writes, plain and vectored.
    Write,
    /// Changes of the length.
    SetLen,
    /// Allocations.
    Allocate,
    /// Barriers of both kinds.
    Barrier,
}

impl OperationClass {
    /// Whether a call of `kind` belongs to the class.
    #[must_use]
    pub fn holds(self, kind: OperationKind) -> bool {
        match self {
            OperationClass::Any => true,
            OperationClass::Change => kind.is_change(),
            OperationClass::Read => kind == OperationKind::Read,
            OperationClass::Write => kind == OperationKind::Write,
            OperationClass::SetLen => kind == OperationKind::SetLen,
            OperationClass::Allocate => kind == OperationKind::Allocate,
            OperationClass::Barrier => kind.is_barrier(),
        }
    }
}

/// The errors that a disk or its file system returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The device failed.
    Eio,
    /// No space left.
    Enospc,
    /// The user's quota is used up.
    Edquot,
    /// The file would be larger than allowed.
    Efbig,
}

impl ErrorCode {
    /// The error as the operating system would report it.
    #[must_use]
    pub fn to_error(self) -> io::Error {
        #[cfg(target_os = "linux")]
        let error = io::Error::from_raw_os_error(match self {
            ErrorCode::Eio => 5,
            ErrorCode::Enospc => 28,
            ErrorCode::Edquot => 122,
            ErrorCode::Efbig => 27,
        });
        #[cfg(not(target_os = "linux"))]
        let error = io::Error::from(match self {
            ErrorCode::Eio => io::ErrorKind::Other,
            ErrorCode::Enospc => io::ErrorKind::StorageFull,
            ErrorCode::Edquot => io::ErrorKind::QuotaExceeded,
            ErrorCode::Efbig => io::ErrorKind::FileTooLarge,
        });
        error
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The call does nothing and reports the error. A barrier also drops the data it was to make durable.
    Fail(ErrorCode),
    /// Of a write, the first bytes are stored, of a growth, the first bytes are gained; then the error.
    Short {
        /// How many bytes are stored or gained.
        kept_bytes: u64,
        /// What is reported.
        code: ErrorCode,
    },
    /// The read returns one wrong bit, counted from the start of its range (modulo its length).
    FlipBit(u64),
    /// The write is acknowledged and stores nothing; a length that it should have raised is raised.
    LoseWrite,
    /// The write is acknowledged and stored at this offset instead of its own.
    Misdirect(u64),
}

/// What a failed barrier does to the data it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SyncLoss {
    /// None of it reaches the disk.
    #[default]
    Everything,
    /// Of each 512-byte sector a coin decides.
    Sectors,
}

#[derive(Debug, Clone)]
struct Planned {
    class: OperationClass,
    /// Calls of the class that still pass.
    calls_left: u64,
    is_lasting: bool,
    fault: Fault,
}

/// The faults to come.
#[derive(Debug, Clone, Default)]
pub(crate) struct FaultPlan {
    planned: Vec<Planned>,
}

impl FaultPlan {
    /// Plans `fault` for the call of `class` after `calls_left` more, and all later ones if `is_lasting`.
    pub(crate) fn add(
        &mut self,
        class: OperationClass,
        calls_left: u64,
        is_lasting: bool,
        fault: Fault,
    ) {
        self.planned.push(Planned {
            class,
            calls_left,
            is_lasting,
            fault,
        });
    }

    pub(crate) fn clear(&mut self) {
        self.planned.clear();
    }

    /// The fault that strikes this call, if any; the first planned wins.
    pub(crate) fn strike(&mut self, operation: Operation) -> Option<Fault> {
        let mut struck = None;
        self.planned.retain_mut(|planned| {
            if !planned.class.holds(operation.kind) {
                return true;
            }
            if planned.calls_left > 0 {
                planned.calls_left -= 1;
                return true;
            }
            struck.get_or_insert(planned.fault);
            planned.is_lasting
        });
        struck
    }
}

/// The error of every call to a disk that has crashed.
#[derive(Debug)]
pub(crate) struct Crashed;

impl fmt::Display for Crashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the simulated machine has crashed")
    }
}

impl std::error::Error for Crashed {}

/// Whether `error` is the one a disk returns once its planned crash has come.
#[must_use]
pub fn is_crash(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Crashed>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: OperationKind) -> Operation {
        Operation {
            kind,
            offset: 0,
            len: 1,
        }
    }

    #[test]
    fn plans_count_calls_of_their_class_alone() {
        let mut plan = FaultPlan::default();
        plan.add(OperationClass::Write, 1, false, Fault::LoseWrite);
        let kinds = [
            (OperationKind::Read, false),
            (OperationKind::Write, false),
            (OperationKind::Sync, false),
            (OperationKind::Write, true),
            (OperationKind::Write, false),
        ];
        for (kind, strikes) in kinds {
            assert_eq!(plan.strike(call(kind)).is_some(), strikes);
        }
    }

    #[test]
    fn lasting_faults_stay_until_cleared() {
        let mut plan = FaultPlan::default();
        plan.add(OperationClass::Change, 0, true, Fault::Fail(ErrorCode::Eio));
        assert!(plan.strike(call(OperationKind::Read)).is_none());
        for kind in [
            OperationKind::SetLen,
            OperationKind::Allocate,
            OperationKind::SyncRange,
        ] {
            assert!(plan.strike(call(kind)).is_some());
        }
        plan.clear();
        assert!(plan.strike(call(OperationKind::Write)).is_none());
    }

    #[test]
    fn classes_hold_their_kinds() {
        use OperationKind as Kind;
        let kinds = [
            Kind::Read,
            Kind::Write,
            Kind::SetLen,
            Kind::Allocate,
            Kind::Sync,
            Kind::SyncRange,
        ];
        let held = |class: OperationClass| kinds.iter().filter(|kind| class.holds(**kind)).count();
        assert_eq!(held(OperationClass::Any), 6);
        assert_eq!(held(OperationClass::Change), 5);
        assert_eq!(held(OperationClass::Barrier), 2);
        for class in [
            OperationClass::Read,
            OperationClass::Write,
            OperationClass::SetLen,
            OperationClass::Allocate,
        ] {
            assert_eq!(held(class), 1);
        }
    }

    #[test]
    fn codes_have_the_kinds_of_the_system() {
        use io::ErrorKind;
        assert_eq!(ErrorCode::Enospc.to_error().kind(), ErrorKind::StorageFull);
        assert_eq!(
            ErrorCode::Edquot.to_error().kind(),
            ErrorKind::QuotaExceeded
        );
        assert_eq!(ErrorCode::Efbig.to_error().kind(), ErrorKind::FileTooLarge);
        assert!(!is_crash(&ErrorCode::Eio.to_error()));
        assert!(is_crash(&io::Error::other(Crashed)));
    }
}
