//! What a race writes down: one JSON object a line, in the order in which things happened.

use serde::{Deserialize, Serialize};

/// One line of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// The first line: machine, versions, arguments.
    Race(RaceInfo),
    /// An engine's settings and promises, once per race.
    Engine(EngineInfo),
    /// A figure of one row in one round.
    Row(Row),
    /// A row that an engine did not do, and why.
    Skipped(Skipped),
}

/// Where and how a race was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceInfo {
    /// Day, `YYYY-MM-DD`.
    pub date: String,
    /// Processor, cores, memory, file system, kernel.
    pub machine: String,
    /// Commit of this repository, with `+` if the work tree differed.
    pub commit: String,
    /// Version of the compiler.
    pub rustc: String,
    /// Arguments of the command, without the program.
    pub arguments: Vec<String>,
    /// Entries of the bulk load; every other count follows from it.
    pub n: u64,
    /// Rounds.
    pub rounds: u32,
    /// Cache given to each engine, in bytes.
    pub cache_bytes: u64,
}

/// An engine, as it raced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineInfo {
    /// Name.
    pub engine: String,
    /// Version.
    pub version: String,
    /// Settings that depart from its defaults.
    pub settings: Vec<String>,
    /// Departures from the common promises, in words; may be empty.
    pub note: String,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Round, from 0.
    pub round: u32,
    /// Engine.
    pub engine: String,
    /// Course: the group of rows that one process runs in one folder.
    pub course: String,
    /// Row.
    pub row: String,
    /// What the figure counts.
    pub unit: Unit,
    /// The figure.
    pub value: f64,
    /// Operations done, of which `value` is the rate if the unit is one; else 0.
    pub ops: u64,
    /// Time taken, in seconds.
    pub seconds: f64,
    /// Processor time of all threads of the process, in seconds.
    pub cpu_seconds: f64,
    /// Bytes given to write calls (`wchar` of `/proc/self/io`).
    pub written_bytes: u64,
    /// Flushes that the block device completed, if the system counts them.
    pub flushes: Option<u64>,
    /// After a write row: seconds until background work was idle.
    pub settle_seconds: Option<f64>,
    /// After a write row: bytes given to write calls until then.
    pub settle_bytes: Option<u64>,
    /// The same of flushes.
    pub settle_flushes: Option<u64>,
}

/// A row left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// Round, from 0.
    pub round: u32,
    /// Engine.
    pub engine: String,
    /// Course.
    pub course: String,
    /// Row; empty if the whole course.
    pub row: String,
    /// Why.
    pub reason: String,
}

/// What a figure counts, and so which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Operations in a second: more is better.
    PerSecond,
    /// Seconds: less is better.
    Seconds,
    /// Bytes: less is better.
    Bytes,
}

impl Unit {
    /// Whether a larger figure is the better one.
    pub fn more_is_better(self) -> bool {
        self == Unit::PerSecond
    }
}
