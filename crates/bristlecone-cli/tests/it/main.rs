//! The tool as a user meets it: every test runs the real binary and looks at standard output, standard error and the exit
//! code. Each works in a directory of its own, so that file names in messages are short and known.

mod dump;
mod load;
mod one_record;
#[cfg(unix)]
mod pipes;
#[cfg(unix)]
mod refusals;
mod reports;
mod scan;
mod support;
mod typed;
mod usage;
