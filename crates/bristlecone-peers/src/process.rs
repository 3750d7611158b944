//! A heat's process: starts the worker, takes its lines, ends it if it hangs, says how it ended.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::heat::Heat;
use crate::record::Line;
use crate::worker::EXIT_WRONG;

/// Bytes of a worker's last words that are kept.
const LAST_WORDS_LEN: usize = 2000;

/// How a heat ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All rows are done or left out for a reason.
    Well,
    /// The engine gave a wrong answer: what it was.
    Wrong(String),
    /// It failed, was killed or hung: what is known of it.
    Failed(String),
}

/// Runs a heat in a process of its own, for at most `hang_limit`; its lines go to `take`.
pub fn run(
    heat: &Heat,
    hang_limit: Duration,
    take: &mut dyn FnMut(Line) -> Result<()>,
) -> Result<End> {
    let mut child = Command::new(std::env::current_exe().context("finding this program")?)
        .arg("worker")
        .arg(serde_json::to_string(heat)?)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("starting a worker")?;
    let last_words = listen(&mut child)?;
    let lines = read_lines(&mut child)?;
    let in_time = take_lines(&lines, Instant::now() + hang_limit, take);
    if !matches!(in_time, Ok(true)) {
        child.kill().context("ending a worker")?;
    }
    let status = child.wait().context("waiting for a worker")?;
    let words = last_words.join().unwrap_or_default();
    Ok(if in_time? {
        judge(status, words.trim())
    } else {
        End::Failed(format!("stopped at the hang limit of {hang_limit:?}"))
    })
}

/// Takes lines until the worker closes its output; false if it has not by `deadline`.
fn take_lines(
    lines: &Receiver<String>,
    deadline: Instant,
    take: &mut dyn FnMut(Line) -> Result<()>,
) -> Result<bool> {
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            // Engines may print as well; that is not for the record.
            Ok(text) => match serde_json::from_str(&text) {
                Ok(line) => take(line)?,
                Err(_) => eprintln!("worker: {text}"),
            },
            Err(RecvTimeoutError::Disconnected) => return Ok(true),
            Err(RecvTimeoutError::Timeout) => return Ok(false),
        }
    }
}

/// Reads a worker's output in a thread, so that it can be waited for with a limit.
fn read_lines(child: &mut Child) -> Result<Receiver<String>> {
    let output = child.stdout.take().context("a worker has no output")?;
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

/// Keeps the end of what a worker says on its error output.
fn listen(child: &mut Child) -> Result<JoinHandle<String>> {
    let mut errors = child
        .stderr
        .take()
        .context("a worker has no error output")?;
    Ok(thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = errors.read(&mut buffer) {
            kept.extend_from_slice(&buffer[..count]);
            let surplus = kept.len().saturating_sub(LAST_WORDS_LEN);
            kept.drain(..surplus);
        }
        String::from_utf8_lossy(&kept).into_owned()
    }))
}

/// What a worker's exit means.
fn judge(status: ExitStatus, words: &str) -> End {
    match (status.code(), status.signal()) {
        (Some(0), _) => End::Well,
        (Some(code), _) if code == i32::from(EXIT_WRONG) => End::Wrong(words.to_owned()),
        (Some(code), _) => End::Failed(format!("exit code {code}: {words}")),
        (None, signal) => End::Failed(format!("killed by signal {}: {words}", signal.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(script: &str) -> ExitStatus {
        Command::new("sh").args(["-c", script]).status().unwrap()
    }

    #[test]
    fn exits_are_told_apart() {
        assert_eq!(judge(status_of("exit 0"), ""), End::Well);
        assert_eq!(
            judge(status_of("exit 3"), "why"),
            End::Wrong("why".to_owned())
        );
        assert!(
            matches!(judge(status_of("exit 1"), "why"), End::Failed(text) if text.contains("why"))
        );
        assert!(
            matches!(judge(status_of("kill -9 $$"), ""), End::Failed(text) if text.contains('9'))
        );
    }

    #[test]
    fn a_silent_worker_is_found_at_the_limit() {
        let (sender, receiver) = channel::<String>();
        let limit = Instant::now();
        assert!(!take_lines(&receiver, limit, &mut |_| Ok(())).unwrap());
        drop(sender);
        assert!(take_lines(&receiver, limit, &mut |_| Ok(())).unwrap());
    }
}
