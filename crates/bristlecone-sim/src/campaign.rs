//! One program and what is done with it: fair weather, crashes, faults, rot.

use std::fmt;

use fastrand::Rng;

use crate::disk::SimDisk;
use crate::finding::without_panic;
use crate::hazard::Hazard;
use crate::oracle::{Effort, Oracle, judge_lies, judge_rot};
use crate::program::Op;
use crate::runner::{Runner, Weather};
use crate::summary::Summary;

/// What is done with a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It runs on a good disk.
    Fair,
    /// It runs into a crash before the given change, counted from 1.
    Crash(u64),
    /// It runs on a disk that fails.
    Fault(Hazard),
    /// The file that it leaves rots in so many places, one at a time.
    Rot(usize),
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Phase::Fair => f.write_str("fair weather"),
            Phase::Crash(place) => write!(f, "crash at operation {place}"),
            Phase::Fault(hazard) => write!(f, "fault {hazard:?}"),
            Phase::Rot(_) => f.write_str("rot"),
        }
    }
}

/// A program under examination.
#[derive(Debug)]
pub(crate) struct Campaign {
    pub(crate) seed: u64,
    pub(crate) program: Vec<Op>,
    pub(crate) effort: Effort,
    /// See [`Config::ignore_barriers`](crate::Config::ignore_barriers).
    pub(crate) ignore_barriers: bool,
    pub(crate) summary: Summary,
}

impl Campaign {
    /// Goes through one phase; the error says what is wrong.
    pub(crate) fn run(&mut self, phase: &Phase) -> Result<(), String> {
        match phase {
            Phase::Fair => self.run_fair(),
            Phase::Crash(place) => self.run_crash(*place),
            Phase::Fault(hazard) => self.run_fault(hazard),
            Phase::Rot(count) => self.run_rot(*count),
        }
    }

    /// Runs the program on a good disk and returns the disk.
    pub(crate) fn run_on_good_disk(&mut self) -> Result<SimDisk, String> {
        let disk = SimDisk::new(self.seed);
        let (program, summary) = (&self.program, &mut self.summary);
        without_panic(|| Runner::run(&disk, Weather::Fair, program, summary))?;
        Ok(disk)
    }

    fn run_fair(&mut self) -> Result<(), String> {
        let disk = self.run_on_good_disk()?;
        let after_close = disk.counters().after_close;
        if after_close > 0 {
            return Err(format!("{after_close} calls after close()"));
        }
        // Crashes are planned by number: a run that cannot be repeated could not be crashed at the same place.
        let (one, two) = (disk.operations(), self.run_on_good_disk()?.operations());
        if let Some(place) = one.iter().zip(&two).position(|(one, two)| one != two) {
            let (one, two) = (one[place], two[place]);
            return Err(format!(
                "two runs differ at call {place}: {one:?} and {two:?}"
            ));
        }
        if one.len() != two.len() {
            return Err(format!(
                "two runs make {} and {} calls",
                one.len(),
                two.len()
            ));
        }
        Ok(())
    }

    fn run_crash(&mut self, place: u64) -> Result<(), String> {
        let disk = SimDisk::new(self.seed);
        disk.crash_at(place);
        if self.ignore_barriers {
            disk.ignore_barriers();
        }
        let (program, summary, effort) = (&self.program, &mut self.summary, self.effort);
        let mut rng = Rng::with_seed(self.seed.wrapping_add(place << 20));
        without_panic(|| {
            let history = Runner::run(&disk, Weather::Crash, program, summary)?;
            summary.runs.crashes += u64::from(disk.has_crashed());
            Oracle {
                history: &history,
                effort,
                rng: &mut rng,
                summary,
            }
            .judge(&disk)
        })
    }

    /// Judges the engine in passing and what is left in the end.
    fn run_fault(&mut self, hazard: &Hazard) -> Result<(), String> {
        let disk = SimDisk::new(self.seed);
        hazard.arm(&disk);
        let (program, summary) = (&self.program, &mut self.summary);
        let effort = Effort {
            images: self.effort.images.min(6),
            recovery_crashes: 1,
            rots_slots: false,
        };
        let mut rng = Rng::with_seed(self.seed ^ 0xFA17);
        without_panic(|| {
            let history = Runner::run(&disk, hazard.weather(), program, summary)?;
            let counters = disk.counters();
            summary.runs.faults += counters.faults;
            if counters.after_failed_barrier > 0 {
                let count = counters.after_failed_barrier;
                return Err(format!("{count} writes or barriers after one had failed"));
            }
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
        })
    }

    fn run_rot(&mut self, count: usize) -> Result<(), String> {
        let disk = SimDisk::new(self.seed);
        let (program, summary) = (&self.program, &mut self.summary);
        let mut rng = Rng::with_seed(self.seed ^ 0x0407);
        without_panic(|| {
            let history = Runner::run(&disk, Weather::Fair, program, summary)?;
            let bytes = disk.durable_bytes();
            for _ in 0..count {
                summary.runs.rots += 1;
                summary.runs.rots_noticed += judge_rot(bytes.clone(), &history, &mut rng)?;
            }
            Ok(())
        })
    }
}
