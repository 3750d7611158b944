//! `dump`, and `load` of a dump: the identity.

use crate::support::Space;

fn two_tables() -> Space {
    let space = Space::new();
    space
        .run_with_input(
            &["load", "a.db", "-"],
            b"\t\nk\tv\n\\xff\\n\t\\\\\nz\t\"\\x00\n",
        )
        .ok();
    space
        .run(&["put", "a.db", "k", "other", "--table", "a \"table\""])
        .ok();
    space
        .run(&["put", "a.db", "k", "v", "--table", "emptied"])
        .ok();
    space.run(&["del", "a.db", "k", "--table", "emptied"]).ok();
    space
}

#[test]
fn load_of_a_dump_is_the_identity() {
    let space = two_tables();
    let dump = space.run(&["dump", "a.db"]).ok();
    space.write("dump", &dump);
    for batch in ["1", "3", "10000"] {
        let file = format!("{batch}.db");
        space.run(&["load", &file, "dump", "--batch", batch]).ok();
        assert_eq!(space.run(&["dump", &file]).ok(), dump, "batch {batch}");
        assert_eq!(
            space.run(&["tables", &file]).ok(),
            space.run(&["tables", "a.db"]).ok()
        );
    }
    space
        .run_with_input(
            &["load", "pipe.db", "-", "--format", "dump"],
            dump.as_bytes(),
        )
        .ok();
    assert_eq!(space.run(&["dump", "pipe.db"]).ok(), dump);
}

#[test]
fn hex_dump_holds_the_same() {
    let space = two_tables();
    let hex = space.run(&["dump", "a.db", "--hex"]).ok();
    assert!(!hex.contains("\"key\":"), "{hex}");
    space
        .run_with_input(&["load", "b.db", "-"], hex.as_bytes())
        .ok();
    assert_eq!(
        space.run(&["dump", "b.db"]).ok(),
        space.run(&["dump", "a.db"]).ok()
    );
}

#[test]
fn empty_database_has_a_dump() {
    let space = Space::new();
    space.run(&["put", "a.db", "k", "v"]).ok();
    space.run(&["del", "a.db", "k"]).ok();
    let dump = space.run(&["dump", "a.db"]).ok();
    assert_eq!(dump.lines().count(), 3, "{dump}");
    space
        .run_with_input(&["load", "b.db", "-"], dump.as_bytes())
        .ok();
    assert_eq!(space.run(&["dump", "b.db"]).ok(), dump);
}

#[test]
fn tables_can_be_chosen() {
    let space = two_tables();
    let dump = space.run(&["dump", "a.db", "--table", "a \"table\""]).ok();
    space
        .run_with_input(&["load", "b.db", "-"], dump.as_bytes())
        .ok();
    assert_eq!(space.run(&["tables", "b.db"]).ok().lines().count(), 1);
    space
        .run(&["dump", "a.db", "--table", "none"])
        .fails(1, &["none"]);
}

#[test]
fn damaged_dumps_are_refused() {
    let space = two_tables();
    let dump = space.run(&["dump", "a.db"]).ok();
    let lines: Vec<&str> = dump.lines().collect();
    let load = |lines: &[&str]| {
        space.run_with_input(
            &["load", "b.db", "-", "--format", "dump"],
            lines.join("\n").as_bytes(),
        )
    };
    load(&lines[..lines.len() - 1]).fails(4, &["end line is missing"]);
    let mut short = lines.clone();
    let record = short
        .iter()
        .position(|line| line.starts_with("{\"key"))
        .expect("record");
    let removed = short.remove(record);
    load(&short).fails(4, &["announces"]);
    let mut long = lines.clone();
    long.push(removed);
    load(&long).fails(4, &["after its end"]);
    load(&[lines[0], removed]).fails(4, &["line 2", "record before the first table"]);
    load(&[&lines[0].replace("dump\":1", "dump\":2")]).fails(4, &["line 1", "dump version 2"]);
    load(&[
        lines[0],
        "{\"table\":\"t\",\"rows\":0,\"schema_hex\":\"ffffff\"}",
    ])
    .fails(4, &["line 2: schema_hex"]);
    load(&[lines[0], "{\"table\":\"\",\"rows\":0}"]).fails(4, &["line 2", "empty"]);
    load(&["a\tb"]).fails(4, &["line 1: not JSON"]);
}

#[test]
fn dump_and_table_exclude_each_other() {
    let space = two_tables();
    space.write("dump", space.run(&["dump", "a.db"]).ok());
    space
        .run(&["load", "b.db", "dump", "--table", "t"])
        .fails(2, &["--table"]);
}
