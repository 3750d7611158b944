//! Readers that go away, disks that are full, and several processes at one file.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::support::{Run, Space, wait_until};

fn large_input() -> String {
    (0..20_000)
        .map(|i| format!("{i:08}\t{}\n", "x".repeat(50)))
        .collect()
}

/// More than any pipe holds, so that a scan blocks in the middle of its output.
fn large() -> Space {
    let space = Space::new();
    space.write("in.tsv", large_input());
    space.run(&["load", "a.db", "in.tsv"]).ok();
    space
}

#[test]
fn closed_pipe_is_silent() {
    let space = large();
    for args in [&["scan", "a.db"][..], &["dump", "a.db"]] {
        let mut child = space.start(args);
        let mut stdout = child.stdout.take().expect("stdout");
        stdout.read_exact(&mut [0; 100]).expect("first bytes");
        drop(stdout);
        assert_eq!(
            Run::of(child.wait_with_output().expect("wait"), args).ok(),
            ""
        );
    }
}

#[test]
fn pipe_closed_from_the_start_is_silent() {
    let space = large();
    for args in [
        &["get", "a.db", "00000001"][..],
        &["stats", "a.db"],
        &["check", "a.db"],
        &["--help"],
        &["--version"],
    ] {
        let (reader, writer) = std::io::pipe().expect("pipe");
        drop(reader);
        let child = space
            .command(args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .expect("start");
        assert_eq!(
            Run::of(child.wait_with_output().expect("wait"), args).ok(),
            ""
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_behind_a_redirection_is_reported() {
    let space = large();
    for args in [&["scan", "a.db"][..], &["get", "a.db", "00000001"]] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full");
        let child = space
            .command(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .expect("start");
        let run = Run::of(child.wait_with_output().expect("wait"), args);
        run.fails(
            4,
            &["cannot write to standard output: no space left on device"],
        );
    }
}

/// A full disk ends the load with its own message; the batches before it are sound. The disk is a small tmpfs of a
/// namespace of its own, so that nothing is left mounted.
#[cfg(target_os = "linux")]
#[test]
fn full_disk_keeps_what_was_committed() {
    const NO_MOUNT: i32 = 99;
    let script = r#"mount -t tmpfs -o size=1m tmpfs "$1" || exit 99
        cd "$1"
        "$2" load a.db ../in.tsv --batch 5000
        echo "code $?"
        "$2" check a.db >&2 && "$2" scan a.db --count"#;
    let space = Space::new();
    std::fs::create_dir(space.path("disk")).expect("mkdir");
    space.write("in.tsv", large_input());
    let output = std::process::Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
        ])
        .args([
            space.path("disk").as_os_str(),
            crate::support::TOOL.as_ref(),
        ])
        .output();
    let Ok(output) = output.map_err(|error| eprintln!("skipped: no unshare: {error}")) else {
        return;
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(NO_MOUNT) || stdout.is_empty() {
        eprintln!("skipped: no tmpfs can be mounted here: {stderr}");
        return;
    }
    assert!(
        stderr.contains("bristlecone: a.db: no space left on device (the first "),
        "{stderr}"
    );
    let mut lines = stdout.lines();
    assert_eq!(lines.next(), Some("code 4"), "{stderr}");
    let stored: usize = lines.next().expect("count").parse().expect("number");
    assert!(
        stored > 0 && stored < 20_000 && stored.is_multiple_of(5000),
        "{stored}"
    );
    assert!(
        stderr.contains(&format!("(the first {stored} records are stored)")),
        "{stderr}"
    );
    assert!(stderr.contains("no damage found"), "{stderr}");
}

#[test]
fn writer_excludes_everyone() {
    let space = Space::new();
    let mut child = space.start(&["load", "a.db", "-", "--batch", "1"]);
    let mut stdin = child.stdin.take().expect("stdin");
    stdin.write_all(b"a\t1\n").expect("feed");
    // A file with content was written under the lock; probing it earlier could take the lock from the writer.
    wait_until("the load has begun", || {
        space
            .path("a.db")
            .metadata()
            .is_ok_and(|meta| meta.len() > 0)
    });
    for args in [
        &["get", "a.db", "a"][..],
        &["put", "a.db", "b", "2"],
        &["del", "a.db", "a"],
        &["scan", "a.db"],
        &["check", "a.db"],
        &["dump", "a.db"],
    ] {
        space.run(args).fails(3, &["cannot open a.db", "open"]);
    }
    stdin.write_all(b"c\t3\n").expect("feed");
    drop(stdin);
    let run = Run::of(child.wait_with_output().expect("wait"), &["load"]);
    assert!(run.ok().starts_with("loaded 2 records"));
    assert_eq!(space.run(&["scan", "a.db"]).ok(), "a\t1\nc\t3\n");
}

#[test]
fn readers_share_and_exclude_writers() {
    let space = large();
    let mut child = space.start(&["scan", "a.db"]);
    let mut stdout = child.stdout.take().expect("stdout");
    stdout.read_exact(&mut [0; 1]).expect("first byte");
    assert_eq!(space.run(&["scan", "a.db", "--count"]).ok(), "20000\n");
    space.run(&["check", "a.db"]).ok();
    space
        .run(&["put", "a.db", "k", "v"])
        .fails(3, &["cannot open a.db", "open"]);
    drop(stdout);
    assert_eq!(
        Run::of(child.wait_with_output().expect("wait"), &["scan"]).ok(),
        ""
    );
    space.run(&["put", "a.db", "k", "v"]).ok();
}
