//! The track: opens the engine, runs rows on it, measures them, writes the figures down.
//!
//! # Invariants
//! 1. Nothing but the row's work lies between its two readings; settling begins right after the second.
//! 2. What a course does between rows (`prepare`) has settled before the next row starts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

use super::ending::{Declined, Finished, is};
use super::entries::put_all;
use super::plan::Plan;
use super::{Course, Variant};
use crate::data::{KeyOrder, Shape};
use crate::engine::{Contender, Durability, Engine, Options, Unsupported};
use crate::heat::Heat;
use crate::meter::{Meter, Reading, Spent};
use crate::record::{Line, Row, Skipped, Unit};

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its work is done.
    Done,
    /// The engine cannot do it; nothing has changed.
    Skipped,
}

/// Receives the lines of the record.
pub type Report<'a> = dyn FnMut(Line) -> Result<()> + 'a;

/// An engine on a course.
pub struct Track<'a> {
    /// What this worker was told to do.
    pub heat: &'a Heat,
    /// What the entries look like.
    pub shape: Shape,
    /// What the engine is given; a course may change it before it opens.
    pub options: Options,
    /// Entries that the variant put into the table beforehand.
    pub preloaded: Option<(Shape, u64)>,
    contender: &'a Contender,
    plans: Vec<Plan>,
    wanted: BTreeSet<&'a str>,
    engine: Option<Box<dyn Engine>>,
    meter: Meter,
    report: &'a mut Report<'a>,
}

/// The time of a row: the engine, and the work to do.
pub struct Stint<'a> {
    /// The engine.
    pub engine: &'a mut dyn Engine,
    /// Operations to do; a row that stops early lowers it to those it has done.
    pub ops: u64,
    meter: &'a Meter,
    since: Reading,
    spent: Spent,
}

impl Stint<'_> {
    /// Does something in the middle of a row that is no part of it.
    pub fn aside<T>(&mut self, work: impl FnOnce(&mut dyn Engine) -> Result<T>) -> Result<T> {
        self.spent.add(&self.since.until(&self.meter.stop()?));
        let result = work(self.engine);
        self.since = self.meter.start()?;
        result
    }
}

