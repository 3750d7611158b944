//! `scan`: the records of a range in key order.

use std::ops::Bound;

use crate::args::{OutputFormat, ScanArgs};
use crate::column::Column;
use crate::commands::bytes_of;
use crate::failure::Outcome;
use crate::jsonl;
use crate::output::Output;
use crate::store::{ReadTable, Reader, Rows};
use crate::tsv;

/// Prints the records, or their number.
pub(crate) fn run(args: &ScanArgs, cache: Option<usize>) -> Outcome {
    let reader = Reader::open(&args.file, cache)?;
    let table = reader.table(&args.table.table)?;
    let range = KeyRange::from_args(args, &Column::key(table.schema()))?;
    let mut output = Output::new();
    let limit = args.limit.unwrap_or(u64::MAX);
    let mut count = 0;
    if !range.is_empty() {
        let mut rows = table.range(
            range.lower.as_ref().map(Vec::as_slice),
            range.upper.as_ref().map(Vec::as_slice),
        )?;
        count = if args.count {
            count_rows(&mut rows, limit)?
        } else {
            print(args, &table, &mut rows, limit, &mut output)?
        };
    }
    if args.count {
        output.line(&count.to_string())?;
    }
    output.finish()
}

/// Counts by reading, so that the number can be compared with what the catalogue says.
fn count_rows(rows: &mut Rows, limit: u64) -> Outcome<u64> {
    let mut count = 0;
    while count < limit && rows.next(false)?.is_some() {
        count += 1;
    }
    Ok(count)
}

fn print(
    args: &ScanArgs,
    table: &ReadTable,
    rows: &mut Rows,
    limit: u64,
    output: &mut Output,
) -> Outcome<u64> {
    let (key_column, value_column) = (Column::key(table.schema()), Column::value(table.schema()));
    let mut line = Vec::new();
    let mut count = 0;
    while count < limit {
        let Some((key, value)) = rows.next(args.reverse)? else {
            break;
        };
        line.clear();
        let as_hex = args.table.hex;
        let (key, value) = if as_hex {
            ((&*key).into(), (&*value).into())
        } else {
            (key_column.shown(&key), value_column.shown(&value))
        };
        match args.format {
            OutputFormat::Tsv => tsv::write(&key, &value, as_hex, &mut line),
            OutputFormat::Jsonl => jsonl::write(&key, &value, as_hex, as_hex, &mut line),
        }
        output.write(&line)?;
        count += 1;
    }
    Ok(count)
}

/// A range of keys in stored form.
#[derive(Debug, Eq, PartialEq)]
struct KeyRange {
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
    bytewise: bool,
}

impl KeyRange {
    fn from_args(args: &ScanArgs, column: &Column) -> Outcome<Self> {
        if args.from.is_some() || args.to.is_some() || args.prefix.is_some() {
            column.require_order()?;
        }
        let parse = |key: &Option<std::ffi::OsString>| {
            key.as_deref()
                .map(|key| column.parse(bytes_of(key), args.table.hex))
                .transpose()
        };
        let mut range = KeyRange {
            lower: parse(&args.from)?.map_or(Bound::Unbounded, Bound::Included),
            upper: parse(&args.to)?.map_or(Bound::Unbounded, Bound::Excluded),
            bytewise: column.is_bytewise(),
        };
        if let Some(prefix) = &args.prefix {
            let prefix = column.parse_prefix(bytes_of(prefix), args.table.hex)?;
            range.narrow(prefix);
        }
        Ok(range)
    }

    /// Keeps the keys that begin with `prefix`.
    fn narrow(&mut self, prefix: Vec<u8>) {
        let end = end_of_prefix(&prefix);
        if !matches!(&self.lower, Bound::Included(from) if *from > prefix) {
            self.lower = Bound::Included(prefix);
        }
        match (&self.upper, end) {
            (Bound::Excluded(to), Some(end)) if *to <= end => {}
            (_, Some(end)) => self.upper = Bound::Excluded(end),
            (_, None) => {}
        }
    }

    /// Whether the bounds cross, as far as bytes can tell.
    fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Bound::Included(from), Bound::Excluded(to)) => self.bytewise && from >= to,
            _ => false,
        }
    }
}

/// The least key above all keys that begin with `prefix`: the last byte that is not FF, plus one. There is none if all
/// bytes are FF.
fn end_of_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut end = prefix.get(..=last)?.to_vec();
    if let Some(byte) = end.last_mut() {
        *byte += 1;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_ends_behind_ff_bytes() {
        assert_eq!(end_of_prefix(b"ab").as_deref(), Some(&b"ac"[..]));
        assert_eq!(end_of_prefix(b"a\xff\xff").as_deref(), Some(&b"b"[..]));
        assert_eq!(end_of_prefix(b"\xff\xff"), None);
        assert_eq!(end_of_prefix(b""), None);
    }

    #[test]
    fn prefix_narrows_a_range() {
        let range = |from: &[u8], to: &[u8]| {
            let mut range = KeyRange {
                lower: Bound::Included(from.to_vec()),
                upper: Bound::Excluded(to.to_vec()),
                bytewise: true,
            };
            range.narrow(b"m".to_vec());
            range
        };
        let bounds = |range: &KeyRange| match (&range.lower, &range.upper) {
            (Bound::Included(from), Bound::Excluded(to)) => (from.clone(), to.clone()),
            _ => unreachable!("both ends were given"),
        };
        assert_eq!(bounds(&range(b"a", b"z")), (b"m".to_vec(), b"n".to_vec()));
        assert_eq!(
            bounds(&range(b"ma", b"mz")),
            (b"ma".to_vec(), b"mz".to_vec())
        );
        assert!(range(b"x", b"z").is_empty());
        assert!(range(b"a", b"b").is_empty());
    }
}
