//! All that one seed stands for, and the way from a finding to a small program that shows it.

use fastrand::Rng;

use crate::campaign::{Campaign, Phase};
use crate::finding::Finding;
use crate::hazard::Hazard;
use crate::oracle::Effort;
use crate::program::{Op, generate, generate_light};
use crate::summary::Summary;

/// How much a seed tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Operations of the program. By default drawn from 200 to 2,000, and 60 where every place is crashed.
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

impl Config {
    /// The arguments that differ from the default.
    fn arguments(&self) -> String {
        let default = Self::default();
        let mut arguments = String::new();
        if let Some(count) = self.op_count {
            arguments += &format!(" --ops {count}");
        }
        let counts = [
            ("--crashes", self.crashes, default.crashes),
            ("--images", self.images, default.images),
            (
                "--recovery-crashes",
                self.recovery_crashes,
                default.recovery_crashes,
            ),
            ("--faults", self.faults, default.faults),
            ("--rots", self.rots, default.rots),
        ];
        for (name, count, default) in counts {
            if count != default {
                arguments += &format!(" {name} {count}");
            }
        }
        arguments
    }

    fn campaign(&self, seed: u64, program: Vec<Op>) -> Campaign {
        Campaign {
            seed,
            program,
            effort: Effort {
                images: self.images,
                recovery_crashes: self.recovery_crashes,
                rots_slots: true,
            },
            ignore_barriers: self.ignore_barriers,
            summary: Summary::default(),
        }
    }
}

/// A phase that went wrong, and how.
type Failure = (Phase, String);

/// Runs everything that `seed` stands for.
///
/// # Errors
/// The first finding.
pub fn run_seed(seed: u64, config: &Config) -> Result<Summary, Finding> {
    let mut campaign = config.campaign(seed, seeded_program(seed, config));
    match sample(&mut campaign, config) {
        Ok(()) => Ok(campaign.summary),
        Err(failure) => Err(finding(
            seed,
            &format!("--seed {seed}{}", config.arguments()),
            failure,
        )),
    }
}

/// Runs a short program and crashes it at every change and barrier, and its recoveries likewise.
///
/// # Errors
/// The first finding.
pub fn run_exhaustive(seed: u64, config: &Config) -> Result<Summary, Finding> {
    let mut campaign = config.campaign(seed, light_program(seed, config));
    campaign.effort.recovery_crashes = usize::MAX;
    match crash_everywhere(&mut campaign) {
        Ok(()) => Ok(campaign.summary),
        Err(failure) => {
            let replay = format!("--exhaustive --seed {seed}{}", config.arguments());
            Err(finding(seed, &replay, failure))
        }
    }
}

/// Runs a program written by hand, as a regression test does, and crashes it at every change and barrier.
///
/// # Errors
/// The first finding.
pub fn run_program(seed: u64, program: &[Op], config: &Config) -> Result<Summary, Finding> {
    let mut campaign = config.campaign(seed, program.to_vec());
    match crash_everywhere(&mut campaign) {
        Ok(()) => Ok(campaign.summary),
        Err(failure) => Err(finding(seed, "(a program written by hand)", failure)),
    }
}

/// Cuts the program of a seed that leads to a finding down, as far as it still leads to one in the same phase; a crash
/// or a fault may then be needed at another place. Returns the program and its finding, or `None` if there is
/// nothing to find. Stops after `attempts` programs.
#[must_use]
pub fn shrink(seed: u64, config: &Config, attempts: usize) -> Option<(Vec<Op>, Finding)> {
    let mut campaign = config.campaign(seed, seeded_program(seed, config));
    let mut failure = sample(&mut campaign, config).err()?;
    let mut attempts_left = attempts;
    let mut chunk = campaign.program.len().div_ceil(2);
    while chunk > 0 {
        let mut start = 0;
        while start < campaign.program.len() && attempts_left > 0 {
            attempts_left -= 1;
            let mut program = campaign.program.clone();
            program.drain(start..(start + chunk).min(program.len()));
            let mut smaller = config.campaign(seed, program);
            match fails_likewise(&mut smaller, &failure.0) {
                Some(found) => {
                    failure = found;
                    campaign = smaller;
                }
                None => start += chunk,
            }
        }
        chunk /= 2;
    }
    let replay = format!("--shrink --seed {seed}{}", config.arguments());
    Some((campaign.program, finding(seed, &replay, failure)))
}

/// The program that [`run_exhaustive`] runs.
#[must_use]
pub fn light_program(seed: u64, config: &Config) -> Vec<Op> {
    generate_light(seed, config.op_count.unwrap_or(60))
}

/// The program that [`run_seed`] runs.
#[must_use]
pub fn seeded_program(seed: u64, config: &Config) -> Vec<Op> {
    let drawn = Rng::with_seed(seed ^ 0x0C0_0077).usize(200..=2000);
    generate(seed, config.op_count.unwrap_or(drawn))
}

/// Fair weather, then as many crashes, faults and rotten places as the configuration says.
fn sample(campaign: &mut Campaign, config: &Config) -> Result<(), Failure> {
    let mut rng = Rng::with_seed(campaign.seed ^ 0x5EED);
    run(campaign, Phase::Fair)?;
    let disk = campaign
        .run_on_good_disk()
        .map_err(|what| (Phase::Fair, what))?;
    let counters = disk.counters();
    for _ in 0..config.crashes {
        run(
            campaign,
            Phase::Crash(rng.u64(1..=counters.operation_count())),
        )?;
    }
    for _ in 0..config.faults {
        run(campaign, Phase::Fault(Hazard::draw(&counters, &mut rng)))?;
    }
    if config.rots > 0 {
        run(campaign, Phase::Rot(config.rots))?;
    }
    Ok(())
}

fn crash_everywhere(campaign: &mut Campaign) -> Result<(), Failure> {
    run(campaign, Phase::Fair)?;
    let disk = campaign
        .run_on_good_disk()
        .map_err(|what| (Phase::Fair, what))?;
    for place in 1..=disk.operation_count() {
        run(campaign, Phase::Crash(place))?;
    }
    Ok(())
}

fn run(campaign: &mut Campaign, phase: Phase) -> Result<(), Failure> {
    campaign.run(&phase).map_err(|what| (phase, what))
}

/// Whether a smaller program fails in the same kind of phase, wherever.
fn fails_likewise(campaign: &mut Campaign, phase: &Phase) -> Option<Failure> {
    match phase {
        Phase::Fair | Phase::Rot(_) => run(campaign, phase.clone()).err(),
        Phase::Crash(place) => {
            let count = campaign.run_on_good_disk().ok()?.operation_count();
            // The same distance from the end is the likeliest place.
            let mut places: Vec<u64> = (1..=count).rev().take(300).collect();
            places.sort_by_key(|other| other.abs_diff(*place));
            places
                .into_iter()
                .find_map(|place| run(campaign, Phase::Crash(place)).err())
        }
        Phase::Fault(hazard) => {
            let counters = campaign.run_on_good_disk().ok()?.counters();
            hazard
                .elsewhere(&counters)
                .into_iter()
                .take(300)
                .find_map(|hazard| run(campaign, Phase::Fault(hazard)).err())
        }
    }
}

fn finding(seed: u64, replay: &str, (phase, what): Failure) -> Finding {
    Finding {
        seed,
        replay: replay.to_owned(),
        phase: phase.to_string(),
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_name_what_differs_from_the_default() {
        assert_eq!(Config::default().arguments(), "");
        let config = Config {
            op_count: Some(9),
            faults: 0,
            ..Config::default()
        };
        assert_eq!(config.arguments(), " --ops 9 --faults 0");
    }
}
