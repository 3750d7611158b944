//! The commands, one module each.

mod check;
mod del;
mod dump;
mod get;
mod load;
mod put;
mod scan;
mod stats;
mod tables;

use std::ffi::OsStr;

use crate::args::{Cli, Command};
use crate::failure::Outcome;

/// Runs the command that `cli` names.
pub(crate) fn run(cli: Cli) -> Outcome {
    let cache = cli.cache;
    match cli.command {
        Command::Load(args) => load::run(&args, cache),
        Command::Get(args) => get::run(&args, cache),
        Command::Put(args) => put::run(&args, cache),
        Command::Del(args) => del::run(&args, cache),
        Command::Scan(args) => scan::run(&args, cache),
        Command::Dump(args) => dump::run(&args, cache),
        Command::Tables(args) => tables::run(&args, cache),
        Command::Stats(args) => stats::run(&args, cache),
        Command::Check(args) => check::run(&args, cache),
    }
}

/// The bytes of an argument, as the operating system gave them.
fn bytes_of(argument: &OsStr) -> &[u8] {
    argument.as_encoded_bytes()
}
