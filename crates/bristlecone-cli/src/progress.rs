//! A bar on standard error while a long command works; nothing at all if standard error is not a terminal.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Progress of one command; dropping it clears the line, so that an error message stands alone.
pub(crate) struct Progress {
    bar: ProgressBar,
}

const BYTES_OF_TOTAL: &str = "{bar:30} {bytes}/{total_bytes}  {msg}  {eta} left";
const BYTES_SO_FAR: &str = "{spinner} {bytes}  {msg}  {elapsed}";
const UNITS_OF_TOTAL: &str = "{bar:30} {human_pos}/{human_len} units  {eta} left";

impl Progress {
    /// Counts bytes read, of `total` if that is known.
    pub(crate) fn bytes(total: Option<u64>) -> Self {
        match total {
            Some(total) => Progress::new(ProgressBar::new(total), BYTES_OF_TOTAL),
            None => Progress::new(ProgressBar::no_length(), BYTES_SO_FAR),
        }
    }

    /// Counts allocation units checked.
    pub(crate) fn units() -> Self {
        Progress::new(ProgressBar::new(0), UNITS_OF_TOTAL)
    }

    fn new(bar: ProgressBar, template: &str) -> Self {
        if !stderr().is_terminal() {
            return Progress {
                bar: ProgressBar::hidden(),
            };
        }
        // A template that does not parse costs the looks of the bar, not the command.
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar }
    }

    /// Moves the bar.
    pub(crate) fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Moves the bar and its end.
    pub(crate) fn set_of(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Shows `text` beside the bar.
    pub(crate) fn note(&self, text: String) {
        if !self.bar.is_hidden() {
            self.bar.set_message(text);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
