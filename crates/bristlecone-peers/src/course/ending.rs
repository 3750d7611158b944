//! How a course ends early: an engine that gave a wrong answer, and one that has no such call.

use std::fmt;

/// An engine returned something else than what was stored. It fails the whole run.
#[derive(Debug)]
pub struct Wrong(String);

impl Wrong {
    /// As an error of a course.
    #[cold]
    pub fn error(what: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Wrong(what.into()))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrong answer: {}", self.0)
    }
}

impl std::error::Error for Wrong {}

/// Fails with [`Wrong`] unless `got` is `expected`.
pub fn expect_count(what: &str, got: u64, expected: u64) -> anyhow::Result<()> {
    if got == expected {
        Ok(())
    } else {
        Err(Wrong::error(format!("{what}: {got} instead of {expected}")))
    }
}

/// An engine has no call for what a row does; the row is left out.
#[derive(Debug)]
pub struct Declined(pub &'static str);

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Declined {}

/// All rows that were asked for are done; the rest of the course need not run.
#[derive(Debug)]
pub struct Finished;

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all rows that were asked for are done")
    }
}

impl std::error::Error for Finished {}

/// Whether `T` is anywhere among the causes of an error.
pub fn is<T: std::error::Error + 'static>(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<T>())
}
