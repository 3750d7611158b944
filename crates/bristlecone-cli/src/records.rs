//! The records of an input, whatever its form.

use std::borrow::Cow;
use std::path::Path;

use crate::args::InputFormat;
use crate::dump::{self, DumpItem, DumpReader, TableHeader};
use crate::failure::{Failure, Outcome};
use crate::jsonl;
use crate::lines::Lines;
use crate::tsv::{self, Pair};

/// What an input holds.
pub(crate) enum Item<'a> {
    /// The records that follow belong to this table.
    Table(Box<TableHeader>),
    /// A record.
    Record(Pair<'a>),
}

/// Reads the records of an input one by one.
pub(crate) struct Records {
    lines: Lines,
    form: Form,
}

enum Form {
    Tsv { hex: bool },
    Jsonl,
    Dump(Box<DumpReader>),
}

impl Records {
    /// Takes `format`, or finds it out from the first line and the ending of `path`.
    pub(crate) fn new(
        mut lines: Lines,
        path: &Path,
        format: Option<InputFormat>,
        hex: bool,
    ) -> Outcome<Self> {
        let format = match format {
            Some(format) => format,
            None if lines.peek()?.is_some_and(dump::is_start) => InputFormat::Dump,
            None if is_jsonl(path) => InputFormat::Jsonl,
            None => InputFormat::Tsv,
        };
        let form = match format {
            InputFormat::Tsv => Form::Tsv { hex },
            InputFormat::Jsonl => Form::Jsonl,
            InputFormat::Dump => Form::Dump(Box::default()),
        };
        match form {
            Form::Tsv { .. } => Ok(Records { lines, form }),
            _ if hex => Err(Failure::Usage(
                "--hex is for TSV input: JSON lines have key_hex and value_hex".to_owned(),
            )),
            _ => Ok(Records { lines, form }),
        }
    }

    /// Whether the input names its tables itself.
    pub(crate) fn names_tables(&self) -> bool {
        matches!(self.form, Form::Dump(_))
    }

    /// How many bytes were consumed.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }

    /// The next record or table, or nothing at the end.
    pub(crate) fn next(&mut self) -> Outcome<Option<Item<'_>>> {
        match &mut self.form {
            Form::Dump(reader) => next_of_dump(&mut self.lines, reader),
            Form::Jsonl => next_line(&mut self.lines, |line| {
                let (key, value) = jsonl::take_pair(jsonl::object(line)?)?;
                Ok((Cow::Owned(key), Cow::Owned(value)))
            }),
            Form::Tsv { hex } => {
                let hex = *hex;
                next_line(&mut self.lines, |line| tsv::parse(line, hex))
            }
        }
    }
}

fn is_jsonl(path: &Path) -> bool {
    path.extension().is_some_and(|ending| {
        ending.eq_ignore_ascii_case("jsonl") || ending.eq_ignore_ascii_case("ndjson")
    })
}

fn next_line<'a>(
    lines: &'a mut Lines,
    parse: impl FnOnce(&'a [u8]) -> Result<Pair<'a>, String>,
) -> Outcome<Option<Item<'a>>> {
    let place = lines.next_place();
    match lines.next()? {
        None => Ok(None),
        Some(line) => parse(line)
            .map(|pair| Some(Item::Record(pair)))
            .map_err(|what| place.malformed(what)),
    }
}

fn next_of_dump<'a>(lines: &mut Lines, reader: &mut DumpReader) -> Outcome<Option<Item<'a>>> {
    loop {
        let place = lines.next_place();
        let item = match lines.next()? {
            None => {
                return reader
                    .at_end()
                    .map(|()| None)
                    .map_err(|what| place.malformed(what));
            }
            Some(line) => reader.line(line).map_err(|what| place.malformed(what))?,
        };
        match item {
            None | Some(DumpItem::End) => {}
            Some(DumpItem::Table(header)) => return Ok(Some(Item::Table(header))),
            Some(DumpItem::Record(key, value)) => {
                return Ok(Some(Item::Record((Cow::Owned(key), Cow::Owned(value)))));
            }
        }
    }
}
