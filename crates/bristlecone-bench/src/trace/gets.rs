//! The traced process: warm gets between two markers.

use std::fs;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};
use bristlecone::{Database, take_probe_counts};
use serde_json::{Value, json};

use super::{GETS, ROWS, WORKING_SET, own_memory};
use crate::warm::WarmDatabase;

/// Arguments of the hidden command.
#[derive(clap::Args)]
pub(crate) struct Args {
    file: PathBuf,
}

/// Stored to before the first get, and after the last one.
static MARKERS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Runs the hidden command.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let db = WarmDatabase::loaded(Database::open(&args.file)?, ROWS);
    // A thread of its own, because its stack and its thread-local storage lie side by side.
    let traced = thread::scope(|scope| scope.spawn(|| gets(&db)).join());
    traced.map_err(|_| anyhow!("the reader panicked"))??;
    Ok(ExitCode::SUCCESS)
}

fn gets(db: &WarmDatabase) -> Result<()> {
    let reader = db.reader(WORKING_SET, false)?;
    reader.warm_up()?;
    let own = own_memory::of_this_thread()?;
    say(&json!({
        "begin": address(&MARKERS[0]),
        "end": address(&MARKERS[1]),
        "own": [own.start, own.end],
        "executable": executable()?,
    }))?;
    take_probe_counts();
    MARKERS[0].store(1, Ordering::SeqCst);
    reader.read(GETS, 0)?;
    MARKERS[1].store(1, Ordering::SeqCst);
    let counts = take_probe_counts();
    say(&json!({ "counted": counts.shared_stores }))
}

/// One line on the stream that carries the trace, so that it is read in its place.
fn say(message: &Value) -> Result<()> {
    stderr().write_all(format!("{message}\n").as_bytes())?;
    Ok(())
}

fn address<T>(place: &T) -> usize {
    std::ptr::from_ref(place).addr()
}

/// Where this program's file was loaded.
fn executable() -> Result<usize> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let path = std::env::current_exe()?;
    load_address(&maps, &path).context("the program is not among its own mappings")
}

fn load_address(maps: &str, path: &Path) -> Option<usize> {
    let path = path.to_str()?;
    let line = maps.lines().find(|line| line.ends_with(path))?;
    usize::from_str_radix(line.split_once('-')?.0, 16).ok()
}
