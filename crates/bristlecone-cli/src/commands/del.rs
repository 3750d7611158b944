//! `del`: removes one record.

use crate::args::KeyArgs;
use crate::column::Column;
use crate::commands::bytes_of;
use crate::commands::get::not_found;
use crate::failure::Outcome;
use crate::store::{self, Writer};

/// Removes the record durably; creates neither a file nor a table.
pub(crate) fn run(args: &KeyArgs, cache: Option<usize>) -> Outcome {
    let schema = store::bytes_schema();
    let argument = bytes_of(&args.key);
    let key = Column::key(&schema).parse(argument, args.table.hex)?;
    let writer = Writer::open(&args.file, cache)?;
    let batch = writer.begin()?;
    batch.require(&args.table.table)?;
    let existed = batch.open(&args.table.table, &schema)?.remove(&key)?;
    if existed {
        batch.commit()?;
        return writer.close();
    }
    batch.abort()?;
    writer.close()?;
    Err(not_found(argument, &args.table.table))
}
