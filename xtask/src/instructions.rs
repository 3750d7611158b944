//! Instruction counts of the engine's basic operations, held to a record.
//!
//! Runs the benchmark `instructions` of `bristlecone-bench` under callgrind, reduces its report to one number for each
//! operation, and compares them with `crates/bristlecone-bench/record/instructions.json`. What callgrind and its runner
//! keep for themselves holds absolute paths and stays in the build folder.
//!
//! Counts are comparable for one toolchain alone, so another one than the record's is a reason to skip, as is a
//! machine without valgrind or the runner: whoever lacks them is not kept from changing the engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// Growth that fails, in per cent of the recorded count.
const GROWTH_MAX_PERCENT: u64 = 5;

const REFRESH: &str = "cargo xtask instructions --accept";

/// Counts by operation.
type Counts = BTreeMap<String, u64>;

/// What was accepted, and the toolchain that counted it.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    toolchain: String,
    counts: Counts,
}

/// Runs the task; `args` are those behind `instructions`.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let accept = match args {
        [] => false,
        [arg] if arg == "--accept" => true,
        _ => return Err(format!("unknown arguments: {}", args.join(" "))),
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = root.join("crates/bristlecone-bench/record/instructions.json");
    if let Some(reason) = tool_missing(&root)? {
        println!("instructions: skipped: {reason}");
        return Ok(());
    }
    let toolchain = toolchain()?;
    if accept {
        let counts = measure(&root)?;
        return write_record(&file, &Record { toolchain, counts });
    }
    let record = read_record(&file)?;
    if record.toolchain != toolchain {
        println!(
            "instructions: skipped: recorded with {}, this is {toolchain}; {REFRESH} records anew",
            record.toolchain
        );
        return Ok(());
    }
    let counts = measure(&root)?;
    let findings = compare(&record.counts, &counts);
    report(&record.counts, &counts);
    if findings.is_empty() {
        return Ok(());
    }
    Err(format!(
        "instructions: {}\nif that is meant: {REFRESH}, and say why in the commit",
        findings.join("\ninstructions: ")
    ))
}

/// Why nothing can be counted here, if so.
fn tool_missing(root: &Path) -> Result<Option<String>, String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Ok(Some("the record is for x86-64 Linux".to_owned()));
    }
    if stdout_of("valgrind", &["--version"]).is_err() {
        return Ok(Some("valgrind is not installed".to_owned()));
    }
    let wanted = runner_version(root)?;
    let found = stdout_of("gungraun-runner", &["--version"]).unwrap_or_default();
    if found.split_whitespace().last() == Some(wanted.as_str()) {
        return Ok(None);
    }
    Ok(Some(format!(
        "gungraun-runner {wanted} is not installed: cargo install gungraun-runner --version {wanted}"
    )))
}

/// The version of the benchmark's library, which its runner must share.
fn runner_version(root: &Path) -> Result<String, String> {
    let lock = fs::read_to_string(root.join("Cargo.lock")).map_err(|error| error.to_string())?;
    let mut lines = lock.lines();
    lines.find(|line| *line == "name = \"gungraun\"");
    lines
        .next()
        .and_then(|line| line.strip_prefix("version = \""))
        .and_then(|line| line.strip_suffix('"'))
        .map(str::to_owned)
        .ok_or("Cargo.lock does not name gungraun".to_owned())
}

/// Compiler and host, on one line.
fn toolchain() -> Result<String, String> {
    let report = stdout_of("rustc", &["-vV"])?;
    let host = report.lines().find_map(|line| line.strip_prefix("host: "));
    let version = report.lines().next().unwrap_or_default();
    Ok(format!("{version}, {}", host.unwrap_or("unknown host")))
}

fn measure(root: &Path) -> Result<Counts, String> {
    let output = Command::new("cargo")
        .args(["bench", "--quiet", "--package", "bristlecone-bench"])
        .args(["--no-default-features", "--bench", "instructions"])
        .args(["--", "--output-format=json"])
        .current_dir(root)
        // Nobody's own target features.
        .env("RUSTFLAGS", "")
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo does not run: {error}"))?;
    if !output.status.success() {
        return Err("instructions: the benchmark failed".to_owned());
    }
    reduce(&String::from_utf8_lossy(&output.stdout))
}

