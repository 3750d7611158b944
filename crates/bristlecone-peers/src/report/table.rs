//! Tables of a record, as text and as Markdown.

use comfy_table::{ContentArrangement, Table, TableStyle, presets};

use super::cells::{bytes, digits, figure, scaled, seconds};
use super::digest::{Course, Digest, Figures};
use super::spread::Spread;
use crate::record::Row;

/// The tables for a terminal.
pub(super) fn text(digest: &Digest) -> String {
    render(digest, presets::UTF8_HORIZONTAL_ONLY)
}

/// The tables in Markdown.
pub(super) fn markdown(digest: &Digest) -> String {
    render(digest, presets::ASCII_MARKDOWN)
}

/// A further figure of a row: its heading, what it is, and how it is written.
struct Aspect {
    heading: &'static str,
    of: fn(&Row) -> Option<f64>,
    write: fn(f64) -> String,
}

const ASPECTS: [Aspect; 5] = [
    Aspect {
        heading: "bytes written for each operation",
        of: |row| per_operation(row, row.written_bytes as f64),
        write: bytes,
    },
    Aspect {
        heading: "flushes of the device for each 1,000 operations",
        of: |row| per_operation(row, row.flushes? as f64 * 1000.0),
        write: scaled,
    },
    Aspect {
        heading: "processor time for each operation",
        of: |row| per_operation(row, row.cpu_seconds),
        write: seconds,
    },
    Aspect {
        heading: "settle: time until background work was idle",
        of: |row| row.settle_seconds,
        write: seconds,
    },
    Aspect {
        heading: "settle: bytes written until then",
        of: |row| row.settle_bytes.map(|count| count as f64),
        write: bytes,
    },
];

fn per_operation(row: &Row, amount: f64) -> Option<f64> {
    (row.ops > 0).then(|| amount / row.ops as f64)
}

fn render(digest: &Digest, style: TableStyle) -> String {
    let mut out = String::new();
    if let Some(race) = &digest.race {
        out += &format!(
            "{}; {}; commit {}; {}; n = {}, {} rounds, cache {}\n\n",
            race.date,
            race.machine,
            race.commit,
            race.rustc,
            race.n,
            race.rounds,
            bytes(race.cache_bytes as f64)
        );
    }
    for engine in &digest.engines {
        let note = if engine.note.is_empty() {
            String::new()
        } else {
            format!(". {}", engine.note)
        };
        let settings = engine.settings.join("; ");
        out += &format!("- {} {}: {settings}{note}\n", engine.engine, engine.version);
    }
    for course in &digest.courses {
        out += &format!("\n## {}\n\n{}\n", course.name, rates(digest, course, style));
        out += &missing(course);
        let written: Vec<&Figures> = course.rows.iter().filter(|row| writes(row)).collect();
        for aspect in &ASPECTS {
            if !written.is_empty() {
                let table = aspect_table(digest, &written, aspect, style);
                out += &format!("\n{} {}\n\n{table}\n", course.name, aspect.heading);
            }
        }
    }
    out
}

/// Whether a row changes data: those are settled.
fn writes(figures: &Figures) -> bool {
    figures.rows.iter().any(|row| row.settle_seconds.is_some())
}

fn new_table(digest: &Digest, style: TableStyle, further: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(style);
    table.set_content_arrangement(ContentArrangement::Disabled);
    let engines = digest.engines.iter().map(|engine| engine.engine.as_str());
    table.set_header(
        std::iter::once("row")
            .chain(engines)
            .chain(further.iter().copied()),
    );
    table
}

/// The main table of a course.
fn rates(digest: &Digest, course: &Course, style: TableStyle) -> Table {
    let mut table = new_table(digest, style, &["times the best other", "place"]);
    for figures in &course.rows {
        let mut cells = vec![figures.name.clone()];
        for engine in &digest.engines {
            let spread = figures.spread(&engine.engine, |row| Some(row.value));
            cells.push(cell(spread, |value| figure(figures.unit, value)));
        }
        cells.push(cell(figures.lead(), digits));
        cells.push(match figures.place(&digest.engines) {
            Some((1, of)) => format!("1 of {of}"),
            Some((place, of)) => format!("**{place}** of {of}"),
            None => "-".to_owned(),
        });
        table.add_row(cells);
    }
    table
}

fn aspect_table(digest: &Digest, rows: &[&Figures], aspect: &Aspect, style: TableStyle) -> Table {
    let mut table = new_table(digest, style, &[]);
    for figures in rows {
        let mut cells = vec![figures.name.clone()];
        for engine in &digest.engines {
            cells.push(cell(
                figures.spread(&engine.engine, aspect.of),
                aspect.write,
            ));
        }
        table.add_row(cells);
    }
    table
}

fn cell(spread: Option<Spread>, write: impl Fn(f64) -> String) -> String {
    spread.map_or_else(|| "-".to_owned(), |spread| spread.write(write))
}

/// Why cells are empty.
fn missing(course: &Course) -> String {
    let lines = course.skipped.iter().map(|(engine, row, reason)| {
        let row = if row.is_empty() { "all rows" } else { row };
        format!("- {engine}, {row}: {reason}\n")
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\nMissing:\n\n{lines}")
}
