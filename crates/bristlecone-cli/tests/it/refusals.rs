//! Files that cannot be opened: each case has its own message, nothing is created, nothing is changed.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::support::{Run, Space, TOOL};

/// The commands that read, for a file called `file`.
fn readers(file: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["get", file, "k"],
        vec!["scan", file],
        vec!["scan", file, "--count"],
        vec!["dump", file],
        vec!["tables", file],
        vec!["stats", file],
        vec!["check", file],
    ]
}

/// All commands that must refuse a file which is no database.
fn everyone(file: &str) -> Vec<Vec<&str>> {
    let mut all = readers(file);
    all.extend([
        vec!["del", file, "k"],
        vec!["put", file, "k", "v"],
        vec!["load", file, "in.tsv"],
    ]);
    all
}

fn with_input() -> Space {
    let space = Space::new();
    space.write("in.tsv", "k\tv\n");
    space
}

#[test]
fn missing_file_is_named_and_not_created() {
    let space = Space::new();
    for args in readers("no.db") {
        space
            .run(&args)
            .fails(3, &["cannot open no.db", "no such file"]);
    }
    space
        .run(&["del", "no.db", "k"])
        .fails(3, &["cannot open no.db", "no such file"]);
    assert!(space.names().is_empty());
}

#[test]
fn missing_folder_is_named() {
    let space = with_input();
    space
        .run(&["put", "no/a.db", "k", "v"])
        .fails(3, &["cannot open no/a.db", "no such"]);
    space
        .run(&["load", "no/a.db", "in.tsv"])
        .fails(3, &["cannot open no/a.db", "no such"]);
    assert_eq!(space.names(), ["in.tsv"]);
}

#[test]
fn directory_is_refused() {
    let space = with_input();
    std::fs::create_dir(space.path("dir")).expect("mkdir");
    for args in everyone("dir") {
        space.run(&args).fails(3, &["cannot open dir", "directory"]);
    }
}

#[test]
fn other_files_are_refused_untouched() {
    let space = with_input();
    let text = "Not a database.\n".repeat(2000);
    let contents: [(&str, &[u8]); 4] = [
        ("text", text.as_bytes()),
        ("short", b"x"),
        ("page", &[1; 4096]),
        ("sqlite", b"SQLite format 3\0"),
    ];
    for (name, content) in contents {
        space.write(name, content);
        for args in everyone(name) {
            space.run(&args).fails(
                3,
                &[&format!("cannot open {name}"), "not a Bristlecone database"],
            );
        }
        assert_eq!(space.read(name), content, "{name} was changed");
    }
}

/// An empty file is what an interrupted create leaves: writers take it, readers have nothing to read.
#[test]
fn empty_file_becomes_a_database_only_for_writers() {
    let space = with_input();
    space.write("a.db", b"");
    for args in readers("a.db") {
        space.run(&args).fails(3, &["cannot open a.db"]);
    }
    space
        .run(&["del", "a.db", "k"])
        .fails(3, &["cannot open a.db"]);
    assert_eq!(space.read("a.db"), b"");
    space.run(&["load", "a.db", "in.tsv"]).ok();
    assert_eq!(space.run(&["get", "a.db", "k"]).ok(), "v\n");
}

#[test]
fn truncated_file_is_a_clear_refusal_or_finding() {
    let space = Space::new();
    let lines: String = (0..5000)
        .map(|i| format!("{i:06}\t{}\n", "v".repeat(40)))
        .collect();
    space.write("in.tsv", &lines);
    space.run(&["load", "whole.db", "in.tsv"]).ok();
    let whole = space.read("whole.db");
    for kept in [1, 511, 4096, 8192, whole.len() / 2, whole.len() - 1] {
        let content = &whole[..kept];
        space.write("a.db", content);
        for args in readers("a.db") {
            let output = space.command(&args).output().expect("run");
            let run = Run::of(output.clone(), &args);
            match output.status.code() {
                Some(0) => drop(run.ok()),
                Some(code @ (1 | 3 | 4)) => drop(run.fails_after_output(code, &["a.db"])),
                other => panic!("{args:?} on {kept} bytes: {other:?}"),
            }
        }
        assert_eq!(space.read("a.db"), content, "a reader changed the file");
    }
    space.write("a.db", &whole[..whole.len() / 2]);
    let code = space
        .command(&["check", "a.db"])
        .output()
        .expect("run")
        .status
        .code();
    assert!(
        matches!(code, Some(1 | 3)),
        "check of half a file: {code:?}"
    );
}

/// The tool as a user who may not write what the test has written.
fn as_stranger(space: &Space) -> impl Fn(&[&str]) -> Run {
    let is_root = space.root().metadata().expect("metadata").uid() == 0;
    // The target directory may lie where others cannot look. Another process copies: a child that another test forks
    // meanwhile could else hold our open copy, and the system runs no file that is open for writing.
    let tool = space.path("tool");
    let copied = Command::new("cp")
        .arg(TOOL)
        .arg(&tool)
        .status()
        .expect("run cp");
    assert!(copied.success(), "copy the tool");
    std::fs::set_permissions(space.root(), PermissionsExt::from_mode(0o755))
        .expect("open the directory");
    let root = space.root().to_owned();
    move |args| {
        let mut command = Command::new(&tool);
        command.args(args).current_dir(&root);
        if is_root {
            command.uid(65534).gid(65534);
        }
        Run::of(command.output().expect("run as another user"), args)
    }
}

#[test]
fn read_only_file_can_be_read_and_not_written() {
    let space = with_input();
    space.run(&["put", "a.db", "k", "v"]).ok();
    std::fs::set_permissions(space.path("a.db"), PermissionsExt::from_mode(0o444)).expect("chmod");
    let before = space.read("a.db");
    let run = as_stranger(&space);
    assert_eq!(run(&["get", "a.db", "k"]).ok(), "v\n");
    assert_eq!(run(&["scan", "a.db", "--count"]).ok(), "1\n");
    run(&["check", "a.db"]).ok();
    run(&["put", "a.db", "k", "w"]).fails(3, &["cannot open a.db", "permission denied"]);
    run(&["del", "a.db", "k"]).fails(3, &["cannot open a.db", "permission denied"]);
    run(&["load", "a.db", "in.tsv"]).fails(3, &["cannot open a.db", "permission denied"]);
    assert_eq!(space.read("a.db"), before);
}

#[test]
fn unreadable_file_is_refused() {
    let space = with_input();
    space.run(&["put", "a.db", "k", "v"]).ok();
    std::fs::set_permissions(space.path("a.db"), PermissionsExt::from_mode(0o000)).expect("chmod");
    let run = as_stranger(&space);
    for args in everyone("a.db") {
        run(&args).fails(3, &["cannot open a.db", "permission denied"]);
    }
}

#[test]
fn reading_changes_nothing() {
    let space = Space::new();
    space.run(&["put", "a.db", "k", "v"]).ok();
    let before = space.read("a.db");
    for args in readers("a.db") {
        space.run(&args).ok();
    }
    space
        .run(&["get", "a.db", "none"])
        .fails(1, &["key not found"]);
    assert_eq!(space.read("a.db"), before);
    assert_eq!(space.names(), ["a.db"]);
}
