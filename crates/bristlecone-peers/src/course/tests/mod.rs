//! Courses on an engine that is a map: a right one passes everything, one that lies is caught.

mod map;

use std::time::Duration;

use anyhow::Result;
use map::{honest, incapable, liar};

use super::ending::{Wrong, is};
use super::{Course, Variant, courses};
use crate::engine::Contender;
use crate::heat::Heat;
use crate::record::{Line, Row, Unit};
use crate::worker;

/// Entries of the tests' races.
const N: u64 = 600;

fn heat(course: &Course, variant: Variant, only: &[&str]) -> (Heat, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let heat = Heat {
        engine: "map".to_owned(),
        course: course.name.to_owned(),
        variant,
        round: 0,
        n: N,
        cache_bytes: 1 << 20,
        dir: dir.path().to_owned(),
        only: only.iter().map(|&row| row.to_owned()).collect(),
    };
    (heat, dir)
}

fn run(course: &Course, contender: &Contender, heat: &Heat) -> (Vec<Line>, Result<()>) {
    let mut lines = Vec::new();
    // Tests share a process that is never idle while others run, so there is nothing to wait for between looks.
    let result = worker::run(heat, contender, course, Duration::ZERO, &mut |line| {
        lines.push(line);
        Ok(())
    });
    (lines, result)
}

/// Courses that a map can run: it does not survive a kill.
fn of_maps() -> impl Iterator<Item = Course> {
    courses()
        .into_iter()
        .filter(|course| course.name != "reopen")
}

fn names(lines: &[Line]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| match line {
            Line::Row(row) => row.row.as_str(),
            Line::Skipped(skipped) => skipped.row.as_str(),
            Line::Race(_) | Line::Engine(_) => panic!("a worker says nothing of the race"),
        })
        .collect()
}

#[test]
fn every_row_of_a_plan_is_recorded_in_its_order() {
    for course in of_maps() {
        let (heat, _dir) = heat(&course, Variant::Plain, &[]);
        let (lines, result) = run(&course, &honest(), &heat);
        result.unwrap_or_else(|error| panic!("{}: {error:#}", course.name));
        let planned: Vec<_> = (course.rows)(N).iter().map(|plan| plan.row).collect();
        assert_eq!(names(&lines), planned, "{}", course.name);
    }
}

#[test]
fn figures_follow_from_counts_and_times() {
    let course = courses()[0];
    let (heat, _dir) = heat(&course, Variant::Plain, &[]);
    let (lines, result) = run(&course, &honest(), &heat);
    result.unwrap();
    for line in &lines {
        let Line::Row(row) = line else { continue };
        if row.unit == Unit::PerSecond {
            assert!(
                (row.value - row.ops as f64 / row.seconds).abs() < 1e-6,
                "{row:?}"
            );
            assert!(row.ops > 0, "{row:?}");
        }
        let writes = |row: &Row| row.settle_seconds.is_some() && row.settle_bytes.is_some();
        assert_eq!(
            writes(row),
            row.row.ends_with("writes") || WRITES.contains(&row.row.as_str())
        );
    }
}

const WRITES: [&str; 7] = [
    "bulk_load",
    "removals",
    "retain",
    "extract_if",
    "pop",
    "compaction",
    "sorted_inserts",
];

#[test]
fn every_variant_of_every_course_runs() {
    for course in of_maps() {
        for &variant in course.variants {
            let (heat, _dir) = heat(&course, variant, &[]);
            let (_, result) = run(&course, &honest(), &heat);
            result.unwrap_or_else(|error| panic!("{}: {error:#}", heat.course_name()));
        }
    }
}

#[test]
fn a_wrong_value_ends_every_course_as_wrong() {
    for course in of_maps().filter(|course| course.name != "memory") {
        let (heat, _dir) = heat(&course, Variant::Plain, &[]);
        let (_, result) = run(&course, &liar(), &heat);
        let error = result.expect_err(course.name);
        assert!(is::<Wrong>(&error), "{}: {error:#}", course.name);
    }
}

#[test]
fn what_an_engine_cannot_do_is_skipped_with_a_reason_and_the_rest_goes_on() {
    for course in of_maps() {
        let (heat, _dir) = heat(&course, Variant::Plain, &[]);
        let (lines, result) = run(&course, &incapable(), &heat);
        result.unwrap_or_else(|error| panic!("{}: {error:#}", course.name));
        let planned: Vec<_> = (course.rows)(N).iter().map(|plan| plan.row).collect();
        assert_eq!(names(&lines), planned, "{}", course.name);
        for line in &lines {
            let Line::Skipped(skipped) = line else {
                continue;
            };
            assert!(!skipped.reason.is_empty(), "{skipped:?}");
        }
    }
}

#[test]
fn a_course_ends_after_the_last_row_that_was_asked_for() {
    let course = courses()[0];
    let (heat, _dir) = heat(&course, Variant::Plain, &["len", "bulk_load"]);
    let (lines, result) = run(&course, &honest(), &heat);
    result.unwrap();
    assert_eq!(names(&lines), ["bulk_load", "len"]);
}

#[test]
fn counts_scale() {
    for course in courses() {
        let (small, large) = ((course.rows)(1_000_000), (course.rows)(10_000_000));
        for (small, large) in small.iter().zip(&large) {
            assert_eq!(small.row, large.row);
            let ratio = large.ops as f64 / small.ops.max(1) as f64;
            assert!(
                small.ops == 0 || (9.9..10.1).contains(&ratio),
                "{}/{}: {} and {}",
                course.name,
                small.row,
                small.ops,
                large.ops
            );
        }
    }
}