impl<'a> Track<'a> {
    /// A track for one heat. The engine is not open yet; `poll` is the time between two looks while it settles.
    pub fn new(
        heat: &'a Heat,
        contender: &'a Contender,
        course: &Course,
        poll: Duration,
        report: &'a mut Report<'a>,
    ) -> Result<Track<'a>> {
        Ok(Track {
            heat,
            shape: heat.variant.shape(),
            options: Options {
                cache_bytes: heat.cache_bytes,
            },
            preloaded: None,
            contender,
            plans: (course.rows)(heat.n),
            wanted: heat.only.iter().map(String::as_str).collect(),
            engine: None,
            meter: Meter::of(&heat.dir, poll)?,
            report,
        })
    }

    /// Operations of a row.
    pub fn ops(&self, row: &str) -> u64 {
        self.plan(row).ops
    }

    /// The folder of the database.
    pub fn dir(&self) -> PathBuf {
        self.heat.dir.join("db")
    }

    /// The engine's description.
    pub fn contender(&self) -> &'a Contender {
        self.contender
    }

    /// Opens a new database; fills it with `count` entries of another seed if the variant wants a table that is not
    /// empty.
    pub fn create(&mut self, count: u64) -> Result<()> {
        std::fs::create_dir_all(self.dir()).context("making the folder of the database")?;
        self.open()?;
        if self.heat.variant == Variant::Preloaded {
            let shape = Shape {
                seed: self.shape.seed ^ 0xA5A5,
                order: KeyOrder::Random,
                ..self.shape
            };
            self.preloaded = Some((shape, count));
            self.prepare(|engine| put_all(engine, shape, 0..count, Durability::Synced))?;
        }
        Ok(())
    }

    /// Entries that were there before the course began.
    pub fn preloaded_count(&self) -> u64 {
        self.preloaded.map_or(0, |(_, count)| count)
    }

    /// Opens the database.
    pub fn open(&mut self) -> Result<()> {
        let engine = (self.contender.open)(&self.dir(), &self.options).context("opening")?;
        self.engine = Some(engine);
        Ok(())
    }

    /// Closes the database cleanly.
    pub fn close(&mut self) -> Result<()> {
        match self.engine.take() {
            Some(engine) => engine.close().context("closing"),
            None => Ok(()),
        }
    }

    /// Hands the engine to work that is measured, if at all, by the caller.
    pub fn with<T>(&mut self, work: impl FnOnce(&mut dyn Engine) -> Result<T>) -> Result<T> {
        work(
            self.engine
                .as_deref_mut()
                .context("the engine is not open")?,
        )
    }

    /// Whether the engine promises anything about single commits.
    pub fn promises_commits(&self) -> bool {
        let promises = self.contender.promises;
        promises.transactions || promises.durable_commits
    }

    /// Does work that is no row: not measured, and settled before the next one.
    pub fn prepare<T>(&mut self, work: impl FnOnce(&mut dyn Engine) -> Result<T>) -> Result<T> {
        let result = self.with(work)?;
        self.with(|engine| engine.settle())?;
        self.meter.settle(&self.meter.stop()?)?;
        Ok(result)
    }

    /// Runs a row.
    pub fn run(
        &mut self,
        row: &'static str,
        mut work: impl FnMut(&mut Stint<'_>) -> Result<()>,
    ) -> Result<Outcome> {
        self.measure(row, |track, plan| track.stint(plan, &mut work))
    }

    /// Runs a row that opens or closes the engine, and so has all of the track.
    pub fn run_whole(
        &mut self,
        row: &'static str,
        mut work: impl FnMut(&mut Track<'a>) -> Result<()>,
    ) -> Result<Outcome> {
        self.measure(row, |track, plan| {
            let start = track.meter.start()?;
            work(track)?;
            let end = track.meter.stop()?;
            Ok((start.until(&end), plan.ops, end))
        })
    }

    /// Records a size.
    pub fn record_bytes(&mut self, row: &'static str, bytes: u64) -> Result<()> {
        let figure = self.figure(row, &Spent::default(), 0, None);
        self.emit(Line::Row(Row {
            value: bytes as f64,
            ..figure
        }))
    }

    /// Notes that a row is left out.
    pub fn skip(&mut self, row: &'static str, reason: &str) -> Result<Outcome> {
        self.emit(Line::Skipped(Skipped {
            round: self.heat.round,
            engine: self.heat.engine.clone(),
            course: self.heat.course_name(),
            row: row.to_owned(),
            reason: reason.to_owned(),
        }))?;
        Ok(Outcome::Skipped)
    }

    /// Runs a row as often as its plan says, waits until it has settled, records the median.
    fn measure(
        &mut self,
        row: &'static str,
        mut once: impl FnMut(&mut Self, &Plan) -> Result<(Spent, u64, Reading)>,
    ) -> Result<Outcome> {
        let plan = self.plan(row).clone();
        if plan.needs_commits && !self.promises_commits() {
            return self.skip(row, "it has neither transactions nor durable commits");
        }
        let mut runs = Vec::new();
        for _ in 0..plan.runs {
            match once(self, &plan) {
                Ok(run) => runs.push(run),
                Err(error) if is::<Unsupported>(&error) || is::<Declined>(&error) => {
                    return self.skip(row, &format!("{:#}", error.root_cause()));
                }
                Err(error) => return Err(error.context(format!("row {row}"))),
            }
        }
        let end = runs.last().context("a row without runs")?.2;
        let settled = if plan.writes {
            Some(self.settle(&end)?)
        } else {
            None
        };
        runs.sort_by(|(one, ..), (two, ..)| one.seconds.total_cmp(&two.seconds));
        let (spent, ops, _) = runs[runs.len() / 2];
        let figure = self.figure(row, &spent, ops, settled);
        self.emit(Line::Row(figure))?;
        Ok(Outcome::Done)
    }

    /// Runs a row's work once.
    fn stint(
        &mut self,
        plan: &Plan,
        work: &mut impl FnMut(&mut Stint<'_>) -> Result<()>,
    ) -> Result<(Spent, u64, Reading)> {
        let engine = self
            .engine
            .as_deref_mut()
            .context("the engine is not open")?;
        let mut stint = Stint {
            engine,
            ops: plan.ops,
            meter: &self.meter,
            since: self.meter.start()?,
            spent: Spent::default(),
        };
        work(&mut stint)?;
        let end = self.meter.stop()?;
        let (mut spent, ops) = (stint.spent, stint.ops);
        spent.add(&stint.since.until(&end));
        Ok((spent, ops, end))
    }

    /// Waits until the engine is idle; what it spent from `end` until then.
    fn settle(&mut self, end: &Reading) -> Result<Spent> {
        if let Some(engine) = &self.engine {
            engine.settle()?;
        }
        self.meter.settle(end)
    }

    fn figure(&self, row: &'static str, spent: &Spent, ops: u64, settled: Option<Spent>) -> Row {
        let unit = self.plan(row).unit;
        let value = match unit {
            Unit::PerSecond => ops as f64 / spent.seconds,
            Unit::Seconds => spent.seconds,
            Unit::Bytes => 0.0,
        };
        Row {
            round: self.heat.round,
            engine: self.heat.engine.clone(),
            course: self.heat.course_name(),
            row: row.to_owned(),
            unit,
            value,
            ops,
            seconds: spent.seconds,
            cpu_seconds: spent.cpu_seconds,
            written_bytes: spent.written_bytes,
            flushes: spent.flushes,
            settle_seconds: settled.map(|spent| spent.seconds),
            settle_bytes: settled.map(|spent| spent.written_bytes),
            settle_flushes: settled.and_then(|spent| spent.flushes),
        }
    }

    /// Writes a line down if its row was asked for; ends the course after the last one of those.
    fn emit(&mut self, line: Line) -> Result<()> {
        if self.heat.only.is_empty() {
            return (self.report)(line);
        }
        let row = match &line {
            Line::Row(row) => row.row.clone(),
            Line::Skipped(skipped) => skipped.row.clone(),
            Line::Race(_) | Line::Engine(_) => String::new(),
        };
        if self.wanted.remove(row.as_str()) {
            (self.report)(line)?;
            if self.wanted.is_empty() {
                return Err(Finished.into());
            }
        }
        Ok(())
    }

    fn plan(&self, row: &str) -> &Plan {
        let found = self.plans.iter().find(|plan| plan.row == row);
        found.unwrap_or_else(|| panic!("row {row} is not in the plan of its course"))
    }
}
