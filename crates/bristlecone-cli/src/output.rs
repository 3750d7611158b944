//! Standard output: buffered, and honest about every failed write.

use std::io::{self, BufWriter, StdoutLock, Write};

use serde_json::Value;

use crate::failure::{Failure, Outcome};

const BUFFER_BYTES: usize = 64 * 1024;

/// The one writer of a command's results.
///
/// Dropped without [`Output::finish`], as after a failure, it still passes on what it holds.
pub(crate) struct Output {
    inner: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Standard output of this process.
    pub(crate) fn new() -> Self {
        Output {
            inner: BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock()),
        }
    }

    /// Writes `bytes` as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Outcome {
        self.inner
            .write_all(bytes)
            .map_err(|error| Failure::output(&error))
    }

    /// Writes `text` and a line feed.
    pub(crate) fn line(&mut self, text: &str) -> Outcome {
        self.write(text.as_bytes())?;
        self.write(b"\n")
    }

    /// Writes a JSON document on one line.
    pub(crate) fn json(&mut self, value: &Value) -> Outcome {
        self.line(&value.to_string())
    }

    /// Hands everything to the operating system.
    ///
    /// # Errors
    /// A full disk behind a redirection shows only here.
    pub(crate) fn finish(mut self) -> Outcome {
        self.inner.flush().map_err(|error| Failure::output(&error))
    }
}
