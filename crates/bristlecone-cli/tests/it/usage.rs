//! The command line itself: help, version, and what is wrong usage.

use crate::support::Space;

#[test]
fn help_and_version_succeed() {
    let space = Space::new();
    let help = space.run(&["--help"]).ok();
    for command in [
        "load", "get", "put", "del", "scan", "dump", "tables", "stats", "check",
    ] {
        assert!(
            help.contains(&format!("\n  {command} ")),
            "{command} is not in the help"
        );
        assert!(
            space
                .run(&[command, "--help"])
                .ok()
                .contains("Usage: bristlecone")
        );
    }
    assert!(help.contains("Exit codes:"));
    let version = space.run(&["--version"]).ok();
    assert!(
        version.starts_with(&format!(
            "bristlecone {} (file format 0.",
            env!("CARGO_PKG_VERSION")
        )),
        "{version}"
    );
}

#[test]
fn wrong_usage_is_one_line_and_code_2() {
    let space = Space::new();
    let cases: [(&[&str], &str); 14] = [
        (&["fly"], "'fly'"),
        (&["get"], "<FILE.db>"),
        (&["get", "a.db"], "<KEY>"),
        (&["get", "a.db", "k", "x"], "'x'"),
        (&["put", "a.db", "k"], "<VALUE>"),
        (&["scan", "a.db", "--frm", "x"], "'--frm'"),
        (&["scan", "a.db", "--limit", "x"], "'x'"),
        (&["scan", "a.db", "--limit", "-1"], "-1"),
        (&["scan", "a.db", "--format", "csv"], "csv"),
        (&["load", "a.db"], "<INPUT>"),
        (&["load", "a.db", "-", "--batch", "0"], "--batch"),
        (&["get", "a.db", "k", "--table", ""], "empty"),
        (&["get", "a.db", "k", "--cache", "1X"], "1X"),
        (&["--cache", "1.5G", "tables", "a.db"], "1.5G"),
    ];
    for (args, part) in cases {
        space.run(args).fails(2, &[part, "--help"]);
    }
    assert!(space.names().is_empty());
}

#[test]
fn no_command_shows_the_help_as_an_error() {
    let space = Space::new();
    let output = space.command(&[]).output().expect("run");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: bristlecone"));
}

#[test]
fn cache_is_taken_before_and_after_the_command() {
    let space = Space::new();
    space.run(&["--cache", "1M", "put", "a.db", "k", "v"]).ok();
    assert_eq!(
        space.run(&["get", "a.db", "k", "--cache", "1048576"]).ok(),
        "v\n"
    );
}
