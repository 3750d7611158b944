//! The command line: commands, options and their help.
//!
//! Arguments are kept as the operating system gives them, so that file names and keys need not be UTF-8.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::store;

/// The table of the commands that name none.
pub(crate) const DEFAULT_TABLE: &str = "default";

const EXIT_CODES: &str = "\
Exit codes:
  0  fine
  1  key or table not found; `check` found damage
  2  wrong usage
  3  a file cannot be opened (missing, not a database, locked, no permission)
  4  failed while working (bad input, disk full, damaged page)";

const TSV_HELP: &str = "\
TSV: one record per line, key TAB value; the first TAB ends the key. Escapes: \\t TAB, \\n line feed, \\r carriage return,
\\\\ backslash, \\xHH any byte; other uses of a backslash are errors. Lines end with LF or CR LF. With --hex both sides are
hexadecimal instead.
JSON lines: {\"key\":\"..\",\"value\":\"..\"}; key_hex and value_hex hold what is not UTF-8.";

const LOAD_HELP: &str = "\
The last of several records with one key wins. A line that cannot be read ends the load with exit code 4; batches that were
committed before it stay. A dump is recognised by its first line, JSON lines by the file's ending (.jsonl, .ndjson); all else
is TSV.";

/// Command-line tool of the Bristlecone storage engine.
#[derive(Debug, Parser)]
#[command(name = "bristlecone", version = version(), after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Memory budget of the engine, in bytes; K, M and G multiply by 1024
    #[arg(long, global = true, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) cache: Option<usize>,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One command with its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Store the records of a file, creating the database if need be
    #[command(after_help = format!("{LOAD_HELP}\n\n{TSV_HELP}"))]
    Load(LoadArgs),
    /// Print the value of a key and a newline
    Get(KeyArgs),
    /// Store one record, creating the database if need be
    Put(PutArgs),
    /// Remove one record
    Del(KeyArgs),
    /// Print the records of a range in key order
    #[command(after_help = TSV_HELP)]
    Scan(ScanArgs),
    /// Print all tables in a form that `load` reads back exactly
    Dump(DumpArgs),
    /// List the tables: name, rows, key type and value type, with TABs between
    Tables(ReportArgs),
    /// Show sizes and shapes of the file and its tables
    Stats(ReportArgs),
    /// Verify every page of the file
    Check(ReportArgs),
}

/// The table a command works on, and how keys and values are written.
#[derive(Args, Debug)]
pub(crate) struct TableArgs {
    /// Table to use
    #[arg(long, value_name = "NAME", default_value = DEFAULT_TABLE, value_parser = parse_table)]
    pub(crate) table: String,
    /// Keys and values are given and shown in hexadecimal, as they are stored
    #[arg(long)]
    pub(crate) hex: bool,
}

/// Arguments of `load`.
#[derive(Args, Debug)]
pub(crate) struct LoadArgs {
    /// Database file
    #[arg(value_name = "FILE.db")]
    pub(crate) file: PathBuf,
    /// File to read, or - for standard input
    pub(crate) input: PathBuf,
    /// Form of the input
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<InputFormat>,
    /// Records per commit
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) batch: u64,
    /// Table to use; a dump names its own [default: default]
    #[arg(long, value_name = "NAME", value_parser = parse_table)]
    pub(crate) table: Option<String>,
    /// Keys and values of a TSV file are hexadecimal
    #[arg(long)]
    pub(crate) hex: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Arguments of `get` and `del`.
#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    /// Database file
    #[arg(value_name = "FILE.db")]
    pub(crate) file: PathBuf,
    /// Key, taken literally (write -- before one that begins with a dash)
    pub(crate) key: OsString,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// Arguments of `put`.
#[derive(Args, Debug)]
pub(crate) struct PutArgs {
    /// Database file
    #[arg(value_name = "FILE.db")]
    pub(crate) file: PathBuf,
    /// Key, taken literally (write -- before one that begins with a dash)
    pub(crate) key: OsString,
    /// Value, taken literally
    pub(crate) value: OsString,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// Arguments of `scan`.
#[derive(Args, Debug)]
pub(crate) struct ScanArgs {
    /// Database file
    #[arg(value_name = "FILE.db")]
    pub(crate) file: PathBuf,
    /// First key, inclusive
    #[arg(long, value_name = "KEY")]
    pub(crate) from: Option<OsString>,
    /// End of the range, exclusive
    #[arg(long, value_name = "KEY")]
    pub(crate) to: Option<OsString>,
    /// Only keys that begin with this
    #[arg(long, value_name = "PREFIX")]
    pub(crate) prefix: Option<OsString>,
    /// From the last key to the first
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Stop after so many records
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print only how many records there are
    #[arg(long)]
    pub(crate) count: bool,
    /// Form of the output
    #[arg(long, value_name = "FORMAT", default_value = "tsv")]
    pub(crate) format: OutputFormat,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// Arguments of `dump`.
#[derive(Args, Debug)]
pub(crate) struct DumpArgs {
    /// Database file
    #[arg(value_name = "FILE.db")]
    pub(crate) file: PathBuf,
    /// Dump only this table; may be repeated
    #[arg(long, value_name = "NAME", value_parser = parse_table)]
    pub(crate) table: Vec<String>,
    /// Write all keys and values in hexadecimal
    #[arg(long)]
    pub(crate) hex: bool,
}

/// Arguments of the commands that report on a whole file.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Database file
    #[arg(value_name = "FILE.db")]
    pub(crate) file: PathBuf,
    /// Print one JSON document per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `load` reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum InputFormat {
    /// key TAB value
    Tsv,
    /// One JSON object per record
    Jsonl,
    /// Output of `dump`
    Dump,
}

/// What `scan` prints.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// key TAB value
    Tsv,
    /// One JSON object per record
    Jsonl,
}

/// What `--version` prints after the name. Called once per run: the text lives as long as the process.
fn version() -> &'static str {
    let text = format!(
        "{} (file format {})",
        env!("CARGO_PKG_VERSION"),
        store::FILE_FORMAT
    );
    Box::leak(text.into_boxed_str())
}

fn parse_table(text: &str) -> Result<String, String> {
    if text.is_empty() {
        Err("a table's name cannot be empty".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

/// A number of bytes: digits and perhaps K, M or G.
fn parse_bytes(text: &str) -> Result<usize, String> {
    let suffixes = [(['k', 'K'], 10), (['m', 'M'], 20), (['g', 'G'], 30)];
    let (digits, shift) = suffixes
        .iter()
        .find_map(|(suffix, shift)| Some((text.strip_suffix(suffix)?, *shift)))
        .unwrap_or((text, 0));
    let number: usize = digits
        .bytes()
        .all(|digit| digit.is_ascii_digit())
        .then(|| digits.parse().ok())
        .flatten()
        .ok_or("expected a number of bytes such as 268435456 or 256M")?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "more bytes than this machine can address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn byte_counts_take_suffixes() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("3k"), Ok(3 << 10));
        assert_eq!(parse_bytes("256M"), Ok(256 << 20));
        assert_eq!(parse_bytes("1G"), Ok(1 << 30));
        for bad in [
            "",
            "K",
            "-1",
            "+1",
            "1.5G",
            "1KB",
            "99999999999999999999",
            "99999999999G",
            "1\u{e9}",
        ] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
