//! Tables of other types than bytes: made with the library, read with the tool.

use std::cmp::Ordering;

use bristlecone::{
    Database, Key, ReadableDatabase, ReadableTable, TableDefinition, TableSchema, TypeName, Value,
};

use crate::support::Space;

const AGES: TableDefinition<'_, &str, u64> = TableDefinition::new("ages");
const DEPTHS: TableDefinition<'_, i32, &str> = TableDefinition::new("depths");
const PLACES: TableDefinition<'_, (&str, u32), Option<(u8, bool)>> = TableDefinition::new("places");
const ROUTES: TableDefinition<'_, (u16, &str), Vec<i64>> = TableDefinition::new("routes");
const BACKWARDS: TableDefinition<'_, Backwards, &[u8]> = TableDefinition::new("backwards");

/// A key that only this program can order.
#[derive(Debug)]
struct Backwards;

impl Value for Backwards {
    type SelfType<'a> = &'a [u8];
    type AsBytes<'a> = &'a [u8];

    fn fixed_width() -> Option<usize> {
        None
    }

    fn from_bytes<'a>(data: &'a [u8]) -> &'a [u8]
    where
        Self: 'a,
    {
        data
    }

    fn as_bytes<'a, 'b: 'a>(value: &'a &'b [u8]) -> &'a [u8]
    where
        Self: 'b,
    {
        value
    }

    fn type_name() -> TypeName {
        TypeName::new("test::Backwards")
    }
}

impl Key for Backwards {
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        right.cmp(left)
    }
}

/// A file with a table of each kind, but none of a foreign order.
fn typed() -> Space {
    let space = Space::new();
    let db = Database::create(space.path("a.db")).expect("create");
    let txn = db.begin_write().expect("begin");
    {
        let mut ages = txn.open_table(AGES).expect("ages");
        ages.insert("Methuselah", &4857).expect("insert");
        ages.insert("a\tb", &1).expect("insert");
        let mut depths = txn.open_table(DEPTHS).expect("depths");
        for depth in [-5, 3, -200, 0, 40] {
            depths
                .insert(&depth, depth.to_string().as_str())
                .expect("insert");
        }
        let mut places = txn.open_table(PLACES).expect("places");
        // Ordered by length of nothing: "b" comes before "ba" whatever number follows.
        for place in [("ba", 1), ("b", u32::MAX), ("b", 0), ("", 9)] {
            places.insert(&place, &Some((7, true))).expect("insert");
        }
        places.insert(&("none", 0), &None).expect("insert");
        let mut routes = txn.open_table(ROUTES).expect("routes");
        routes
            .insert(&(300, "north"), &vec![1, -2])
            .expect("insert");
        routes.insert(&(2, "south"), &vec![]).expect("insert");
    }
    txn.commit().expect("commit");
    drop(db);
    space
}

#[test]
fn types_are_listed() {
    let space = typed();
    assert_eq!(
        space.run(&["tables", "a.db"]).ok(),
        "ages\t2\t&str\tu64\ndepths\t5\ti32\t&str\nplaces\t5\t(&str,u32)\tOption<(u8,bool)>\nroutes\t2\t(u16,&str)\tVec<i64>\n"
    );
}

#[test]
fn rows_are_shown_by_their_types_in_their_order() {
    let space = typed();
    let scan = |table: &str| space.run(&["scan", "a.db", "--table", table]).ok();
    assert_eq!(scan("ages"), "Methuselah\t4857\na\\tb\t1\n");
    assert_eq!(scan("depths"), "-200\t-200\n-5\t-5\n0\t0\n3\t3\n40\t40\n");
    let keys: Vec<String> = scan("places")
        .lines()
        .map(|line| line.split('\t').next().expect("key").to_owned())
        .collect();
    assert_eq!(
        keys,
        [
            r#"("", 9)"#,
            r#"("b", 0)"#,
            r#"("b", 4294967295)"#,
            r#"("ba", 1)"#,
            r#"("none", 0)"#
        ]
    );
    assert_eq!(
        scan("routes"),
        "(2, \"south\")\t[]\n(300, \"north\")\t[1, -2]\n"
    );
    let json = space
        .run(&[
            "scan", "a.db", "--table", "depths", "--format", "jsonl", "--limit", "1",
        ])
        .ok();
    assert_eq!(json, "{\"key\":\"-200\",\"value\":\"-200\"}\n");
}

