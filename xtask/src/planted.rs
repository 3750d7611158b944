//! Planted bugs: proof that the tests would notice.
//!
//! A patch file may open with lines of its own before the diff; one of them reads `caught by: COMMAND`, the arguments
//! of the cargo command that must fail once the bug is in. A patch that does not apply, or with which the command does
//! not build, is an error: only a failing test counts as a catch.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One bug and the command that must notice it.
struct Bug {
    name: String,
    patch: PathBuf,
    caught_by: Vec<String>,
}

/// Runs the task; `args` are those behind `planted`.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let apply_only = args.iter().any(|arg| arg == "--apply-only");
    let wanted: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root
        .canonicalize()
        .map_err(|error| format!("no workspace: {error}"))?;
    let bugs: Vec<Bug> = bugs(&root)?
        .into_iter()
        .filter(|bug| wanted.is_empty() || wanted.iter().any(|name| **name == bug.name))
        .collect();
    let scratch = root.join("target").join("planted");
    let tree = scratch.join("tree");
    remove_tree(&root, &tree);
    git(
        &root,
        &[
            "worktree",
            "add",
            "--detach",
            "--force",
            text(&tree)?,
            "HEAD",
        ],
    )?;
    let outcome = plant_all(&bugs, &tree, &scratch.join("build"), apply_only);
    remove_tree(&root, &tree);
    outcome
}

fn bugs(root: &Path) -> Result<Vec<Bug>, String> {
    let folder = root.join("xtask").join("planted");
    let listing =
        fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut bugs = Vec::new();
    for entry in listing {
        let patch = entry.map_err(|error| error.to_string())?.path();
        if patch
            .extension()
            .is_none_or(|extension| extension != "patch")
        {
            continue;
        }
        let content = fs::read_to_string(&patch).map_err(|error| error.to_string())?;
        let command = content
            .lines()
            .find_map(|line| line.strip_prefix("caught by: "));
        let command = command.ok_or(format!("{}: no line `caught by:`", patch.display()))?;
        let name = patch
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let caught_by = command.split_whitespace().map(str::to_owned).collect();
        bugs.push(Bug {
            name,
            patch,
            caught_by,
        });
    }
    bugs.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(bugs)
}

fn plant_all(bugs: &[Bug], tree: &Path, build: &Path, apply_only: bool) -> Result<(), String> {
    let mut missed = Vec::new();
    for bug in bugs {
        git(tree, &["apply", text(&bug.patch)?])?;
        if apply_only {
            println!("{}: applies", bug.name);
        } else if is_caught(bug, tree, build)? {
            println!(
                "{}: caught by `cargo {}`",
                bug.name,
                bug.caught_by.join(" ")
            );
        } else {
            println!(
                "{}: NOT CAUGHT by `cargo {}`",
                bug.name,
                bug.caught_by.join(" ")
            );
            missed.push(bug.name.clone());
        }
        git(tree, &["checkout", "--quiet", "."])?;
    }
    if missed.is_empty() {
        return Ok(());
    }
    Err(format!("not caught: {}", missed.join(", ")))
}

fn is_caught(bug: &Bug, tree: &Path, build: &Path) -> Result<bool, String> {
    let mut no_run: Vec<String> = bug
        .caught_by
        .iter()
        .take_while(|arg| *arg != "--")
        .cloned()
        .collect();
    no_run.push("--no-run".to_owned());
    let built = cargo(&no_run, tree, build)?;
    if !built.status.success() {
        let message = String::from_utf8_lossy(&built.stderr);
        return Err(format!(
            "{}: does not build with the bug in\n{message}",
            bug.name
        ));
    }
    let ran = cargo(&bug.caught_by, tree, build)?;
    let report = String::from_utf8_lossy(&ran.stdout);
    Ok(!ran.status.success() && report.contains("test result: FAILED"))
}

fn cargo(args: &[String], tree: &Path, build: &Path) -> Result<Output, String> {
    Command::new("cargo")
        .args(args)
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", build)
        .output()
        .map_err(|error| format!("cargo does not run: {error}"))
}

fn git(folder: &Path, args: &[&str]) -> Result<(), String> {
    let output = Command::new("git")
        .args(args)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("git does not run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "git {}: {}",
        args.join(" "),
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// Removes the scratch worktree; it may well not exist.
fn remove_tree(root: &Path, tree: &Path) {
    if tree.exists() {
        let removed = git(
            root,
            &["worktree", "remove", "--force", &tree.to_string_lossy()],
        );
        if let Err(message) = removed {
            eprintln!("{message}");
        }
    }
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str()
        .ok_or_else(|| format!("{} is not UTF-8", path.display()))
}
