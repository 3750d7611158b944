//! Developer tasks that need more than a shell line: `cargo xtask <task>`.

mod instructions;
mod planted;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask planted [--apply-only] [NAME ..]
       cargo xtask instructions [--accept]

planted        plants each bug of xtask/planted in a scratch worktree of HEAD and demands that its test catches it
--apply-only   only proves that every patch still applies
NAME ..        only these patches (file names without .patch)
instructions   counts the instructions of the basic operations and demands that none grew by more than 5 per cent
--accept       records the counts instead";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.split_first() {
        Some((task, rest)) if task == "planted" => planted::run(rest),
        Some((task, rest)) if task == "instructions" => instructions::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
