//! Tables of small records, written by hand.

use super::digest::Digest;
use super::*;
use crate::record::{EngineInfo, Row, Skipped, Unit};

fn engine(name: &str) -> Line {
    Line::Engine(EngineInfo {
        engine: name.to_owned(),
        version: "1".to_owned(),
        settings: vec!["cache = 1".to_owned()],
        note: if name == "sled" {
            "syncs no device"
        } else {
            ""
        }
        .to_owned(),
    })
}

fn row(round: u32, engine: &str, name: &str, unit: Unit, value: f64) -> Line {
    Line::Row(Row {
        round,
        engine: engine.to_owned(),
        course: "phases".to_owned(),
        row: name.to_owned(),
        unit,
        value,
        ops: 100,
        seconds: 1.0,
        cpu_seconds: 0.5,
        written_bytes: 20_000,
        flushes: Some(100),
        settle_seconds: Some(0.25),
        settle_bytes: Some(3_000),
        settle_flushes: Some(1),
    })
}

fn record() -> Vec<Line> {
    let mut lines = vec![engine("bristlecone"), engine("redb"), engine("sled")];
    // A round in which the machine was slow: ratios must not see it.
    for (round, speed) in [(0, 1.0), (1, 0.1), (2, 1.2)] {
        let rate = Unit::PerSecond;
        lines.push(row(round, "bristlecone", "load", rate, 200.0 * speed));
        lines.push(row(round, "redb", "load", rate, 100.0 * speed));
        lines.push(row(round, "sled", "load", rate, 50.0 * speed));
        lines.push(row(round, "bristlecone", "len", Unit::Seconds, 4e-6));
        lines.push(row(round, "redb", "len", Unit::Seconds, 2e-6));
    }
    lines.push(Line::Skipped(Skipped {
        round: 0,
        engine: "sled".to_owned(),
        course: "phases".to_owned(),
        row: "len".to_owned(),
        reason: "cannot count".to_owned(),
    }));
    lines
}

#[test]
fn ratios_are_made_within_rounds() {
    let digest = Digest::of(&record());
    let load = &digest.courses[0].rows[0];
    let lead = load.lead().expect("both raced");
    assert_eq!((lead.median, lead.min, lead.max), (2.0, 2.0, 2.0));
    assert_eq!(load.place(&digest.engines), Some((1, 3)));
}

#[test]
fn less_is_better_for_times() {
    let digest = Digest::of(&record());
    let len = &digest.courses[0].rows[1];
    assert_eq!(len.lead().expect("both raced").median, 0.5);
    assert_eq!(len.place(&digest.engines), Some((2, 2)));
}

#[test]
fn losses_notes_and_gaps_are_in_the_table() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = render(&record(), dir.path()).expect("rendered");
    let markdown = std::fs::read_to_string(dir.path().join("table.md")).expect("written");
    for table in [&text, &markdown] {
        for part in [
            "200/s (20.0/s-240/s)",
            "**2** of 2",
            "syncs no device",
            "sled, len: cannot count",
            "200B",
            "250 ms",
        ] {
            assert!(table.contains(part), "{part} is missing in\n{table}");
        }
    }
    assert_eq!(text, render(&record(), dir.path()).expect("again"));
}

#[test]
fn a_partial_record_is_rendered() {
    let dir = tempfile::tempdir().expect("a folder");
    for length in 0..record().len() {
        render(&record()[..length], dir.path()).expect("rendered");
    }
}

#[test]
fn a_bad_line_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("race.jsonl");
    let good = serde_json::to_string(&engine("redb")).expect("a line");
    std::fs::write(&path, format!("{good}\n{{\"kind\":\"gossip\"}}\n")).expect("written");
    let error = format!("{:#}", read(&path).expect_err("no such kind"));
    assert!(
        error.contains("line 2") && error.contains("gossip"),
        "{error}"
    );
}