#[test]
fn keys_are_parsed_by_their_types() {
    let space = typed();
    assert_eq!(
        space
            .run(&["get", "a.db", "Methuselah", "--table", "ages"])
            .ok(),
        "4857\n"
    );
    assert_eq!(
        space
            .run(&["get", "a.db", "--table", "depths", "--", "-5"])
            .ok(),
        "-5\n"
    );
    space
        .run(&["get", "a.db", "41", "--table", "depths"])
        .fails(1, &["key not found in table depths: 41"]);
    space
        .run(&["get", "a.db", "2147483648", "--table", "depths"])
        .fails(2, &["2147483648 is not a key of type i32"]);
    space
        .run(&["get", "a.db", "x", "--table", "depths"])
        .fails(2, &["x is not a key of type i32"]);
    space
        .run(&["get", "a.db", "(b, 0)", "--table", "places"])
        .fails(2, &["(&str,u32)", "--hex"]);
    let range = [
        "scan",
        "a.db",
        "--table",
        "depths",
        "--from=-5",
        "--to",
        "40",
    ];
    assert_eq!(space.run(&range).ok(), "-5\t-5\n0\t0\n3\t3\n");
    space
        .run(&["scan", "a.db", "--table", "depths", "--prefix", "1"])
        .fails(2, &["--prefix"]);
    assert_eq!(
        space
            .run(&["scan", "a.db", "--table", "ages", "--prefix", "Meth"])
            .ok(),
        "Methuselah\t4857\n"
    );
}

#[test]
fn hex_shows_and_takes_the_stored_form() {
    let space = typed();
    let lines = space
        .run(&["scan", "a.db", "--hex", "--table", "places"])
        .ok();
    let keys: Vec<&str> = lines
        .lines()
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert_eq!(keys.len(), 5);
    for (at, key) in keys.iter().enumerate() {
        space
            .run(&["get", "a.db", key, "--hex", "--table", "places"])
            .ok();
        let from = space
            .run(&[
                "scan", "a.db", "--hex", "--table", "places", "--count", "--from", key,
            ])
            .ok();
        assert_eq!(from, format!("{}\n", 5 - at));
        let to = space
            .run(&[
                "scan", "a.db", "--hex", "--table", "places", "--count", "--to", key,
            ])
            .ok();
        assert_eq!(to, format!("{at}\n"));
    }
    let crossed = [
        "scan", "a.db", "--hex", "--table", "places", "--from", keys[3], "--to", keys[1],
    ];
    assert_eq!(space.run(&crossed).ok(), "");
    space
        .run(&[
            "scan", "a.db", "--hex", "--table", "places", "--prefix", "00",
        ])
        .fails(2, &["--prefix"]);
    assert_eq!(
        space
            .run(&["get", "a.db", "7ffffffb", "--hex", "--table", "depths"])
            .ok(),
        "2d35\n"
    );
}

#[test]
fn only_tables_of_bytes_are_written() {
    let space = typed();
    space.write("in.tsv", "k\tv\n");
    let before = space.read("a.db");
    for table in ["ages", "depths", "places"] {
        let named = ["a.db", table];
        space
            .run(&["put", "a.db", "k", "v", "--table", table])
            .fails(2, &named);
        space
            .run(&["del", "a.db", "k", "--table", table])
            .fails(2, &named);
        space
            .run(&["load", "a.db", "in.tsv", "--table", table])
            .fails(2, &named);
    }
    assert_eq!(
        space
            .run(&["scan", "a.db", "--table", "ages", "--count"])
            .ok(),
        "2\n"
    );
    assert_eq!(space.run(&["tables", "a.db"]).ok().lines().count(), 4);
    assert_eq!(space.read("a.db").len(), before.len());
}

