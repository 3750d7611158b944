//! A directory to work in and the runs of the tool in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The binary under test.
pub(crate) const TOOL: &str = env!("CARGO_BIN_EXE_bristlecone");

/// How long a test waits for another process.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory that is gone when the test ends.
pub(crate) struct Space {
    dir: TempDir,
}

impl Space {
    pub(crate) fn new() -> Self {
        Space {
            dir: tempfile::tempdir().expect("temporary directory"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("write file");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("read file")
    }

    /// Names of the files in the directory.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).expect("list directory");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// The tool in this directory, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(TOOL);
        command.args(args).current_dir(self.dir.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(
            self.command(args)
                .stdin(Stdio::null())
                .output()
                .expect("run the tool"),
            args,
        )
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = self.start(args);
        let mut stdin = child.stdin.take().expect("stdin");
        // The tool may stop reading early; its exit code tells.
        drop(stdin.write_all(input));
        drop(stdin);
        Run::of(child.wait_with_output().expect("wait"), args)
    }

    /// Starts the tool with all three streams in our hands.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the tool")
    }
}

/// Waits until `done`, without assuming how long that takes.
pub(crate) fn wait_until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How a run ended.
pub(crate) struct Run {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
    args: String,
}

impl Run {
    pub(crate) fn of(output: Output, args: &[&str]) -> Self {
        Run {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            args: args.join(" "),
        }
    }

    /// Demands success without a word on standard error; gives standard output.
    #[track_caller]
    pub(crate) fn ok_bytes(self) -> Vec<u8> {
        assert_eq!((self.code, &*self.stderr), (Some(0), ""), "{}", self.args);
        self.stdout
    }

    /// As [`Run::ok_bytes`], as text.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        String::from_utf8(self.ok_bytes()).expect("UTF-8 on standard output")
    }

    /// Demands exit code `code`, nothing on standard output, and one line on standard error that holds all of `parts`.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, parts: &[&str]) {
        assert_eq!(self.stdout, b"", "{}", self.args);
        self.fails_after_output(code, parts);
    }

    /// As [`Run::fails`], with whatever was printed before.
    #[track_caller]
    pub(crate) fn fails_after_output(self, code: i32, parts: &[&str]) -> Vec<u8> {
        assert_eq!(self.code, Some(code), "{}: {}", self.args, self.stderr);
        let line = self
            .stderr
            .strip_suffix('\n')
            .expect("a line on standard error");
        assert!(!line.contains('\n'), "more than one line: {line}");
        assert!(line.starts_with("bristlecone: "), "{line}");
        for part in parts {
            assert!(line.contains(part), "{part:?} is not in {line:?}");
        }
        self.stdout
    }
}
