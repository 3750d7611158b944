//! The race through the real binary: small, but whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use bristlecone_peers::record::Line;

const N: u64 = 2000;

fn peers(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bristlecone-peers"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Runs a race that goes well, with some more arguments; returns its lines.
fn race(out: &Path, arguments: &[&str]) -> Vec<Line> {
    race_that_ends_with(0, out, arguments)
}

/// Runs a race that ends with an exit code; returns its lines.
fn race_that_ends_with(code: i32, out: &Path, arguments: &[&str]) -> Vec<Line> {
    let n = N.to_string();
    let mut all = vec!["run", "--n", &n, "--out", out.to_str().unwrap()];
    all.extend(arguments);
    let output = peers(&all);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{errors}");
    let text = std::fs::read_to_string(out.join("race.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// How often each `engine course/row` occurs, rows left out for a reason included.
fn counts(lines: &[Line]) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for line in lines {
        let name = match line {
            Line::Row(row) => format!("{} {}/{}", row.engine, row.course, row.row),
            Line::Skipped(row) => format!("{} {}/{}", row.engine, row.course, row.row),
            Line::Race(_) | Line::Engine(_) => continue,
        };
        *counts.entry(name).or_default() += 1;
    }
    counts
}

#[test]
#[cfg(feature = "redb")]
fn every_engine_does_every_row_in_every_round() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let lines = race(&out, &["--engines", "bristlecone,redb", "--rounds", "2"]);

    assert!(matches!(&lines[0], Line::Race(info) if info.n == N && info.rounds == 2));
    assert!(matches!(&lines[1], Line::Engine(info) if info.engine == "bristlecone"));
    assert!(matches!(&lines[2], Line::Engine(info) if info.engine == "redb"));
    let expected: BTreeMap<String, u32> = ["bristlecone", "redb"]
        .iter()
        .flat_map(|engine| {
            bristlecone_peers::course::courses()
                .into_iter()
                .flat_map(move |course| {
                    let plans = (course.rows)(N);
                    plans
                        .into_iter()
                        .map(move |plan| (format!("{engine} {}/{}", course.name, plan.row), 2))
                })
        })
        .collect();
    assert_eq!(counts(&lines), expected);

    let first = |round| {
        lines.iter().find_map(|line| match line {
            Line::Row(row) if row.round == round => Some(row.engine.clone()),
            _ => None,
        })
    };
    assert_eq!(first(0).as_deref(), Some("bristlecone"));
    assert_eq!(
        first(1).as_deref(),
        Some("redb"),
        "engines take turns at going first"
    );

    let left: Vec<_> = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("heat"))
        .collect();
    assert!(left.is_empty(), "databases are left: {left:?}");
}

#[test]
fn variants_are_rows_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let arguments = [
        "--engines",
        "bristlecone",
        "--rounds",
        "1",
        "--vary",
        "--rows",
        "scans/reverse",
    ];
    let counts = counts(&race(&out, &arguments));
    let rows: Vec<_> = counts.keys().map(String::as_str).collect();
    assert_eq!(
        rows,
        [
            "bristlecone scans+ascending/reverse",
            "bristlecone scans+clustered/reverse",
            "bristlecone scans+preloaded/reverse",
            "bristlecone scans+seed/reverse",
            "bristlecone scans+values1000/reverse",
            "bristlecone scans+values16/reverse",
            "bristlecone scans/reverse",
        ]
    );
}

#[test]
fn unknown_names_are_refused_with_those_there_are() {
    let output = peers(&["run", "--engines", "bristlecone,mongodb"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("mongodb") && errors.contains("bristlecone"),
        "{errors}"
    );

    let output = peers(&["run", "--rows", "phases/bulk_lod"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("bulk_lod") && errors.contains("bulk_load"),
        "{errors}"
    );
}

#[test]
fn a_record_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [
        "--engines",
        "bristlecone",
        "--rounds",
        "1",
        "--rows",
        "phases/len",
    ];
    race(dir.path(), &arguments);
    let before = std::fs::read(dir.path().join("race.jsonl")).unwrap();
    let out = dir.path().to_str().unwrap();
    let output = peers(&["run", "--n", "2000", "--rows", "phases/len", "--out", out]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        std::fs::read(dir.path().join("race.jsonl")).unwrap(),
        before
    );
}

#[test]
fn a_heat_that_hangs_is_ended_and_the_race_goes_on_and_fails() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [
        "--engines",
        "bristlecone",
        "--rounds",
        "2",
        "--rows",
        "phases",
        "--hang-limit",
        "0",
    ];
    let lines = race_that_ends_with(1, dir.path(), &arguments);
    let reasons: Vec<_> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Skipped(skipped) if skipped.row.is_empty() => Some(skipped.reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons.len(), 2);
    assert!(
        reasons.iter().all(|reason| reason.contains("hang limit")),
        "{reasons:?}"
    );
}

#[test]
fn engines_and_rows_are_listed() {
    let engines = peers(&["engines"]);
    assert!(String::from_utf8_lossy(&engines.stdout).contains("bristlecone"));
    let rows = String::from_utf8(peers(&["rows", "--n", "5000000"]).stdout).unwrap();
    let bulk_load = rows
        .lines()
        .find(|line| line.trim().starts_with("bulk_load"))
        .unwrap();
    assert!(bulk_load.contains("5000000"), "{bulk_load}");
}
