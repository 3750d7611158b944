//! `put`: one record.

use crate::args::PutArgs;
use crate::column::Column;
use crate::commands::bytes_of;
use crate::failure::Outcome;
use crate::store::{self, Writer};

/// Stores the record durably; the database and the table are created if need be.
pub(crate) fn run(args: &PutArgs, cache: Option<usize>) -> Outcome {
    let schema = store::bytes_schema();
    // Before the file is touched: a bad argument must not create one.
    let key = Column::key(&schema).parse(bytes_of(&args.key), args.table.hex)?;
    let value = Column::value(&schema).parse(bytes_of(&args.value), args.table.hex)?;
    let writer = Writer::create(&args.file, cache)?;
    let batch = writer.begin()?;
    batch
        .open(&args.table.table, &schema)?
        .insert(&key, &value)?;
    batch.commit()?;
    writer.close()
}
