//! `tables`: what a file holds.

use serde_json::json;

use crate::args::ReportArgs;
use crate::escape;
use crate::failure::Outcome;
use crate::output::Output;
use crate::store::{self, Reader};

/// Lists the tables by name, one per line.
pub(crate) fn run(args: &ReportArgs, cache: Option<usize>) -> Outcome {
    let reader = Reader::open(&args.file, cache)?;
    let mut output = Output::new();
    for name in reader.table_names()? {
        let table = reader.table(&name)?;
        let (rows, schema) = (table.rows()?, table.schema());
        let (key, value) = (store::key_type(schema), store::value_type(schema));
        if args.json {
            output.json(
                &json!({ "table": name, "rows": rows, "key_type": key, "value_type": value }),
            )?;
        } else {
            let [name, key, value] =
                [&name, &key, &value].map(|text| escape::escape(text.as_bytes()));
            output.line(&format!("{name}\t{rows}\t{key}\t{value}"))?;
        }
    }
    output.finish()
}
