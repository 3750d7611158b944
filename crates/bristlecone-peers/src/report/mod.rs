//! What a race says in the end: tables of every row, medians over the rounds, and ratios made within each round.
//!
//! Ratios are made round by round, before medians: what slows the machine for a while slows all engines of that round.
//! Everything follows from the record alone: the same lines give the same tables.

mod cells;
mod digest;
mod spread;
mod table;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::record::Line;
use digest::Digest;

/// Writes `table.md` into `out` and returns the same as text for a terminal.
///
/// # Errors
/// If the file cannot be written.
pub fn render(lines: &[Line], out: &Path) -> Result<String> {
    let digest = Digest::of(lines);
    let path = out.join("table.md");
    fs::write(&path, table::markdown(&digest))
        .with_context(|| format!("writing {}", path.display()))?;
    Ok(table::text(&digest))
}

/// Reads the lines of a record.
///
/// # Errors
/// If the file cannot be read, or a line is not one of a record; the error names the line.
pub fn read(path: &Path) -> Result<Vec<Line>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let parse = |(index, line)| {
        serde_json::from_str(line)
            .with_context(|| format!("{}, line {}", path.display(), index + 1))
    };
    text.lines().enumerate().map(parse).collect()
}

#[cfg(test)]
mod tests;
