//! `put`, `get` and `del`.

use crate::support::Space;

#[test]
fn put_creates_and_get_gives_back() {
    let space = Space::new();
    assert_eq!(space.run(&["put", "a.db", "key", "value"]).ok(), "");
    assert_eq!(space.run(&["get", "a.db", "key"]).ok(), "value\n");
    assert_eq!(space.names(), ["a.db"]);
}

#[test]
fn put_replaces() {
    let space = Space::new();
    space.run(&["put", "a.db", "key", "old"]).ok();
    space.run(&["put", "a.db", "key", "new"]).ok();
    assert_eq!(space.run(&["get", "a.db", "key"]).ok(), "new\n");
    assert_eq!(space.run(&["scan", "a.db", "--count"]).ok(), "1\n");
}

#[test]
fn empty_keys_and_values_are_records() {
    let space = Space::new();
    space.run(&["put", "a.db", "", "of the empty key"]).ok();
    space.run(&["put", "a.db", "of the empty value", ""]).ok();
    assert_eq!(space.run(&["get", "a.db", ""]).ok(), "of the empty key\n");
    assert_eq!(space.run(&["get", "a.db", "of the empty value"]).ok(), "\n");
    assert_eq!(space.run(&["scan", "a.db", "--count"]).ok(), "2\n");
    space.run(&["del", "a.db", ""]).ok();
    space.run(&["get", "a.db", ""]).fails(1, &["key not found"]);
}

#[test]
fn del_removes_only_its_key() {
    let space = Space::new();
    space.run(&["put", "a.db", "one", "1"]).ok();
    space.run(&["put", "a.db", "two", "2"]).ok();
    assert_eq!(space.run(&["del", "a.db", "one"]).ok(), "");
    space
        .run(&["get", "a.db", "one"])
        .fails(1, &["key not found in table default: one"]);
    assert_eq!(space.run(&["get", "a.db", "two"]).ok(), "2\n");
    space
        .run(&["del", "a.db", "one"])
        .fails(1, &["key not found in table default: one"]);
}

#[test]
fn tables_are_apart() {
    let space = Space::new();
    space.run(&["put", "a.db", "key", "here"]).ok();
    space
        .run(&["put", "a.db", "key", "there", "--table", "other"])
        .ok();
    assert_eq!(space.run(&["get", "a.db", "key"]).ok(), "here\n");
    assert_eq!(
        space.run(&["get", "a.db", "key", "--table", "other"]).ok(),
        "there\n"
    );
    space
        .run(&["get", "a.db", "key", "--table", "third"])
        .fails(1, &["third", "a.db"]);
    space
        .run(&["del", "a.db", "key", "--table", "third"])
        .fails(1, &["third", "a.db"]);
    assert_eq!(
        space.run(&["tables", "a.db"]).ok().lines().count(),
        2,
        "del created a table"
    );
}

#[test]
fn hex_reaches_every_byte() {
    let space = Space::new();
    space
        .run(&["put", "a.db", "00ff0a", "0xFFfe00", "--hex"])
        .ok();
    assert_eq!(
        space.run(&["get", "a.db", "00FF0A", "--hex"]).ok(),
        "fffe00\n"
    );
    assert_eq!(
        space.run(&["scan", "a.db", "--hex"]).ok(),
        "00ff0a\tfffe00\n"
    );
    assert_eq!(
        space.run(&["scan", "a.db"]).ok(),
        "\\x00\\xff\\n\t\\xff\\xfe\\x00\n"
    );
    space.run(&["get", "a.db", "0g", "--hex"]).fails(2, &["0g"]);
    space
        .run(&["put", "b.db", "0", "00", "--hex"])
        .fails(2, &["odd number"]);
    assert_eq!(space.names(), ["a.db"], "a bad argument created a file");
}

#[test]
fn arguments_are_taken_literally() {
    let space = Space::new();
    space.run(&["put", "a.db", r"a\tb", r"\n"]).ok();
    assert_eq!(space.run(&["get", "a.db", r"a\tb"]).ok(), "\\n\n");
    space.run(&["put", "a.db", "--", "-key", "-value"]).ok();
    assert_eq!(space.run(&["get", "a.db", "--", "-key"]).ok(), "-value\n");
}

#[cfg(unix)]
#[test]
fn arguments_need_not_be_utf8() {
    use crate::support::Run;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let space = Space::new();
    let raw = OsStr::from_bytes(b"\xff\xfe");
    let run = |args: &[&OsStr]| {
        let mut command = space.command(&[]);
        Run::of(command.args(args).output().expect("run"), &["raw bytes"])
    };
    run(&["put".as_ref(), "a.db".as_ref(), raw, raw]).ok_bytes();
    assert_eq!(
        run(&["get".as_ref(), "a.db".as_ref(), raw]).ok_bytes(),
        b"\xff\xfe\n"
    );
    run(&["put".as_ref(), raw, raw, raw]).ok_bytes();
    assert_eq!(run(&["get".as_ref(), raw, raw]).ok_bytes(), b"\xff\xfe\n");
}
