//! `scan`: bounds, prefixes, direction, limits and forms of output.

use crate::support::Space;

fn letters() -> Space {
    let space = Space::new();
    space.write("in.tsv", "d\t4\na\t1\nc\t3\nb\t2\ne\t5\n");
    space.run(&["load", "a.db", "in.tsv"]).ok();
    space
}

/// The keys that a scan with `args` prints, without separators.
fn keys(space: &Space, args: &[&str]) -> String {
    let mut all = vec!["scan", "a.db"];
    all.extend(args);
    let lines = space.run(&all).ok();
    lines
        .lines()
        .filter_map(|line| line.split('\t').next())
        .collect()
}

#[test]
fn records_come_in_key_order() {
    let space = letters();
    assert_eq!(
        space.run(&["scan", "a.db"]).ok(),
        "a\t1\nb\t2\nc\t3\nd\t4\ne\t5\n"
    );
    assert_eq!(
        space.run(&["scan", "a.db", "--reverse"]).ok(),
        "e\t5\nd\t4\nc\t3\nb\t2\na\t1\n"
    );
}

#[test]
fn from_is_inclusive_and_to_exclusive() {
    let space = letters();
    assert_eq!(keys(&space, &["--from", "b", "--to", "d"]), "bc");
    assert_eq!(
        keys(&space, &["--from", "b", "--to", "d", "--reverse"]),
        "cb"
    );
    assert_eq!(keys(&space, &["--from", "aa"]), "bcde");
    assert_eq!(keys(&space, &["--to", ""]), "");
    assert_eq!(keys(&space, &["--from", ""]), "abcde");
    assert_eq!(keys(&space, &["--from", "c", "--to", "c"]), "");
    assert_eq!(keys(&space, &["--from", "d", "--to", "b"]), "");
}

#[test]
fn limit_and_count_agree() {
    let space = letters();
    assert_eq!(keys(&space, &["--limit", "2"]), "ab");
    assert_eq!(keys(&space, &["--limit", "2", "--reverse"]), "ed");
    assert_eq!(keys(&space, &["--limit", "0"]), "");
    assert_eq!(space.run(&["scan", "a.db", "--count"]).ok(), "5\n");
    assert_eq!(
        space
            .run(&["scan", "a.db", "--count", "--from", "b", "--to", "d"])
            .ok(),
        "2\n"
    );
    assert_eq!(
        space.run(&["scan", "a.db", "--count", "--limit", "3"]).ok(),
        "3\n"
    );
    assert_eq!(
        space.run(&["scan", "a.db", "--count", "--from", "x"]).ok(),
        "0\n"
    );
    assert_eq!(
        space
            .run(&["scan", "a.db", "--count", "--from", "d", "--to", "b"])
            .ok(),
        "0\n"
    );
}

/// A prefix that ends in FF has no successor of its own length: its end is that of the shorter prefix.
#[test]
fn prefix_of_ff_bytes_is_exact() {
    let space = Space::new();
    let keys = [
        "61", "61fe", "61ff", "61ff00", "61ffff", "61ffff01", "62", "fe", "ff", "ffff", "ffff00",
    ];
    let lines: String = keys.iter().map(|key| format!("{key}\t00\n")).collect();
    space
        .run_with_input(&["load", "a.db", "-", "--hex"], lines.as_bytes())
        .ok();
    for prefix in [
        "", "61", "61ff", "61ffff", "62", "63", "ff", "ffff", "ffffff",
    ] {
        let expected: Vec<&str> = keys
            .iter()
            .copied()
            .filter(|key| key.starts_with(prefix))
            .collect();
        for reverse in [false, true] {
            let mut args = vec!["scan", "a.db", "--hex", "--prefix", prefix];
            args.extend(reverse.then_some("--reverse"));
            let output = space.run(&args).ok();
            let mut got: Vec<&str> = output
                .lines()
                .filter_map(|line| line.split('\t').next())
                .collect();
            if reverse {
                got.reverse();
            }
            assert_eq!(got, expected, "prefix {prefix}");
        }
    }
}

#[test]
fn prefix_and_bounds_meet() {
    let space = Space::new();
    space
        .run_with_input(&["load", "a.db", "-"], b"a\t\nb1\t\nb2\t\nb3\t\nc\t\n")
        .ok();
    assert_eq!(keys(&space, &["--prefix", "b"]), "b1b2b3");
    assert_eq!(keys(&space, &["--prefix", "b", "--from", "b2"]), "b2b3");
    assert_eq!(keys(&space, &["--prefix", "b", "--to", "b2"]), "b1");
    assert_eq!(
        keys(&space, &["--prefix", "b", "--from", "a", "--to", "z"]),
        "b1b2b3"
    );
    assert_eq!(keys(&space, &["--prefix", "b", "--from", "c"]), "");
}

#[test]
fn json_lines_show_text_as_text() {
    let space = Space::new();
    space
        .run_with_input(&["load", "a.db", "-"], b"k\tv\n\\xff\t\"\\\\\\n\n")
        .ok();
    let expected =
        "{\"key\":\"k\",\"value\":\"v\"}\n{\"key_hex\":\"ff\",\"value\":\"\\\"\\\\\\n\"}\n";
    assert_eq!(
        space.run(&["scan", "a.db", "--format", "jsonl"]).ok(),
        expected
    );
    let expected = "{\"key_hex\":\"6b\",\"value_hex\":\"76\"}\n";
    assert_eq!(
        space
            .run(&["scan", "a.db", "--format", "jsonl", "--hex", "--limit", "1"])
            .ok(),
        expected
    );
}

#[test]
fn missing_table_is_not_found() {
    let space = letters();
    space
        .run(&["scan", "a.db", "--table", "x"])
        .fails(1, &["x", "a.db"]);
    space
        .run(&["scan", "a.db", "--count", "--table", "x"])
        .fails(1, &["x", "a.db"]);
}
