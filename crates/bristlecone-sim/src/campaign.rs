//! All that one seed stands for: a program in fair weather, crashes, faults and lies.

use fastrand::Rng;

use crate::counters::Counters;
use crate::disk::SimDisk;
use crate::faults::{ErrorCode, Fault, OperationClass, SyncLoss};
use crate::finding::{Finding, without_panic};
use crate::oracle::{Effort, Oracle, judge_lies};
use crate::program::{Op, generate};
use crate::runner::{Runner, Weather};
use crate::summary::Summary;

/// How much a seed tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Operations of the program; drawn from 200 to 2,000 if none is given.
    pub op_count: Option<usize>,
    /// Crashes of the program, each at a random change or barrier.
    pub crashes: usize,
    /// Images of each crash; at least 16 in earnest.
    pub images: usize,
    /// Crashes in the recovery of each image, at most.
    pub recovery_crashes: usize,
    /// Runs with a fault.
    pub faults: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            op_count: None,
            crashes: 3,
            images: 16,
            recovery_crashes: 3,
            faults: 6,
        }
    }
}

/// Runs everything that `seed` stands for.
///
/// # Errors
/// The first finding.
pub fn run_seed(seed: u64, config: &Config) -> Result<Summary, Finding> {
    let mut rng = Rng::with_seed(seed ^ 0x5EED);
    let op_count = config.op_count.unwrap_or_else(|| rng.usize(200..=2000));
    let replay = match config.op_count {
        None => format!("--seed {seed}"),
        Some(count) => format!("--seed {seed} --ops {count}"),
    };
    let mut campaign = Campaign::new(seed, replay, generate(seed, op_count), config);
    let counters = campaign.run_fair()?;
    for _ in 0..config.crashes {
        campaign.run_crash(rng.u64(1..=counters.operation_count()))?;
    }
    for _ in 0..config.faults {
        campaign.run_fault(&FaultPlan::draw(&counters, &mut rng))?;
    }
    Ok(campaign.summary)
}

/// Runs a short program and crashes it at every change and barrier, and its recoveries likewise.
///
/// # Errors
/// The first finding.
pub fn run_exhaustive(seed: u64, config: &Config) -> Result<Summary, Finding> {
    let op_count = config.op_count.unwrap_or(60);
    let replay = format!("--exhaustive --seed {seed} --ops {op_count}");
    let effort = Config {
        recovery_crashes: usize::MAX,
        ..config.clone()
    };
    let mut campaign = Campaign::new(seed, replay, generate(seed, op_count), &effort);
    let counters = campaign.run_fair()?;
    for place in 1..=counters.operation_count() {
        campaign.run_crash(place)?;
    }
    Ok(campaign.summary)
}

/// One program and what is done with it.
struct Campaign {
    seed: u64,
    replay: String,
    program: Vec<Op>,
    effort: Effort,
    summary: Summary,
}

impl Campaign {
    fn new(seed: u64, replay: String, program: Vec<Op>, config: &Config) -> Self {
        let effort = Effort {
            images: config.images,
            recovery_crashes: config.recovery_crashes,
        };
        Self {
            seed,
            replay,
            program,
            effort,
            summary: Summary::default(),
        }
    }

    /// Runs the program on a good disk; returns what it asked of it.
    fn run_fair(&mut self) -> Result<Counters, Finding> {
        let disk = SimDisk::new(self.seed);
        let (program, summary) = (&self.program, &mut self.summary);
        let outcome = without_panic(|| Runner::run(&disk, Weather::Fair, program, summary));
        outcome.map_err(|what| self.finding("the program".to_owned(), what))?;
        let counters = disk.counters();
        if counters.after_close > 0 {
            let what = format!("{} calls after close()", counters.after_close);
            return Err(self.finding("the program".to_owned(), what));
        }
        Ok(counters)
    }

