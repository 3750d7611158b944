//! The worker: runs one heat in this process and prints its lines.
//!
//! Lines of the record go to the standard output, one JSON object each, as soon as they are known; why a heat ended
//! early goes to the standard error, and the exit code says of which kind it was.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::course::ending::{Finished, Wrong, is};
use crate::course::{Course, Report, Track, courses};
use crate::engine::{Contender, contenders};
use crate::heat::Heat;
use crate::meter::POLL;
use crate::record::Line;

/// Exit code of a worker whose engine gave a wrong answer.
pub const EXIT_WRONG: u8 = 3;
/// Exit code of a worker that failed otherwise.
pub const EXIT_FAILED: u8 = 1;

/// Runs the heat that is described by `text`. Returns the process's exit code.
pub fn work(text: &str) -> u8 {
    let verdict = parse(text).and_then(|(heat, contender, course)| {
        run(&heat, &contender, &course, POLL, &mut |line| print(&line))
    });
    match verdict {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error:#}");
            if is::<Wrong>(&error) {
                EXIT_WRONG
            } else {
                EXIT_FAILED
            }
        }
    }
}

fn parse(text: &str) -> Result<(Heat, Contender, Course)> {
    let heat: Heat = serde_json::from_str(text).context("reading the heat")?;
    let contender = contender(&heat.engine)?;
    let found = courses()
        .into_iter()
        .find(|course| course.name == heat.course);
    let course = found.with_context(|| format!("no course is named {}", heat.course))?;
    Ok((heat, contender, course))
}

/// The engine of this name.
pub fn contender(name: &str) -> Result<Contender> {
    match contenders()
        .into_iter()
        .find(|contender| contender.name == name)
    {
        Some(contender) => Ok(contender),
        None => bail!("this build has no engine named {name}"),
    }
}

/// Runs a heat; every line goes to `report`. `poll` is the time between two looks while the engine settles.
pub fn run(
    heat: &Heat,
    contender: &Contender,
    course: &Course,
    poll: Duration,
    report: &mut Report<'_>,
) -> Result<()> {
    let mut track = Track::new(heat, contender, course, poll, report)?;
    match (course.run)(&mut track) {
        Err(error) if !is::<Finished>(&error) => Err(error),
        _ => track.close(),
    }
}

fn print(line: &Line) -> Result<()> {
    let mut text = serde_json::to_string(line).context("writing a line")?;
    text.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).context("printing a line")?;
    out.flush().context("printing a line")
}
