//! `bristlecone-peers`: the command line of the race.
//!
//! Exit codes: 0 if every heat went well, 1 if an answer was wrong, a heat failed or the race could not be run, 2 for a
//! command line that names something unknown.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use bristlecone_peers::course::courses;
use bristlecone_peers::course::victim::write_until_killed;
use bristlecone_peers::engine::{Options, contenders};
use bristlecone_peers::race::{Finish, RECORD, Race};
use bristlecone_peers::record::EngineInfo;
use bristlecone_peers::selection::{self, Unknown};
use bristlecone_peers::{machine, report, worker};
use clap::{Args, Parser, Subcommand};

/// Bristlecone beside other storage engines: the same work, in one run, every value checked.
#[derive(Parser)]
#[command(name = "bristlecone-peers", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a race and writes its record and tables.
    Run(RunArgs),
    /// Prints each engine's version, settings and promises.
    Engines(EnginesArgs),
    /// Prints each course and its rows.
    Rows(RowsArgs),
    /// Renders the tables of a record again.
    Report {
        /// Folder of the record.
        dir: PathBuf,
    },
    /// Runs one heat (started by `run`).
    #[command(hide = true)]
    Worker {
        /// The heat, as JSON.
        heat: String,
    },
    /// Commits until it is killed (started by the course `reopen`).
    #[command(hide = true)]
    Victim {
        /// The heat, as JSON.
        heat: String,
        /// Number of its first entry.
        first: u64,
    },
}

#[derive(Args)]
struct RunArgs {
    /// Courses or rows (`course` or `course/row`), separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    rows: Vec<String>,
    /// Engines, separated by commas [default: all of this build]
    #[arg(long, value_delimiter = ',')]
    engines: Vec<String>,
    /// Entries of the bulk load; every other count follows from it
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(100..=100_000_000))]
    n: u64,
    /// Rounds
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Folder for the record and the tables [default: target/race/TIME]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Cache of each engine, in bytes
    #[arg(long, default_value_t = 1 << 30)]
    cache: u64,
    /// Runs every row with another seed, key order, length of values, and on a table that is not empty as well
    #[arg(long)]
    vary: bool,
    /// Folder in which databases are made and removed [default: that of the record]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Seconds after which a heat is taken to hang, and is ended
    #[arg(long, default_value_t = 3600)]
    hang_limit: u64,
}

#[derive(Args)]
struct EnginesArgs {
    /// Cache of each engine, in bytes
    #[arg(long, default_value_t = 1 << 30)]
    cache: u64,
}

#[derive(Args)]
struct RowsArgs {
    /// Entries of the bulk load
    #[arg(long, default_value_t = 1_000_000)]
    n: u64,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => run(args),
        Command::Engines(args) => Ok(print_engines(&args)),
        Command::Rows(args) => Ok(print_rows(&args)),
        Command::Report { dir } => render_again(&dir),
        Command::Victim { heat, first } => {
            write_until_killed(&heat, first).map(|()| ExitCode::SUCCESS)
        }
        Command::Worker { heat } => return ExitCode::from(worker::work(&heat)),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<Unknown>() { 2 } else { 1 })
        }
    }
}

fn run(args: RunArgs) -> Result<ExitCode> {
    let now = machine::unix_seconds();
    let out = args.out.unwrap_or_else(|| {
        let day = machine::day(now);
        PathBuf::from(format!("target/race/{day}-{:05}", now % 86_400))
    });
    let race = Race {
        engines: selection::engines(&args.engines)?,
        entrants: selection::entrants(&args.rows, args.vary)?,
        n: args.n,
        rounds: args.rounds,
        cache_bytes: args.cache,
        scratch: args.dir.unwrap_or_else(|| out.clone()),
        out,
        hang_limit: Duration::from_secs(args.hang_limit),
        arguments: std::env::args().skip(1).collect(),
    };
    let finish = race.run()?;
    print!("{}", report::render(&finish.lines, &race.out)?);
    eprintln!("record and tables are in {}", race.out.display());
    Ok(conclude(&finish))
}

/// Repeats what went wrong, where it will be seen: at the end.
fn conclude(finish: &Finish) -> ExitCode {
    for heat in &finish.failed {
        eprintln!("failed: {heat}");
    }
    for heat in &finish.wrong {
        eprintln!("WRONG: {heat}");
    }
    ExitCode::from(u8::from(
        !finish.failed.is_empty() || !finish.wrong.is_empty(),
    ))
}

fn render_again(dir: &std::path::Path) -> Result<ExitCode> {
    let lines = report::read(&dir.join(RECORD))?;
    print!("{}", report::render(&lines, dir)?);
    Ok(ExitCode::SUCCESS)
}

fn print_engines(args: &EnginesArgs) -> ExitCode {
    let options = Options {
        cache_bytes: args.cache,
    };
    for contender in contenders() {
        let info = EngineInfo::of(&contender, &options);
        println!("{} {}", info.engine, info.version);
        for setting in &info.settings {
            println!("  {setting}");
        }
        let promises = contender.promises;
        for (kept, promise) in [
            (
                promises.durable_commits,
                "a synced commit is on the device when it returns",
            ),
            (
                promises.transactions,
                "a transaction counts whole or not at all",
            ),
            (promises.snapshots, "one read sees one state"),
        ] {
            println!("  [{}] {promise}", if kept { 'x' } else { ' ' });
        }
        if !info.note.is_empty() {
            println!("  note: {}", info.note);
        }
    }
    ExitCode::SUCCESS
}

fn print_rows(args: &RowsArgs) -> ExitCode {
    for course in courses() {
        println!("{}: {}", course.name, course.about);
        for plan in (course.rows)(args.n) {
            let count = if plan.ops == 0 {
                String::new()
            } else {
                plan.ops.to_string()
            };
            let times = if plan.runs > 1 {
                " (median of three)"
            } else {
                ""
            };
            println!("  {:<24} {count:>10} {}{times}", plan.row, plan.what);
        }
    }
    ExitCode::SUCCESS
}