    /// Runs the program into a crash before the `place`-th change and judges what is left.
    fn run_crash(&mut self, place: u64) -> Result<(), Finding> {
        let disk = SimDisk::new(self.seed);
        disk.crash_at(place);
        let (program, summary, effort) = (&self.program, &mut self.summary, self.effort);
        let mut rng = Rng::with_seed(self.seed.wrapping_add(place << 20));
        let outcome = without_panic(|| {
            let history = Runner::run(&disk, Weather::Crash, program, summary)?;
            summary.runs.crashes += 1;
            Oracle {
                history: &history,
                effort,
                rng: &mut rng,
                summary,
            }
            .judge(&disk)
        });
        outcome.map_err(|what| self.finding(format!("crash at operation {place}"), what))
    }

    /// Runs the program on a disk that fails, judges it in passing and what is left in the end.
    fn run_fault(&mut self, plan: &FaultPlan) -> Result<(), Finding> {
        let disk = SimDisk::new(self.seed);
        plan.arm(&disk);
        let (program, summary) = (&self.program, &mut self.summary);
        let effort = Effort {
            images: self.effort.images.min(6),
            recovery_crashes: 1,
        };
        let mut rng = Rng::with_seed(self.seed ^ 0xFA17);
        let outcome = without_panic(|| {
            let history = Runner::run(&disk, plan.weather(), program, summary)?;
            summary.runs.faults += disk.counters().faults;
            disk.clear_faults();
            disk.quota(None);
            if plan.is_lie() {
                summary.runs.errors_reported += judge_lies(&disk, &history, &mut rng)?;
                return Ok(());
            }
            Oracle {
                history: &history,
                effort,
                rng: &mut rng,
                summary,
            }
            .judge(&disk)
        });
        outcome.map_err(|what| self.finding(format!("{plan:?}"), what))
    }

    fn finding(&self, phase: String, what: String) -> Finding {
        Finding {
            seed: self.seed,
            replay: self.replay.clone(),
            phase,
            what,
        }
    }
}

/// One fault of one run.
#[derive(Debug, Clone)]
enum FaultPlan {
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

impl FaultPlan {
    fn draw(counters: &Counters, rng: &mut Rng) -> Self {
        if rng.u8(..8) == 0 {
            return FaultPlan::Quota(rng.u64(8 << 10..=counters.bytes_written.max(16 << 10)));
        }
        let (class, count) = [
            (OperationClass::Write, counters.writes),
            (OperationClass::Barrier, counters.barrier_count()),
            (OperationClass::Read, counters.reads),
            (OperationClass::Change, counters.operation_count()),
            (OperationClass::Allocate, counters.allocates),
            (OperationClass::SetLen, counters.set_lens),
        ][rng.usize(..6)];
        let loss = if rng.bool() {
            SyncLoss::Everything
        } else {
            SyncLoss::Sectors
        };
        FaultPlan::Nth {
            class,
            nth: rng.u64(1..=count.max(1)),
            fault: draw_fault(class, counters, rng),
            is_lasting: rng.u8(..4) == 0,
            loss,
        }
    }

    fn arm(&self, disk: &SimDisk) {
        match *self {
            FaultPlan::Quota(bytes) => disk.quota(Some(bytes)),
            FaultPlan::Nth {
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

    fn is_lie(&self) -> bool {
        let FaultPlan::Nth { fault, .. } = self else {
            return false;
        };
        matches!(fault, Fault::LoseWrite | Fault::Misdirect(_))
    }

    fn weather(&self) -> Weather {
        match self {
            FaultPlan::Nth {
                class: OperationClass::Read,
                ..
            } => Weather::FailingReads,
            _ if self.is_lie() => Weather::FailingReads,
            _ => Weather::FailingChanges,
        }
    }
}

fn draw_fault(class: OperationClass, counters: &Counters, rng: &mut Rng) -> Fault {
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
        OperationClass::Write if rng.u8(..3) == 0 => {
            let units = counters.bytes_written / 4096;
            match rng.bool() {
                true => Fault::LoseWrite,
                false => Fault::Misdirect(rng.u64(..=units.min(64)) * 4096),
            }
        }
        OperationClass::Barrier => Fault::Fail(ErrorCode::Eio),
        _ if rng.bool() => Fault::Short {
            kept_bytes: rng.u64(..5000),
            code,
        },
        _ => Fault::Fail(code),
    }
}
