//! `load`: streams records from a file into a database.
//!
//! # Invariants
//! 1. Memory does not grow with the input: one line and one engine transaction are held at a time.
//! 2. A batch is committed durably as a whole or not at all; a line that cannot be read ends the load and keeps the
//!    batches before it.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount};

use crate::args::{DEFAULT_TABLE, LoadArgs};
use crate::failure::{Failure, Outcome};
use crate::lines::Lines;
use crate::output::Output;
use crate::progress::Progress;
use crate::quote::quote;
use crate::records::{Item, Records};
use crate::store::{self, Batch, TableSchema, Writer};

/// How many records pass between two looks at the bar.
const RECORDS_PER_TICK: u64 = 512;

/// Loads the input, then says what was done and what to try.
pub(crate) fn run(args: &LoadArgs, cache: Option<usize>) -> Outcome {
    let lines = Lines::open(&args.input)?;
    let progress = Progress::bytes(lines.bytes_total());
    let writer = Writer::create(&args.file, cache)?;
    let start = Instant::now();
    let mut load = Load::new(
        Records::new(lines, &args.input, args.format, args.hex)?,
        args,
        progress,
    )?;
    load.run(&writer)?;
    let elapsed = start.elapsed();
    let rows = load
        .target
        .as_ref()
        .map(|(name, _)| writer.rows(name))
        .transpose()?;
    writer.close()?;
    let Load {
        records,
        stored,
        sample,
        target,
        names_tables,
        progress,
        ..
    } = load;
    drop(progress);
    if args.quiet {
        return Ok(());
    }
    let mut output = Output::new();
    output.line(&summary(stored, records.bytes_read(), elapsed))?;
    if let (Some((name, _)), Some(rows), false) = (&target, rows, names_tables) {
        output.line(&format!(
            "table {name} of {} holds {} rows",
            args.file.display(),
            HumanCount(rows)
        ))?;
    }
    if args.input != Path::new("-") && !names_tables {
        propose(&mut output, args, sample.as_deref())?;
    }
    output.finish()
}

/// A load under way.
struct Load {
    records: Records,
    batch_records: u64,
    /// The table that records go to; none before a dump's first table.
    target: Option<(String, TableSchema)>,
    names_tables: bool,
    /// Records of committed batches.
    stored: u64,
    /// Records of the batch under way.
    pending: u64,
    /// Whether the batch under way has opened a table that no batch before it had.
    opened: bool,
    /// A key to propose to the user.
    sample: Option<Vec<u8>>,
    progress: Progress,
}

/// Why a batch is complete.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Filled {
    Full,
    End,
}

impl Load {
    fn new(records: Records, args: &LoadArgs, progress: Progress) -> Outcome<Self> {
        let names_tables = records.names_tables();
        if names_tables && args.table.is_some() {
            return Err(Failure::Usage(
                "a dump names its tables: leave --table out".to_owned(),
            ));
        }
        let target = (!names_tables).then(|| {
            let name = args
                .table
                .clone()
                .unwrap_or_else(|| DEFAULT_TABLE.to_owned());
            (name, store::bytes_schema())
        });
        Ok(Load {
            records,
            batch_records: args.batch,
            opened: target.is_some(),
            target,
            names_tables,
            stored: 0,
            pending: 0,
            sample: None,
            progress,
        })
    }

    fn run(&mut self, writer: &Writer) -> Outcome {
        self.batches(writer)
            .map_err(|failure| self.with_stored(failure))
    }

    fn batches(&mut self, writer: &Writer) -> Outcome {
        loop {
            let batch = writer.begin()?;
            let filled = self.fill(&batch)?;
            if self.pending > 0 || self.opened {
                batch.commit()?;
            } else {
                batch.abort()?;
            }
            self.stored += self.pending;
            self.pending = 0;
            self.opened = false;
            if filled == Filled::End {
                return Ok(());
            }
        }
    }

    /// Fills one batch, table after table.
    fn fill(&mut self, batch: &Batch) -> Outcome<Filled> {
        loop {
            let filled = match self.target.clone() {
                Some((name, schema)) => self.fill_table(batch, &name, &schema)?,
                None => self.first_table()?,
            };
            match filled {
                Some(filled) => return Ok(filled),
                None => self.opened = true,
            }
        }
    }

