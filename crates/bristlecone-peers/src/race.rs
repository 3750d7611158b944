//! The race: heats one after the other, each in a process and a folder of its own, engines taking turns in every round.
//!
//! # Invariants
//! 1. A line is in the file before the next heat starts: a race that is stopped keeps what it measured.
//! 2. Before a heat, the folder of the one before is gone and everything is written back, so that no engine pays for
//!    another's writes.
//! 3. In each round another engine goes first.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::{Contender, Options};
use crate::heat::Heat;
use crate::machine;
use crate::process::{self, End};
use crate::record::{EngineInfo, Line, RaceInfo, Skipped};
use crate::selection::Entrant;

/// Name of the file of JSON lines in the folder of a record.
pub const RECORD: &str = "race.jsonl";

/// A race to be run.
pub struct Race {
    /// Engines.
    pub engines: Vec<Contender>,
    /// Courses.
    pub entrants: Vec<Entrant>,
    /// Entries of the bulk load.
    pub n: u64,
    /// Rounds.
    pub rounds: u32,
    /// Cache of each engine, in bytes.
    pub cache_bytes: u64,
    /// Folder of the record.
    pub out: PathBuf,
    /// Folder in which databases are made and removed.
    pub scratch: PathBuf,
    /// A heat that takes longer hangs.
    pub hang_limit: Duration,
    /// Arguments of the command, for the record.
    pub arguments: Vec<String>,
}

/// What a race left behind.
#[derive(Debug, Default)]
pub struct Finish {
    /// Every line, as in the file.
    pub lines: Vec<Line>,
    /// Heats in which an engine gave a wrong answer, and what it was.
    pub wrong: Vec<String>,
    /// Heats that failed otherwise.
    pub failed: Vec<String>,
}

impl Race {
    /// Runs all rounds.
    pub fn run(&self) -> Result<Finish> {
        fs::create_dir_all(&self.scratch)
            .with_context(|| format!("making {}", self.scratch.display()))?;
        let mut log = Log::create(&self.out)?;
        log.write(Line::Race(self.info()))?;
        for engine in &self.engines {
            log.write(Line::Engine(self.engine_info(engine)))?;
        }
        let bar = self.progress_bar()?;
        let mut finish = Finish::default();
        for round in 0..self.rounds {
            for entrant in &self.entrants {
                for heat in self.heats(round, entrant) {
                    let name = format!("{}, {}", heat.course_name(), heat.engine);
                    bar.set_message(format!("round {} of {}: {name}", round + 1, self.rounds));
                    let begin = Instant::now();
                    let end = self.run_heat(&heat, &mut log)?;
                    bar.inc(1);
                    finish.note(&bar, &name, begin.elapsed(), end);
                }
            }
        }
        bar.finish_and_clear();
        finish.lines = log.lines;
        Ok(finish)
    }

    /// One course of one round: a heat for each engine, another one first in each round.
    fn heats(&self, round: u32, entrant: &Entrant) -> Vec<Heat> {
        let mut heats: Vec<Heat> = self
            .engines
            .iter()
            .map(|engine| Heat {
                engine: engine.name.to_owned(),
                course: entrant.course.name.to_owned(),
                variant: entrant.variant,
                round,
                n: self.n,
                cache_bytes: self.cache_bytes,
                dir: self.scratch.join(format!("heat-{}", std::process::id())),
                only: entrant.only.clone(),
            })
            .collect();
        if !heats.is_empty() {
            let first = round as usize % heats.len();
            heats.rotate_left(first);
        }
        heats
    }

    /// Runs one heat, from an empty folder to no folder.
    fn run_heat(&self, heat: &Heat, log: &mut Log) -> Result<End> {
        remove(&heat.dir)?;
        fs::create_dir(&heat.dir).with_context(|| format!("making {}", heat.dir.display()))?;
        rustix::fs::sync();
        let end = process::run(heat, self.hang_limit, &mut |line| log.write(line));
        remove(&heat.dir)?;
        let end = end?;
        if let End::Wrong(reason) | End::Failed(reason) = &end {
            log.write(Line::Skipped(Skipped {
                round: heat.round,
                engine: heat.engine.clone(),
                course: heat.course_name(),
                row: String::new(),
                reason: reason.clone(),
            }))?;
        }
        Ok(end)
    }

    fn info(&self) -> RaceInfo {
        RaceInfo {
            date: machine::day(machine::unix_seconds()),
            machine: machine::machine(&self.scratch),
            commit: machine::commit(),
            rustc: machine::rustc(),
            arguments: self.arguments.clone(),
            n: self.n,
            rounds: self.rounds,
            cache_bytes: self.cache_bytes,
        }
    }

    fn engine_info(&self, engine: &Contender) -> EngineInfo {
        EngineInfo::of(
            engine,
            &Options {
                cache_bytes: self.cache_bytes,
            },
        )
    }

    /// A bar on the error output; it shows on terminals alone.
    fn progress_bar(&self) -> Result<ProgressBar> {
        let heats = self.entrants.len() * self.engines.len() * self.rounds as usize;
        let style = "{elapsed_precise} {bar:30} {pos}/{len} {msg} (eta {eta})";
        Ok(ProgressBar::new(heats as u64).with_style(ProgressStyle::with_template(style)?))
    }
}

impl Finish {
    /// Tells how a heat went, and keeps it if it went badly.
    fn note(&mut self, bar: &ProgressBar, name: &str, took: Duration, end: End) {
        let mut text = format!("{:7.1} s  {name}", took.as_secs_f64());
        let (list, reason) = match end {
            End::Well => (None, String::new()),
            End::Wrong(reason) => (Some(&mut self.wrong), reason),
            End::Failed(reason) => (Some(&mut self.failed), reason),
        };
        if let Some(list) = list {
            text += &format!(": {reason}");
            list.push(format!("{name}: {reason}"));
        }
        if bar.is_hidden() {
            eprintln!("{text}");
        } else {
            bar.println(text);
        }
    }
}

impl EngineInfo {
    /// What the record says about an engine.
    pub fn of(engine: &Contender, options: &Options) -> EngineInfo {
        EngineInfo {
            engine: engine.name.to_owned(),
            version: engine.version.to_owned(),
            settings: (engine.settings)(options),
            note: engine.promises.note.to_owned(),
        }
    }
}

/// The file of lines.
struct Log {
    file: File,
    lines: Vec<Line>,
}

impl Log {
    /// Makes the file, which must not be there: an hour's figures are not to be lost to a repeated command.
    fn create(out: &Path) -> Result<Log> {
        fs::create_dir_all(out).with_context(|| format!("making {}", out.display()))?;
        let path = out.join(RECORD);
        let file = File::create_new(&path).with_context(|| {
            format!(
                "making {}: give another folder or remove it",
                path.display()
            )
        })?;
        let lines = Vec::new();
        Ok(Log { file, lines })
    }

    fn write(&mut self, line: Line) -> Result<()> {
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        self.file
            .write_all(text.as_bytes())
            .context("writing the record")?;
        self.lines.push(line);
        Ok(())
    }
}

/// Removes a folder, if it is there.
fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(gone) if gone.kind() == ErrorKind::NotFound => Ok(()),
        done => done.with_context(|| format!("removing {}", dir.display())),
    }
}
