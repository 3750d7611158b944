//! `check`: verifies every page of a file.

use indicatif::HumanCount;
use serde_json::{Value, json};

use crate::args::ReportArgs;
use crate::failure::{Failure, Outcome, one_line};
use crate::output::Output;
use crate::progress::Progress;
use crate::store::{self, Damage, Verdict};

/// Reports all findings; any is exit code 1.
pub(crate) fn run(args: &ReportArgs, cache: Option<usize>) -> Outcome {
    let progress = Progress::units();
    let verdict = store::check(&args.file, cache, &mut |done, total| {
        progress.set_of(done, total)
    })?;
    drop(progress);
    let file = args.file.display().to_string();
    let mut output = Output::new();
    if args.json {
        output.json(&as_json(&file, &verdict))?;
    } else {
        for finding in &verdict.damage {
            output.line(&one_line(&finding.text))?;
        }
        output.line(&totals(&file, &verdict))?;
    }
    output.finish()?;
    match verdict.damage.len() {
        0 => Ok(()),
        findings => {
            let findings = counted(u64::try_from(findings).unwrap_or(u64::MAX), "finding");
            Err(Failure::Damage(format!("{file} is damaged: {findings}")))
        }
    }
}

/// A number and what it counts.
fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", HumanCount(number))
}

fn totals(file: &str, verdict: &Verdict) -> String {
    let outcome = if verdict.damage.is_empty() {
        "no damage found"
    } else {
        "damaged"
    };
    if verdict.units_total == 0 {
        // The damage keeps the file from being opened, so nothing was counted.
        return format!("{file}: {outcome}");
    }
    format!(
        "{file}: {outcome}; {}, {}, {}, {} of {} in use",
        counted(verdict.tables, "table"),
        counted(verdict.rows, "row"),
        counted(verdict.pages, "page"),
        HumanCount(verdict.units_reachable),
        counted(verdict.units_total, "unit"),
    )
}

fn as_json(file: &str, verdict: &Verdict) -> Value {
    let findings: Vec<Value> = verdict.damage.iter().map(finding_as_json).collect();
    json!({
        "file": file,
        "clean": verdict.damage.is_empty(),
        "tables": verdict.tables,
        "rows": verdict.rows,
        "pages": verdict.pages,
        "units_reachable": verdict.units_reachable,
        "units_total": verdict.units_total,
        "findings": findings,
    })
}

fn finding_as_json(finding: &Damage) -> Value {
    json!({
        "what": finding.what,
        "page": finding.page,
        "offset": finding.offset,
        "path": finding.path,
    })
}
