//! `get`: the value of a key.

use crate::args::KeyArgs;
use crate::column::Column;
use crate::commands::bytes_of;
use crate::escape;
use crate::failure::{Failure, Outcome};
use crate::hex;
use crate::output::Output;
use crate::store::Reader;

/// Prints the value and a newline: verbatim, so that a script gets back what it stored.
pub(crate) fn run(args: &KeyArgs, cache: Option<usize>) -> Outcome {
    let reader = Reader::open(&args.file, cache)?;
    let table = reader.table(&args.table.table)?;
    let argument = bytes_of(&args.key);
    let column = Column::key(table.schema());
    column.require_order()?;
    let key = column.parse(argument, args.table.hex)?;
    let value = table
        .get(&key)?
        .ok_or_else(|| not_found(argument, &args.table.table))?;
    let mut output = Output::new();
    if args.table.hex {
        output.write(hex::encode(&value).as_bytes())?;
    } else {
        output.write(&Column::value(table.schema()).shown(&value))?;
    }
    output.write(b"\n")?;
    output.finish()
}

/// The failure of a key that is not there.
pub(crate) fn not_found(key: &[u8], table: &str) -> Failure {
    Failure::NotFound(format!(
        "key not found in table {table}: {}",
        escape::escape(key)
    ))
}
