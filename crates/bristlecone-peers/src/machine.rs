//! What a race was run on: processor, memory, file system, kernel, compiler, commit, day.
//!
//! Each is a matter of record only: what cannot be found out is said to be unknown.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Processor, cores, memory, file system of `dir`, kernel.
pub fn machine(dir: &Path) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!(
        "{}, {cores} cores, {} GiB memory, {}, Linux {}",
        after_colon("/proc/cpuinfo", "model name"),
        memory_gib(),
        file_system(dir),
        kernel.trim(),
    )
}

/// The file's text, or nothing.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// What stands behind the colon on the first line that starts with `name`.
fn after_colon(path: &str, name: &str) -> String {
    let text = read(path);
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.split_once(':'));
    value.map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

/// Memory of the machine, rounded to GiB.
fn memory_gib() -> u64 {
    let total = after_colon("/proc/meminfo", "MemTotal");
    let kibibytes = total
        .split(' ')
        .next()
        .and_then(|word| word.parse::<u64>().ok());
    kibibytes.unwrap_or(0).div_ceil(1 << 20)
}

/// Type of the file system that holds `dir`.
fn file_system(dir: &Path) -> String {
    let unknown = || "unknown file system".to_owned();
    let Ok(meta) = fs::metadata(dir) else {
        return unknown();
    };
    let device = meta.dev();
    let number = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    // A line of mountinfo: id, parent, device, root, mount point, options, .., "-", type, source, ..
    read("/proc/self/mountinfo")
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(&number))
        .and_then(|line| line.split_once(" - "))
        .and_then(|(_, rest)| rest.split(' ').next())
        .map_or_else(unknown, str::to_owned)
}

/// Commit of this repository, with `+` if the work tree differs.
pub fn commit() -> String {
    let Some(hash) = output("git", &["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    let changes = output("git", &["status", "--porcelain", "--untracked-files=no"]);
    let mark = if changes.is_some_and(|text| text.is_empty()) {
        ""
    } else {
        "+"
    };
    format!("{hash}{mark}")
}

/// Version of the compiler.
pub fn rustc() -> String {
    output("rustc", &["--version"]).unwrap_or_else(|| "unknown".to_owned())
}

/// What a command prints when run in this crate's folder; `None` if it fails.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Seconds since 1970.
pub fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

/// The day (UTC) of a time in seconds since 1970, as `YYYY-MM-DD`.
///
/// Source: Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`: years start in March, so that the
/// leap day comes last.
pub fn day(unix_seconds: u64) -> String {
    let days = unix_seconds / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_767_225_599, "2025-12-31"),
            (1_767_225_600, "2026-01-01"),
        ] {
            assert_eq!(day(seconds), expected);
        }
    }

    #[test]
    fn this_machine_can_be_described() {
        let text = machine(&std::env::temp_dir());
        assert!(text.contains("cores") && text.contains("Linux"), "{text}");
    }
}
