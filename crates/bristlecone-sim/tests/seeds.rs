//! A small set of seeds on every test run: programs, crashes, exhaustive crashes and faults. Larger sets are run by the
//! `bristlecone-sim` binary; a seed that fails here is replayed by the command that the finding prints.

use std::ops::Range;

use bristlecone_sim::{Config, Finding, Summary, run_exhaustive, run_seed};

fn run_all(
    seeds: Range<u64>,
    config: &Config,
    run: fn(u64, &Config) -> Result<Summary, Finding>,
) -> Summary {
    let mut summary = Summary::default();
    for seed in seeds {
        match run(seed, config) {
            Ok(one) => summary.add(&one),
            Err(finding) => panic!("{finding}"),
        }
    }
    summary
}

#[test]
fn programs_agree_with_the_model() {
    let config = Config {
        crashes: 0,
        faults: 0,
        op_count: Some(600),
        ..Config::default()
    };
    let summary = run_all(0..6, &config, run_seed);
    assert!(summary.runs.commits > 50 && summary.runs.snapshots_verified > 100);
}

#[test]
fn crashes_at_random_places_lose_nothing() {
    let config = Config {
        crashes: 4,
        faults: 0,
        op_count: Some(250),
        ..Config::default()
    };
    let summary = run_all(100..105, &config, run_seed);
    assert!(summary.runs.crashes == 20 && summary.runs.images_verified > 60);
}

#[test]
fn crashes_at_every_place_of_a_short_program_lose_nothing() {
    let config = Config {
        op_count: Some(25),
        ..Config::default()
    };
    let summary = run_all(200..203, &config, run_exhaustive);
    assert!(summary.runs.crashes > 30);
}

#[test]
fn faults_are_reported_and_survived() {
    let config = Config {
        crashes: 0,
        faults: 12,
        op_count: Some(200),
        ..Config::default()
    };
    let summary = run_all(300..308, &config, run_seed);
    assert!(summary.runs.faults > 40 && summary.runs.errors_reported > 20);
}

/// The oracle bites: a disk that ignores barriers must lead to a finding.
#[test]
fn missing_barriers_are_found() {
    let config = Config {
        ignore_barriers: true,
        faults: 0,
        op_count: Some(150),
        ..Config::default()
    };
    let finding = (400..410).find_map(|seed| run_seed(seed, &config).err());
    let finding = finding.expect("no run noticed that barriers do nothing");
    assert!(finding.phase.starts_with("crash at operation"), "{finding}");
}
