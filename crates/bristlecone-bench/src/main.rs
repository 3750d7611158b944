//! Benches of the engine that need no other engine beside them.
//!
//! `counters` prints deterministic figures: what an operation costs in compares, page look-ups, shared stores,
//! allocations, writes and syncs. They come from a real database through its public API, and two runs print the same
//! bytes.

mod allocations;
mod backend;
mod counters;
mod rows;
mod warm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "bristlecone-bench", version, about = "Benches of Bristlecone")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prints the deterministic figures as one JSON object
    Counters(counters::Args),
}

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Counters(args) => counters::run(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bristlecone-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
