//! The dump: all tables of a file as JSON lines, safe for any byte and independent of the file format.
//!
//! ```text
//! {"bristlecone_dump":1,"file_format":"0.1"}
//! {"table":"default","rows":2,"key_type":"&[u8]","value_type":"&[u8]","schema_hex":".."}
//! {"key":"a","value":"1"}
//! {"key_hex":"ff","value":"2"}
//! {"end":true,"tables":1,"rows":2}
//! ```
//!
//! Keys and values are in stored form: as text where the type is text and the bytes are UTF-8, else in hexadecimal.
//!
//! # Invariants
//! 1. Loading a dump into a new file and dumping that file gives the same dump.
//! 2. Row counts stand before each table and at the end; a dump that was cut off or edited does not load silently.
//! 3. What enters a typed table is a legal encoding of its types.

use serde_json::{Map, Value, json};

use crate::column::Column;
use crate::hex;
use crate::jsonl;
use crate::store::{self, TableSchema};

const DUMP_VERSION: u64 = 1;

/// Whether `line` begins a dump.
pub(crate) fn is_start(line: &[u8]) -> bool {
    line.starts_with(b"{\"bristlecone_dump\"")
}

/// The first line.
pub(crate) fn start() -> Value {
    json!({ "bristlecone_dump": DUMP_VERSION, "file_format": store::FILE_FORMAT })
}

/// The line before a table's records.
pub(crate) fn table(name: &str, rows: u64, schema: &TableSchema) -> Value {
    json!({
        "table": name,
        "rows": rows,
        "key_type": store::key_type(schema),
        "value_type": store::value_type(schema),
        "schema_hex": hex::encode(&store::encode(schema)),
    })
}

/// The last line.
pub(crate) fn end(tables: u64, rows: u64) -> Value {
    json!({ "end": true, "tables": tables, "rows": rows })
}

/// A table whose records follow.
#[derive(Clone, Debug)]
pub(crate) struct TableHeader {
    /// Name of the table.
    pub(crate) name: String,
    /// Its types.
    pub(crate) schema: TableSchema,
    key: Column,
    value: Column,
    rows: u64,
}

/// What one line of a dump means for the load.
#[derive(Debug)]
pub(crate) enum DumpItem {
    /// A table begins.
    Table(Box<TableHeader>),
    /// A record of that table.
    Record(Vec<u8>, Vec<u8>),
    /// The dump is complete.
    End,
}

/// Where in a dump the reader is.
#[derive(Debug, Default)]
pub(crate) struct DumpReader {
    started: bool,
    ended: bool,
    current: Option<Box<TableHeader>>,
    rows_of_table: u64,
    tables: u64,
    rows: u64,
}

impl DumpReader {
    /// Reads the next line; the start line means nothing to the load.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Option<DumpItem>, String> {
        let object = jsonl::object(line)?;
        if self.ended {
            return Err("the dump goes on after its end".to_owned());
        }
        if !self.started {
            self.started = true;
            return read_start(&object).map(|()| None);
        }
        if object.contains_key("table") {
            self.finish_table()?;
            return self.begin_table(&object).map(Some);
        }
        if object.contains_key("end") {
            self.finish_table()?;
            return self.finish(&object).map(Some);
        }
        self.record(object).map(Some)
    }

    /// Called where the input ends.
    ///
    /// # Errors
    /// The dump was cut off.
    pub(crate) fn at_end(&self) -> Result<(), String> {
        if self.ended {
            Ok(())
        } else {
            Err("the dump is incomplete: its end line is missing".to_owned())
        }
    }

    fn begin_table(&mut self, object: &Map<String, Value>) -> Result<DumpItem, String> {
        let header = Box::new(read_table(object)?);
        self.tables += 1;
        self.rows_of_table = 0;
        self.current = Some(header.clone());
        Ok(DumpItem::Table(header))
    }

    fn finish_table(&mut self) -> Result<(), String> {
        match self.current.take() {
            Some(table) if table.rows != self.rows_of_table => Err(format!(
                "table {:?} announces {} rows but has {}",
                table.name, table.rows, self.rows_of_table
            )),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, object: &Map<String, Value>) -> Result<DumpItem, String> {
        let told = (number(object, "tables")?, number(object, "rows")?);
        if told != (self.tables, self.rows) {
            return Err(format!(
                "the end line announces {} tables and {} rows but there are {} and {}",
                told.0, told.1, self.tables, self.rows
            ));
        }
        self.ended = true;
        Ok(DumpItem::End)
    }

    fn record(&mut self, object: Map<String, Value>) -> Result<DumpItem, String> {
        let table = self
            .current
            .as_ref()
            .ok_or("record before the first table")?;
        let (key, value) = jsonl::take_pair(object)?;
        if !table.key.accepts(&key) {
            return Err(format!(
                "key is not a stored {}",
                store::key_type(&table.schema)
            ));
        }
        if !table.value.accepts(&value) {
            return Err(format!(
                "value is not a stored {}",
                store::value_type(&table.schema)
            ));
        }
        self.rows_of_table += 1;
        self.rows += 1;
        Ok(DumpItem::Record(key, value))
    }
}

fn read_start(object: &Map<String, Value>) -> Result<(), String> {
    match number(object, "bristlecone_dump")? {
        DUMP_VERSION => Ok(()),
        other => Err(format!(
            "dump version {other} is not supported (this is version {DUMP_VERSION})"
        )),
    }
}

fn read_table(object: &Map<String, Value>) -> Result<TableHeader, String> {
    let name = text(object, "table")?.to_owned();
    if name.is_empty() {
        return Err("a table's name cannot be empty".to_owned());
    }
    let bytes = hex::decode(text(object, "schema_hex")?.as_bytes())
        .map_err(|what| format!("schema_hex: {what}"))?;
    let schema = store::decode(&bytes).map_err(|what| format!("schema_hex: {what}"))?;
    if !store::is_loadable(&schema) {
        return Err(format!(
            "table {name:?} is ordered by a comparison of its program's own ({}), which only that program can load",
            store::key_type(&schema)
        ));
    }
    let rows = number(object, "rows")?;
    Ok(TableHeader {
        name,
        key: Column::key(&schema),
        value: Column::value(&schema),
        schema,
        rows,
    })
}

fn number(object: &Map<String, Value>, name: &str) -> Result<u64, String> {
    object
        .get(name)
        .and_then(Value::as_u64)
        .ok_or_else(|| format!("{name} is missing or not a whole number"))
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    object
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| format!("{name} is missing or not a string"))
}
