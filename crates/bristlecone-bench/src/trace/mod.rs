//! The command `trace`: are the shared stores that the engine counts all there are?
//!
//! Valgrind's tool lackey prints every store of a process that makes warm gets of a small database. Each store between
//! two markers is classed by its address: the measured thread's own memory, that is its stack and its thread-local
//! storage, or shared. The sum must be what the engine counted in the same process.
//!
//! ```text
//! this process               valgrind, same binary, hidden command `traced-gets`
//! builds the database file
//! starts it ---------------> opens the file, reads the rows until they are cached
//! <-- stderr: "{addresses}"  says where its markers and its own memory lie
//! <-- stderr: " S addr,size" stores to a marker, 1,000 gets, stores to the other marker
//! <-- stderr: "{count}"      says what the engine counted
//! ```

mod gets;
mod own_memory;
mod tally;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use bristlecone::Database;

use crate::warm::WarmDatabase;
pub(crate) use gets::{Args as GetsArgs, run as run_gets};
use tally::Tally;

const VALGRIND: &str = "valgrind";

/// Rows of the traced database: three levels.
const ROWS: u64 = 20_000;
/// Rows that are read, again and again.
const WORKING_SET: u64 = 250;
/// Gets between the markers.
const GETS: u64 = 1_000;

/// Runs the command.
pub(crate) fn run() -> Result<ExitCode> {
    ensure!(
        Command::new(VALGRIND)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success()),
        "valgrind does not run here; `trace` needs it, and Linux"
    );
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("traced.db");
    drop(WarmDatabase::load(Database::create(&file)?, ROWS)?);
    let tally = trace(&file)?;
    let outside = tally.shared_stores();
    let inside = tally.counted().context("the traced process ended early")?;
    println!("gets:                         {GETS}");
    println!("shared stores, engine's own:  {inside}");
    println!("shared stores, from outside:  {outside}");
    println!("stores to the thread's own:   {}", tally.own_stores());
    if inside == outside {
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "they differ; instructions that stored, by offset in the executable (for addr2line -ie):"
    );
    for (offset, count) in tally.instructions() {
        println!("{count:>10}  {offset:#x}");
    }
    Ok(ExitCode::FAILURE)
}

/// Traces the gets of a process of its own.
fn trace(file: &Path) -> Result<Tally> {
    let mut traced = Command::new(VALGRIND)
        .args(["--tool=lackey", "--trace-mem=yes", "--basic-counts=no"])
        .arg(std::env::current_exe()?)
        .arg("traced-gets")
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("valgrind does not start")?;
    let stderr = traced.stderr.take().context("it was piped")?;
    let mut lines = BufReader::with_capacity(1 << 20, stderr);
    let mut tally = Tally::default();
    let mut message = String::new();
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        if !tally.take(line.trim_end())? {
            message.push_str(&line);
        }
        line.clear();
    }
    if !traced.wait()?.success() {
        bail!("the traced process failed:\n{message}");
    }
    Ok(tally)
}
