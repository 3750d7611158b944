//! What goes wrong in one run: drawn for a program whose calls to the disk were counted in fair weather.

use fastrand::Rng;

use crate::counters::Counters;
use crate::disk::SimDisk;
use crate::faults::{ErrorCode, Fault, OperationClass, SyncLoss};
use crate::runner::Weather;

/// Misdirected writes go to a multiple of this.
const UNIT_BYTES: u64 = 4096;

/// One fault of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hazard {
    /// The `nth` call of a class meets the fault, and all later ones if it lasts.
    Nth {
        class: OperationClass,
        nth: u64,
        fault: Fault,
        is_lasting: bool,
        loss: SyncLoss,
    },
    /// The disk is full at so many bytes.
    Quota(u64),
}

impl Hazard {
    /// Draws a fault for a program that makes so many calls.
    pub(crate) fn draw(counters: &Counters, rng: &mut Rng) -> Self {
        match rng.u8(..8) {
            0 => return Hazard::Quota(rng.u64(UNIT_BYTES..=counters.len_max.max(UNIT_BYTES))),
            1 | 2 => return Hazard::draw_lie(counters, rng),
            _ => {}
        }
        let classes = CLASSES
            .into_iter()
            .filter(|class| calls(counters, *class) > 0);
        let classes: Vec<_> = classes.collect();
        // Every database writes its header.
        let class = classes[rng.usize(..classes.len())];
        let loss = if rng.bool() {
            SyncLoss::Everything
        } else {
            SyncLoss::Sectors
        };
        Hazard::Nth {
            class,
            nth: rng.u64(1..=calls(counters, class)),
            fault: draw_fault(class, rng),
            is_lasting: rng.u8(..4) == 0,
            loss,
        }
    }

    fn draw_lie(counters: &Counters, rng: &mut Rng) -> Self {
        let fault = match rng.bool() {
            true => Fault::LoseWrite,
            false => Fault::Misdirect(rng.u64(..=counters.len_max / UNIT_BYTES) * UNIT_BYTES),
        };
        Hazard::Nth {
            class: OperationClass::Write,
            nth: rng.u64(1..=counters.writes.max(1)),
            fault,
            is_lasting: false,
            loss: SyncLoss::Everything,
        }
    }

    /// Plans the fault on a disk.
    pub(crate) fn arm(&self, disk: &SimDisk) {
        match *self {
            Hazard::Quota(bytes) => disk.quota(Some(bytes)),
            Hazard::Nth {
                class,
                nth,
                fault,
                is_lasting,
                loss,
            } => {
                disk.set_sync_loss(loss);
                if is_lasting && !self.is_lie() {
                    disk.fail_from(class, nth, fault);
                } else {
                    disk.fail_at(class, nth, fault);
                }
            }
        }
    }

    /// The same fault at every other call of its class, the nearest first.
    pub(crate) fn elsewhere(&self, counters: &Counters) -> Vec<Self> {
        let Hazard::Nth { class, nth, .. } = self else {
            return vec![self.clone()];
        };
        let mut places: Vec<u64> = (1..=calls(counters, *class)).collect();
        places.sort_by_key(|place| place.abs_diff(*nth));
        let moved = |place| {
            let mut hazard = self.clone();
            if let Hazard::Nth { nth, .. } = &mut hazard {
                *nth = place;
            }
            hazard
        };
        places.into_iter().map(moved).collect()
    }

    /// Whether the disk acknowledges what it does not do.
    pub(crate) fn is_lie(&self) -> bool {
        let Hazard::Nth { fault, .. } = self else {
            return false;
        };
        matches!(fault, Fault::LoseWrite | Fault::Misdirect(_))
    }

    /// What the runner has to expect.
    pub(crate) fn weather(&self) -> Weather {
        match self {
            Hazard::Nth {
                class: OperationClass::Read,
                ..
            } => Weather::FailingReads,
            _ if self.is_lie() => Weather::Lying,
            _ => Weather::FailingChanges,
        }
    }
}

/// The classes that faults are drawn for.
const CLASSES: [OperationClass; 6] = [
    OperationClass::Write,
    OperationClass::Barrier,
    OperationClass::Read,
    OperationClass::Change,
    OperationClass::Allocate,
    OperationClass::SetLen,
];

/// How many calls of a class were counted.
fn calls(counters: &Counters, class: OperationClass) -> u64 {
    match class {
        OperationClass::Any => counters.reads + counters.operation_count(),
        OperationClass::Change => counters.operation_count(),
        OperationClass::Read => counters.reads,
        OperationClass::Write => counters.writes,
        OperationClass::SetLen => counters.set_lens,
        OperationClass::Allocate => counters.allocates,
        OperationClass::Barrier => counters.barrier_count(),
    }
}

fn draw_fault(class: OperationClass, rng: &mut Rng) -> Fault {
    const CODES: [ErrorCode; 4] = [
        ErrorCode::Eio,
        ErrorCode::Enospc,
        ErrorCode::Edquot,
        ErrorCode::Efbig,
    ];
    let code = CODES[rng.usize(..4)];
    match class {
        OperationClass::Read if rng.bool() => Fault::FlipBit(rng.u64(..)),
        OperationClass::Read => Fault::Fail(ErrorCode::Eio),
        OperationClass::Barrier => Fault::Fail(ErrorCode::Eio),
        _ if rng.bool() => Fault::Short {
            kept_bytes: rng.u64(..5000),
            code,
        },
        _ => Fault::Fail(code),
    }
}
