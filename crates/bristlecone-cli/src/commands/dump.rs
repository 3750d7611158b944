//! `dump`: all tables in a form that `load` reads back exactly.

use std::ops::Bound;

use crate::args::DumpArgs;
use crate::column::Column;
use crate::dump;
use crate::failure::{Failure, Outcome};
use crate::jsonl;
use crate::output::Output;
use crate::store::{self, ReadTable, Reader};

/// Dumps one snapshot of the file, or of the tables that were named.
pub(crate) fn run(args: &DumpArgs, cache: Option<usize>) -> Outcome {
    let reader = Reader::open(&args.file, cache)?;
    let names = if args.table.is_empty() {
        reader.table_names()?
    } else {
        args.table.clone()
    };
    // All are looked at before the first line: half a dump is worse than none.
    for name in &names {
        require_loadable(name, &reader.table(name)?)?;
    }
    let mut output = Output::new();
    output.json(&dump::start())?;
    let mut rows = 0;
    let mut tables = 0;
    for name in &names {
        rows += dump_table(&mut output, name, &reader.table(name)?, args.hex)?;
        tables += 1;
    }
    output.json(&dump::end(tables, rows))?;
    output.finish()
}

fn require_loadable(name: &str, table: &ReadTable) -> Outcome {
    if store::is_loadable(table.schema()) {
        return Ok(());
    }
    Err(Failure::Work(format!(
        "table {name:?} is ordered by a comparison of its program's own ({}), so that its dump could not be loaded; \
         name the other tables with --table",
        store::key_type(table.schema())
    )))
}

/// Writes one table and gives the number of its rows.
fn dump_table(output: &mut Output, name: &str, table: &ReadTable, as_hex: bool) -> Outcome<u64> {
    let announced = table.rows()?;
    output.json(&dump::table(name, announced, table.schema()))?;
    let key_as_hex = as_hex || !Column::key(table.schema()).is_verbatim();
    let value_as_hex = as_hex || !Column::value(table.schema()).is_verbatim();
    let mut rows = table.range(Bound::Unbounded, Bound::Unbounded)?;
    let mut line = Vec::new();
    let mut count = 0;
    while let Some((key, value)) = rows.next(false)? {
        line.clear();
        jsonl::write(&key, &value, key_as_hex, value_as_hex, &mut line);
        output.write(&line)?;
        count += 1;
    }
    if count != announced {
        return Err(Failure::Work(format!(
            "table {name:?} should have {announced} rows but has {count}; run check"
        )));
    }
    Ok(count)
}