#[test]
fn load_of_a_typed_dump_is_the_identity() {
    let space = typed();
    let dump = space.run(&["dump", "a.db"]).ok();
    assert!(
        dump.contains("\"key\":\"Methuselah\""),
        "text keys are shown as text: {dump}"
    );
    space
        .run_with_input(&["load", "b.db", "-", "--batch", "3"], dump.as_bytes())
        .ok();
    assert_eq!(space.run(&["dump", "b.db"]).ok(), dump);
    space.run(&["check", "b.db"]).ok();

    let db = Database::open(space.path("b.db")).expect("open");
    let snapshot = db.begin_read().expect("begin");
    let depths = snapshot.open_table(DEPTHS).expect("depths");
    let keys: Vec<i32> = depths
        .iter()
        .expect("iter")
        .map(|row| row.expect("row").0.value())
        .collect();
    assert_eq!(keys, [-200, -5, 0, 3, 40]);
    let routes = snapshot.open_table(ROUTES).expect("routes");
    assert_eq!(
        routes
            .get(&(300, "north"))
            .expect("get")
            .expect("row")
            .value(),
        [1, -2]
    );
    let places = snapshot.open_table(PLACES).expect("places");
    assert_eq!(
        places.get(&("none", 0)).expect("get").expect("row").value(),
        None
    );
}

#[test]
fn dump_into_a_table_of_other_types_is_refused() {
    let space = typed();
    let dump = space.run(&["dump", "a.db", "--table", "ages"]).ok();
    space
        .run(&["put", "b.db", "k", "v", "--table", "ages"])
        .ok();
    space
        .run_with_input(&["load", "b.db", "-"], dump.as_bytes())
        .fails(2, &["b.db", "ages"]);
    assert_eq!(
        space.run(&["scan", "b.db", "--table", "ages"]).ok(),
        "k\tv\n"
    );
}

#[test]
fn illegal_encodings_in_a_dump_are_refused() {
    let space = typed();
    let dump = space.run(&["dump", "a.db", "--table", "depths"]).ok();
    let short = dump.replacen("\"key_hex\":\"7f", "\"key_hex\":\"", 1);
    assert_ne!(short, dump);
    space
        .run_with_input(&["load", "b.db", "-"], short.as_bytes())
        .fails(4, &["line 3: key is not a stored i32"]);
    let bad = dump.replacen("\"value\":\"-200\"", "\"value_hex\":\"ff\"", 1);
    assert_ne!(bad, dump);
    space
        .run_with_input(&["load", "b.db", "-"], bad.as_bytes())
        .fails(4, &["line 3: value is not a stored &str"]);
}

/// Such a table can be looked at, but a dump of it could not be loaded: nothing but its program can order its keys.
#[test]
fn foreign_order_is_shown_and_not_dumped() {
    let space = Space::new();
    let db = Database::create(space.path("a.db")).expect("create");
    let txn = db.begin_write().expect("begin");
    {
        let mut table = txn.open_table(BACKWARDS).expect("open");
        for key in [&b"a"[..], b"b", b"c"] {
            table.insert(key, b"v".as_slice()).expect("insert");
        }
        txn.open_table(AGES)
            .expect("open")
            .insert("x", &1)
            .expect("insert");
    }
    txn.commit().expect("commit");
    drop(db);
    assert_eq!(
        space.run(&["scan", "a.db", "--table", "backwards"]).ok(),
        "0x63\tv\n0x62\tv\n0x61\tv\n"
    );
    assert_eq!(
        space
            .run(&[
                "scan",
                "a.db",
                "--table",
                "backwards",
                "--reverse",
                "--count"
            ])
            .ok(),
        "3\n"
    );
    for args in [
        &["get", "a.db", "61", "--hex", "--table", "backwards"][..],
        &[
            "scan",
            "a.db",
            "--from",
            "61",
            "--hex",
            "--table",
            "backwards",
        ],
    ] {
        space
            .run(args)
            .fails(2, &["test::Backwards", "own program"]);
    }
    space.run(&["check", "a.db"]).ok();
    space
        .run(&["dump", "a.db"])
        .fails(4, &["backwards", "test::Backwards", "--table"]);
    let dump = space.run(&["dump", "a.db", "--table", "ages"]).ok();
    space
        .run_with_input(&["load", "b.db", "-"], dump.as_bytes())
        .ok();

    let mut schema = Vec::new();
    TableSchema::of::<Backwards, &[u8]>().encode(&mut schema);
    let hex: String = schema.iter().map(|byte| format!("{byte:02x}")).collect();
    let header = format!("{{\"table\":\"t\",\"rows\":0,\"schema_hex\":\"{hex}\"}}");
    let start = dump.lines().next().expect("start");
    let input = format!("{start}\n{header}\n");
    space
        .run_with_input(&["load", "b.db", "-"], input.as_bytes())
        .fails(4, &["line 2", "test::Backwards"]);
}