/// One count for each line of the runner's report.
fn reduce(report: &str) -> Result<Counts, String> {
    let mut counts = Counts::new();
    for line in report.lines().filter(|line| line.starts_with('{')) {
        let summary: Value = serde_json::from_str(line)
            .map_err(|error| format!("instructions: the runner's report is no JSON: {error}"))?;
        let name = (summary["function_name"].as_str()).zip(summary["id"].as_str());
        let count = &summary["profiles"][0]["data"]["total"]["metrics"]["Ir"]["values"]["new"];
        let (Some((function, id)), Some(count)) = (name, count.as_u64()) else {
            return Err(format!(
                "instructions: the runner's report has another form: {line}"
            ));
        };
        counts.insert(format!("{function}.{id}"), count);
    }
    if counts.is_empty() {
        return Err("instructions: the runner reported nothing".to_owned());
    }
    Ok(counts)
}

/// What is wrong with `counts`.
fn compare(recorded: &Counts, counts: &Counts) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, &count) in counts {
        match recorded.get(name) {
            None => findings.push(format!("{name} is not in the record")),
            Some(&before) if count * 100 > before * (100 + GROWTH_MAX_PERCENT) => {
                findings.push(format!(
                    "{name} executes {count} instructions, {} more than {before} + {GROWTH_MAX_PERCENT} %",
                    count - before * (100 + GROWTH_MAX_PERCENT) / 100
                ));
            }
            Some(_) => {}
        }
    }
    let gone = recorded.keys().filter(|name| !counts.contains_key(*name));
    findings.extend(gone.map(|name| format!("{name} is recorded and was not counted")));
    findings
}

fn report(recorded: &Counts, counts: &Counts) {
    for (name, &count) in counts {
        let change = recorded.get(name).map_or(String::new(), |&before| {
            let percent = (count as f64 / before as f64 - 1.0) * 100.0;
            format!("{percent:+.2} %")
        });
        println!("{name:<24}{count:>14}  {change}");
    }
}

fn read_record(file: &Path) -> Result<Record, String> {
    let content = fs::read_to_string(file)
        .map_err(|error| format!("{}: {error}; {REFRESH} makes it", file.display()))?;
    parse_record(&content).ok_or(format!(
        "{}: not a record of instruction counts; {REFRESH} makes it anew",
        file.display()
    ))
}

fn parse_record(content: &str) -> Option<Record> {
    let value: Value = serde_json::from_str(content).ok()?;
    let counts = value["counts"].as_object()?.iter();
    let counts = counts.map(|(name, count)| Some((name.clone(), count.as_u64()?)));
    Some(Record {
        toolchain: value["toolchain"].as_str()?.to_owned(),
        counts: counts.collect::<Option<Counts>>()?,
    })
}

fn write_record(file: &Path, record: &Record) -> Result<(), String> {
    report(&Counts::new(), &record.counts);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::write(file, encode_record(record)).map_err(|error| format!("{}: {error}", file.display()))
}

fn encode_record(record: &Record) -> String {
    let value = json!({ "toolchain": record.toolchain, "counts": record.counts });
    format!("{value:#}\n")
}

fn stdout_of(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(args)
        .output()
        .map_err(|error| format!("{program} does not run: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(&str, u64)]) -> Counts {
        of.iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    }

    #[test]
    fn growth_above_the_limit_is_found_and_less_is_not() {
        let recorded = counts(&[("get", 1000), ("put", 1000), ("scan", 1000)]);
        let now = counts(&[("get", 1050), ("put", 1051), ("scan", 10)]);
        let findings = compare(&recorded, &now);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].starts_with("put executes 1051"));
    }

    #[test]
    fn benchmarks_that_come_or_go_are_found() {
        let findings = compare(&counts(&[("get", 1)]), &counts(&[("put", 1)]));
        assert_eq!(findings.len(), 2);
    }

    #[test]
    fn a_report_is_reduced_to_its_counts() {
        let line = json!({
            "function_name": "commit",
            "id": "of_1_entry",
            "profiles": [{"data": {"total": {"metrics": {"Ir": {"values": {"new": 975_990}}}}}}],
        });
        let found = reduce(&format!("{line}\n")).unwrap();
        assert_eq!(found, counts(&[("commit.of_1_entry", 975_990)]));
        assert!(reduce("").is_err());
        assert!(reduce("{\"id\": 1}").is_err());
        assert!(reduce("{").is_err());
    }

    #[test]
    fn a_record_reads_back_as_written() {
        let record = Record {
            toolchain: "rustc 1.95.0, somewhere".to_owned(),
            counts: counts(&[("get.times_1000", 5), ("put.times_1000", 7)]),
        };
        assert_eq!(parse_record(&encode_record(&record)), Some(record));
        assert_eq!(parse_record("{}"), None);
        assert_eq!(
            parse_record("{\"toolchain\": \"\", \"counts\": {\"a\": -1}}"),
            None
        );
    }
}
