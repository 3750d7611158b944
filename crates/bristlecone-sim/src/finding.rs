//! A contradiction between the engine and the model, with what it takes to see it again.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What went wrong, where, and in which run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The seed of the run.
    pub seed: u64,
    /// The arguments that replay it, after the name of the program.
    pub replay: String,
    /// The phase: the program itself, or which crash, image or fault.
    pub phase: String,
    /// The contradiction.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}: {}: {}\n  ", self.seed, self.phase, self.what)?;
        write!(
            f,
            "replay: cargo run -p bristlecone-sim --release -- {}",
            self.replay
        )
    }
}

impl std::error::Error for Finding {}

/// Runs `body` and turns a panic into the message of a finding: the engine must not panic, whatever the disk does.
pub(crate) fn without_panic<T>(body: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|payload| Err(format!("panic: {}", message(payload.as_ref()))))
}

fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_messages() {
        assert_eq!(without_panic(|| Ok(3)), Ok(3));
        let caught = without_panic::<()>(|| panic!("page {}", 7));
        assert_eq!(caught, Err("panic: page 7".to_owned()));
        let caught = without_panic::<()>(|| panic!("plain"));
        assert_eq!(caught, Err("panic: plain".to_owned()));
        let caught = without_panic::<()>(|| std::panic::panic_any(7));
        assert_eq!(caught, Err("panic: without a message".to_owned()));
    }

    #[test]
    fn findings_tell_how_to_replay_them() {
        let finding = Finding {
            seed: 4,
            replay: "--seed 4".to_owned(),
            phase: "program".to_owned(),
            what: "len() is 3".to_owned(),
        };
        assert!(finding.to_string().ends_with("-- --seed 4"));
    }
}
