//! Command-line tool of the Bristlecone storage engine.
//!
//! One module per command under `commands`; `store` alone knows the library; the forms of input and output have a module
//! each. A command returns an `Outcome`, and only this file turns one into a line on standard error and an exit code.

mod args;
mod column;
mod commands;
mod dump;
mod escape;
mod failure;
mod hex;
mod jsonl;
mod lines;
mod output;
mod progress;
mod quote;
mod records;
mod store;
mod tsv;

use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::Cli;
use failure::{Failure, one_line};

const EXIT_USAGE: u8 = 2;
const EXIT_WORK: u8 = 4;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    panic::set_hook(Box::new(report_panic));
    match panic::catch_unwind(|| commands::run(cli)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => conclude(&failure),
        Err(_) => ExitCode::from(EXIT_WORK),
    }
}

/// Reports a failure and gives its exit code.
fn conclude(failure: &Failure) -> ExitCode {
    if let Some(text) = failure.message() {
        complain(text);
    }
    ExitCode::from(failure.exit_code())
}

/// Answers `--help` and `--version`, or says in one line what is wrong with the command line.
fn refuse(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that has gone away is no failure.
            drop(error.print());
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            drop(error.print());
            ExitCode::from(EXIT_USAGE)
        }
        _ => {
            complain(&usage_line(&error.to_string()));
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// The first paragraph of a usage error, and where help is.
fn usage_line(text: &str) -> String {
    let words: Vec<&str> = text
        .lines()
        .take_while(|line| !line.is_empty())
        .map(str::trim)
        .collect();
    let what = words.join(" ");
    let what = what.strip_prefix("error: ").unwrap_or(&what);
    format!("{what} (see bristlecone --help)")
}

/// A bug, told in one line: a backtrace helps no user.
fn report_panic(info: &PanicHookInfo<'_>) {
    let place = info
        .location()
        .map(|place| format!(" at {place}"))
        .unwrap_or_default();
    let what = info.payload_as_str().unwrap_or("unknown cause");
    complain(&format!(
        "internal error{place}: {what}; please report this"
    ));
}

fn complain(text: &str) {
    // Nobody is left to tell if standard error is closed.
    drop(writeln!(
        std::io::stderr(),
        "bristlecone: {}",
        one_line(text)
    ));
}
