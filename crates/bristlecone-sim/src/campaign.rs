//! All that one seed stands for: a program in fair weather, crashes, faults and lies.

use fastrand::Rng;

use crate::disk::SimDisk;
use crate::finding::{Finding, without_panic};
use crate::hazard::Hazard;
use crate::oracle::{Effort, Oracle, judge_lies, judge_rot};
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
    /// Bytes and sectors of the closed file that rot, one at a time.
    pub rots: usize,
    /// Lets the disk ignore barriers in the runs that crash. The engine cannot survive that: it shows that the
    /// oracle notices.
    pub ignore_barriers: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            op_count: None,
            crashes: 3,
            images: 16,
            recovery_crashes: 3,
            faults: 6,
            rots: 40,
            ignore_barriers: false,
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
    let counters = campaign.run_fair()?.counters();
    for _ in 0..config.crashes {
        campaign.run_crash(rng.u64(1..=counters.operation_count()))?;
    }
    for _ in 0..config.faults {
        campaign.run_fault(&Hazard::draw(&counters, &mut rng))?;
    }
    campaign.run_rot(config.rots)?;
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
    let counters = campaign.run_fair()?.counters();
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
    ignore_barriers: bool,
    summary: Summary,
}

impl Campaign {
    fn new(seed: u64, replay: String, program: Vec<Op>, config: &Config) -> Self {
        let effort = Effort {
            images: config.images,
            recovery_crashes: config.recovery_crashes,
        };
        let ignore_barriers = config.ignore_barriers;
        let summary = Summary::default();
        Self {
            seed,
            replay,
            program,
            effort,
            ignore_barriers,
            summary,
        }
    }

    /// Runs the program on a good disk, twice; returns the disk.
    fn run_fair(&mut self) -> Result<SimDisk, Finding> {
        let phase = || "the program".to_owned();
        let disk = self.run_on_good_disk()?;
        let after_close = disk.counters().after_close;
        if after_close > 0 {
            let what = format!("{after_close} calls after close()");
            return Err(self.finding(phase(), what));
        }
        // Crashes are planned by number: a run that cannot be repeated could not be crashed at the same place.
        let (one, two) = (disk.operations(), self.run_on_good_disk()?.operations());
        if let Some(place) = one.iter().zip(&two).position(|(one, two)| one != two) {
            let what = format!(
                "two runs differ at call {place}: {:?} and {:?}",
                one[place], two[place]
            );
            return Err(self.finding(phase(), what));
        }
        if one.len() != two.len() {
            let what = format!("two runs make {} and {} calls", one.len(), two.len());
            return Err(self.finding(phase(), what));
        }
        Ok(disk)
    }

    fn run_on_good_disk(&mut self) -> Result<SimDisk, Finding> {
        let disk = SimDisk::new(self.seed);
        let (program, summary) = (&self.program, &mut self.summary);
        let outcome = without_panic(|| Runner::run(&disk, Weather::Fair, program, summary));
        outcome.map_err(|what| self.finding("the program".to_owned(), what))?;
        Ok(disk)
    }

    /// Runs the program into a crash before the `place`-th change and judges what is left.
    fn run_crash(&mut self, place: u64) -> Result<(), Finding> {
        let disk = SimDisk::new(self.seed);
        disk.crash_at(place);
        if self.ignore_barriers {
            disk.ignore_barriers();
        }
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
    fn run_fault(&mut self, hazard: &Hazard) -> Result<(), Finding> {
        let disk = SimDisk::new(self.seed);
        hazard.arm(&disk);
        let (program, summary) = (&self.program, &mut self.summary);
        let effort = Effort {
            images: self.effort.images.min(6),
            recovery_crashes: 1,
        };
        let mut rng = Rng::with_seed(self.seed ^ 0xFA17);
        let outcome = without_panic(|| {
            let history = Runner::run(&disk, hazard.weather(), program, summary)?;
            summary.runs.faults += disk.counters().faults;
            disk.clear_faults();
            disk.quota(None);
            if hazard.is_lie() {
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
        outcome.map_err(|what| self.finding(format!("{hazard:?}"), what))
    }

    /// Lets the file that the program leaves rot in one place after the other.
    fn run_rot(&mut self, count: usize) -> Result<(), Finding> {
        let disk = SimDisk::new(self.seed);
        let (program, summary) = (&self.program, &mut self.summary);
        let mut rng = Rng::with_seed(self.seed ^ 0x0407);
        let outcome = without_panic(|| {
            let history = Runner::run(&disk, Weather::Fair, program, summary)?;
            let bytes = disk.durable_bytes();
            for _ in 0..count {
                summary.runs.rots += 1;
                summary.runs.rots_noticed += judge_rot(bytes.clone(), &history, &mut rng)?;
            }
            Ok(())
        });
        outcome.map_err(|what| self.finding("rot".to_owned(), what))
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