    /// Fills one table; nothing comes back if the input goes on with another.
    fn fill_table(
        &mut self,
        batch: &Batch,
        name: &str,
        schema: &TableSchema,
    ) -> Outcome<Option<Filled>> {
        let mut table = batch.open(name, schema)?;
        loop {
            if self.pending == self.batch_records {
                return Ok(Some(Filled::Full));
            }
            match self.records.next()? {
                None => return Ok(Some(Filled::End)),
                Some(Item::Table(header)) => {
                    self.target = Some((header.name, header.schema));
                    return Ok(None);
                }
                Some(Item::Record((key, value))) => {
                    table.insert(&key, &value)?;
                    self.pending += 1;
                    let number = self.stored + self.pending;
                    // The keys of records 1, 2, 4, ..: the last is from the second half and was found in passing.
                    if number.is_power_of_two() {
                        self.sample = Some(key.into_owned());
                    }
                    if number.is_multiple_of(RECORDS_PER_TICK) {
                        self.tick(number);
                    }
                }
            }
        }
    }

    fn first_table(&mut self) -> Outcome<Option<Filled>> {
        match self.records.next()? {
            None => Ok(Some(Filled::End)),
            Some(Item::Table(header)) => {
                self.target = Some((header.name, header.schema));
                Ok(None)
            }
            // The reader of dumps refuses a record before the first table.
            Some(Item::Record(_)) => Err(Failure::Work("record before the first table".to_owned())),
        }
    }

    fn tick(&self, number: u64) {
        self.progress.set(self.records.bytes_read());
        self.progress
            .note(format!("{} records", HumanCount(number)));
    }

    /// Says what the file holds of the input when the load breaks off.
    fn with_stored(&self, failure: Failure) -> Failure {
        let stored = self.stored;
        match failure {
            Failure::Work(text) if stored > 0 => {
                Failure::Work(format!("{text} (the first {stored} records are stored)"))
            }
            Failure::Work(text) => Failure::Work(format!("{text} (no record was stored)")),
            other => other,
        }
    }
}

fn summary(records: u64, bytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    format!(
        "loaded {} records in {seconds:.2} s ({} records/s, {}/s)",
        HumanCount(records),
        HumanCount(per_second(records, elapsed)),
        HumanBytes(per_second(bytes, elapsed)),
    )
}

/// `count` per second, in whole numbers.
fn per_second(count: u64, elapsed: Duration) -> u64 {
    let nanos = elapsed.as_nanos().max(1);
    u64::try_from(u128::from(count) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
}

/// Prints commands that show something of what was loaded.
fn propose(output: &mut Output, args: &LoadArgs, sample: Option<&[u8]>) -> Outcome {
    let tool = std::env::args_os()
        .next()
        .unwrap_or_else(|| "bristlecone".into());
    let words = (
        quote(tool.as_encoded_bytes()),
        quote(args.file.as_os_str().as_encoded_bytes()),
    );
    let (Some(tool), Some(file)) = words else {
        return Ok(());
    };
    let table = match args.table.as_deref().map(|name| quote(name.as_bytes())) {
        None => String::new(),
        Some(Some(name)) => format!(" --table {name}"),
        Some(None) => return Ok(()),
    };
    output.line("worth trying:")?;
    if let Some((key, prefix)) = sample.and_then(key_and_prefix) {
        output.line(&format!("  {tool} get {file}{table} {key}"))?;
        output.line(&format!(
            "  {tool} scan {file}{table} --prefix {prefix} --limit 10"
        ))?;
    }
    output.line(&format!("  {tool} scan {file}{table} --reverse --limit 5"))?;
    output.line(&format!("  {tool} stats {file}"))?;
    output.line(&format!("  {tool} check {file}"))
}

/// `key` and its first half, as shell words, where both can stand on a command line.
fn key_and_prefix(key: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(key)
        .ok()
        .filter(|text| !text.starts_with('-'))?;
    let half = text.chars().count().div_ceil(2);
    let prefix: String = text.chars().take(half).collect();
    Some((quote(key)?, quote(prefix.as_bytes())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_survive_extremes() {
        assert_eq!(per_second(10, Duration::from_millis(500)), 20);
        assert_eq!(per_second(u64::MAX, Duration::ZERO), u64::MAX);
    }

    #[test]
    fn proposed_keys_are_safe_words() {
        assert_eq!(
            key_and_prefix(b"1F600"),
            Some(("1F600".to_owned(), "1F6".to_owned()))
        );
        assert_eq!(key_and_prefix(b"-x"), None);
        assert_eq!(key_and_prefix(b"\xff"), None);
        assert_eq!(key_and_prefix(b""), None);
    }
}
