//! A record sorted by course, row and engine.

use crate::record::{EngineInfo, Line, RaceInfo, Row, Unit};

use super::spread::Spread;

/// The engine whose places and ratios are shown.
pub(super) const OURS: &str = "bristlecone";

/// A record, in the order in which it first named things.
#[derive(Default)]
pub(super) struct Digest {
    pub(super) race: Option<RaceInfo>,
    pub(super) engines: Vec<EngineInfo>,
    pub(super) courses: Vec<Course>,
}

pub(super) struct Course {
    pub(super) name: String,
    pub(super) rows: Vec<Figures>,
    /// Why rows are missing, each reason once: (engine, row or nothing, reason).
    pub(super) skipped: Vec<(String, String, String)>,
}

/// All figures of one row.
pub(super) struct Figures {
    pub(super) name: String,
    pub(super) unit: Unit,
    pub(super) rows: Vec<Row>,
}

impl Digest {
    pub(super) fn of(lines: &[Line]) -> Digest {
        let mut digest = Digest::default();
        for line in lines {
            match line {
                Line::Race(race) => digest.race = Some(race.clone()),
                Line::Engine(engine) => digest.engines.push(engine.clone()),
                Line::Row(row) => digest
                    .course(&row.course)
                    .figures(row)
                    .rows
                    .push(row.clone()),
                Line::Skipped(skipped) => {
                    let reason = (
                        skipped.engine.clone(),
                        skipped.row.clone(),
                        skipped.reason.clone(),
                    );
                    let known = &mut digest.course(&skipped.course).skipped;
                    if !known.contains(&reason) {
                        known.push(reason);
                    }
                }
            }
        }
        digest
    }

    fn course(&mut self, name: &str) -> &mut Course {
        let index = self.courses.iter().position(|course| course.name == name);
        let index = index.unwrap_or_else(|| {
            self.courses.push(Course {
                name: name.to_owned(),
                rows: Vec::new(),
                skipped: Vec::new(),
            });
            self.courses.len() - 1
        });
        &mut self.courses[index]
    }
}

impl Course {
    fn figures(&mut self, row: &Row) -> &mut Figures {
        let index = self.rows.iter().position(|known| known.name == row.row);
        let index = index.unwrap_or_else(|| {
            self.rows.push(Figures {
                name: row.row.clone(),
                unit: row.unit,
                rows: Vec::new(),
            });
            self.rows.len() - 1
        });
        &mut self.rows[index]
    }
}

impl Figures {
    /// What `figure` is in each round of an engine.
    pub(super) fn spread(
        &self,
        engine: &str,
        figure: impl Fn(&Row) -> Option<f64>,
    ) -> Option<Spread> {
        let rows = self.rows.iter().filter(|row| row.engine == engine);
        Spread::of(rows.filter_map(figure))
    }

    /// How many times as good as the best other engine ours is, round by round: above 1 it is first.
    pub(super) fn lead(&self) -> Option<Spread> {
        let ours = self.rows.iter().filter(|row| row.engine == OURS);
        Spread::of(ours.filter_map(|row| {
            let others = self.rows.iter();
            let others = others.filter(|other| other.round == row.round && other.engine != OURS);
            let leads = others.map(|other| self.times_as_good(row.value, other.value));
            leads.reduce(f64::min)
        }))
    }

    fn times_as_good(&self, ours: f64, other: f64) -> f64 {
        if self.unit.more_is_better() {
            ours / other
        } else {
            other / ours
        }
    }

    /// Our place among the medians, from 1, and how many there are.
    pub(super) fn place(&self, engines: &[EngineInfo]) -> Option<(usize, usize)> {
        let median = |engine: &str| self.spread(engine, |row| Some(row.value)).map(|s| s.median);
        let ours = median(OURS)?;
        let all: Vec<f64> = engines.iter().filter_map(|e| median(&e.engine)).collect();
        let better = all
            .iter()
            .filter(|&&other| self.times_as_good(ours, other) < 1.0);
        Some((better.count() + 1, all.len()))
    }
}
