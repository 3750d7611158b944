//! How a command ends when it does not end well: one line for people, one exit code for scripts.
//!
//! # Invariants
//! 1. Every kind of failure has its own exit code, except that damage found by `check` shares 1 with "not found": both
//!    mean that the tool worked and the answer is no.
//! 2. A reader of our output that goes away is not a failure: the code is 0 and nothing is printed.

use std::fmt;
use std::io;

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read standard output has closed it.
    ClosedPipe,
    /// The key or the table is not there.
    NotFound(String),
    /// `check` has found damage.
    Damage(String),
    /// The command line asks for something that makes no sense for this file.
    Usage(String),
    /// A file cannot be opened.
    Open(String),
    /// Something failed after everything was open.
    Work(String),
}

/// What every fallible step of the tool returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// The process's exit code for this failure.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::ClosedPipe => 0,
            Failure::NotFound(_) | Failure::Damage(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Open(_) => 3,
            Failure::Work(_) => 4,
        }
    }

    /// The line for standard error, if there is anything to say.
    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Failure::ClosedPipe => None,
            Failure::NotFound(text)
            | Failure::Damage(text)
            | Failure::Usage(text)
            | Failure::Open(text)
            | Failure::Work(text) => Some(text),
        }
    }

    /// A failed write to standard output.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::ClosedPipe
        } else {
            Failure::Work(format!(
                "cannot write to standard output: {}",
                Reason(error)
            ))
        }
    }
}

/// An operating system error without the "(os error 2)" that std appends.
pub(crate) struct Reason<'a>(pub(crate) &'a io::Error);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        let mut chars = text.chars();
        match chars.next() {
            Some(first) => write!(f, "{}{}", first.to_lowercase(), chars.as_str()),
            None => f.write_str("unknown error"),
        }
    }
}

/// `text` with control characters escaped, so that a message stays one line whatever a file or an argument holds.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = (!c.is_control()).then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_stays_one_line() {
        assert_eq!(one_line("a\nb\u{1b}[1m"), "a\\nb\\u{1b}[1m");
    }

    #[test]
    fn closed_pipe_is_silent_success() {
        let failure = Failure::output(&io::ErrorKind::BrokenPipe.into());
        assert_eq!((failure.exit_code(), failure.message()), (0, None));
    }

    #[test]
    fn reason_is_lower_case_without_number() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(Reason(&error).to_string(), "no such file or directory");
    }
}
