//! `stats`: sizes and shapes of a file and its tables.

use indicatif::{HumanBytes, HumanCount};
use serde_json::{Value, json};

use crate::args::ReportArgs;
use crate::escape;
use crate::failure::Outcome;
use crate::output::Output;
use crate::store::{self, FileStats, Reader, TreeStats};

/// Prints what the file as a whole and each table take.
pub(crate) fn run(args: &ReportArgs, cache: Option<usize>) -> Outcome {
    let reader = Reader::open(&args.file, cache)?;
    let file = args.file.display().to_string();
    let stats = reader.stats()?;
    let mut tables = Vec::new();
    for name in reader.table_names()? {
        let table = reader.table(&name)?;
        tables.push(TableReport {
            rows: table.rows()?,
            tree: table.stats()?,
            name,
        });
    }
    let mut output = Output::new();
    if args.json {
        output.json(&as_json(&file, &stats, &tables))?;
    } else {
        print(&mut output, &file, &stats, &tables)?;
    }
    output.finish()
}

struct TableReport {
    name: String,
    rows: u64,
    tree: TreeStats,
}

fn print(output: &mut Output, file: &str, stats: &FileStats, tables: &[TableReport]) -> Outcome {
    let rows: u64 = tables.iter().map(|table| table.rows).sum();
    let lines = [
        ("file", file.to_owned()),
        ("file format", store::FILE_FORMAT.to_owned()),
        ("file size", bytes(stats.file_bytes)),
        ("page size", bytes(stats.page_bytes)),
        (
            "units in use",
            format!(
                "{} of {} ({} for older versions)",
                HumanCount(stats.allocated_pages),
                HumanCount(stats.file_pages),
                HumanCount(stats.pinned_pages)
            ),
        ),
        ("free in the file", bytes(stats.tree.fragmented_bytes)),
        ("tables", HumanCount(count(tables.len())).to_string()),
        ("rows", HumanCount(rows).to_string()),
        ("leaf pages", HumanCount(stats.tree.leaf_pages).to_string()),
        (
            "branch pages",
            HumanCount(stats.tree.branch_pages).to_string(),
        ),
        ("tree height", stats.tree.height.to_string()),
        ("keys and values", bytes(stats.tree.stored_bytes)),
        ("page overhead", bytes(stats.tree.metadata_bytes)),
    ];
    for (name, value) in lines {
        output.line(&format!("{name:<18} {value}"))?;
    }
    for table in tables {
        let tree = &table.tree;
        output.line(&format!(
            "table {}: {} rows, {} in {} leaf and {} branch pages, height {}",
            escape::escape(table.name.as_bytes()),
            HumanCount(table.rows),
            bytes(tree.stored_bytes),
            HumanCount(tree.leaf_pages),
            HumanCount(tree.branch_pages),
            tree.height,
        ))?;
    }
    Ok(())
}

/// A size for people, exact in parentheses where rounding hides something.
fn bytes(number: u64) -> String {
    if number < 1024 {
        format!("{number} B")
    } else {
        format!("{} ({} B)", HumanBytes(number), HumanCount(number))
    }
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

fn as_json(file: &str, stats: &FileStats, tables: &[TableReport]) -> Value {
    let rows: u64 = tables.iter().map(|table| table.rows).sum();
    let reports: Vec<Value> = tables.iter().map(table_as_json).collect();
    let mut document = json!({
        "file": file,
        "file_format": store::FILE_FORMAT,
        "file_bytes": stats.file_bytes,
        "page_size": stats.page_bytes,
        "allocated_pages": stats.allocated_pages,
        "file_pages": stats.file_pages,
        "pinned_pages": stats.pinned_pages,
        "rows": rows,
    });
    merge(&mut document, tree_as_json(&stats.tree));
    merge(&mut document, json!({ "tables": reports }));
    document
}

fn table_as_json(table: &TableReport) -> Value {
    let mut document = json!({ "table": table.name, "rows": table.rows });
    merge(&mut document, tree_as_json(&table.tree));
    document
}

fn tree_as_json(tree: &TreeStats) -> Value {
    json!({
        "tree_height": tree.height,
        "leaf_pages": tree.leaf_pages,
        "branch_pages": tree.branch_pages,
        "stored_bytes": tree.stored_bytes,
        "metadata_bytes": tree.metadata_bytes,
        "fragmented_bytes": tree.fragmented_bytes,
    })
}

/// Appends the fields of `more` to `document`.
fn merge(document: &mut Value, more: Value) {
    if let (Value::Object(document), Value::Object(more)) = (document, more) {
        document.extend(more);
    }
}
