//! `load`: forms of input, round trips with nasty bytes, batches, and input that cannot be read.

use std::collections::BTreeMap;

use crate::support::Space;

/// Any records, with a taste for what breaks text formats.
fn nasty_records(rng: &mut fastrand::Rng, count: usize) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let pieces: [&[u8]; 12] = [
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
        b"\\",
        b"\\t",
        b"\"",
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"{\"key\":",
        "\u{1f332}".as_bytes(),
    ];
    let mut bytes = |most: usize| {
        let mut out = Vec::new();
        for _ in 0..rng.usize(0..=most) {
            match rng.choice(pieces) {
                Some(piece) if rng.bool() => out.extend_from_slice(piece),
                _ => out.push(rng.u8(..)),
            }
        }
        out
    };
    (0..count).map(|_| (bytes(12), bytes(30))).collect()
}

fn load_as_hex(space: &Space, file: &str, records: &BTreeMap<Vec<u8>, Vec<u8>>) -> String {
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let lines: String = records
        .iter()
        .map(|(key, value)| format!("{}\t{}\n", hex(key), hex(value)))
        .collect();
    space
        .run_with_input(&["load", file, "-", "--hex", "--quiet"], lines.as_bytes())
        .ok();
    lines
}

#[test]
fn every_form_of_scan_loads_back() {
    let mut rng = fastrand::Rng::with_seed(20);
    for round in 0..4 {
        let space = Space::new();
        let truth = load_as_hex(&space, "a.db", &nasty_records(&mut rng, 10 + 200 * round));
        assert_eq!(space.run(&["scan", "a.db", "--hex"]).ok(), truth);
        for (name, args) in [
            ("out.tsv", &["--format", "tsv"][..]),
            ("out.jsonl", &["--format", "jsonl"]),
            ("hex.jsonl", &["--format", "jsonl", "--hex"]),
        ] {
            let mut scan = vec!["scan", "a.db"];
            scan.extend(args);
            space.write(name, space.run(&scan).ok_bytes());
            let file = format!("{name}.db");
            space.run(&["load", &file, name]).ok();
            assert_eq!(space.run(&["scan", &file, "--hex"]).ok(), truth, "{name}");
        }
    }
}

#[test]
fn get_is_verbatim() {
    let space = Space::new();
    space
        .run_with_input(&["load", "a.db", "-"], b"k\ta\\tb\\n\\\\\\xff\n")
        .ok();
    assert_eq!(
        space.run(&["get", "a.db", "k"]).ok_bytes(),
        b"a\tb\n\\\xff\n"
    );
}

#[test]
fn summary_names_rate_rows_and_follow_ups() {
    let space = Space::new();
    let lines: String = (0..1000)
        .map(|i| format!("key{i:04}\tvalue{i}\n"))
        .collect();
    space.write("in.tsv", lines);
    let output = space.run(&["load", "a.db", "in.tsv"]).ok();
    assert!(output.starts_with("loaded 1,000 records in "), "{output}");
    assert!(output.contains("records/s"), "{output}");
    assert!(
        output.contains("table default of a.db holds 1,000 rows\n"),
        "{output}"
    );
    assert!(output.contains("get a.db key0511\n"), "{output}");
    let quiet = space.run(&["load", "a.db", "in.tsv", "--quiet"]).ok();
    assert_eq!(quiet, "");
}

/// What the tool proposes must work as printed.
#[cfg(unix)]
#[test]
fn follow_ups_run() {
    let space = Space::new();
    space.write("in.tsv", "it's a key\tv\n");
    let output = space
        .run(&["load", "my file.db", "in.tsv", "--table", "my table"])
        .ok();
    let commands: Vec<&str> = output
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .collect();
    assert!(commands.len() >= 4, "{output}");
    for command in commands {
        let run = std::process::Command::new("sh")
            .arg("-c")
            .arg(command)
            .current_dir(space.root())
            .output()
            .expect("sh");
        assert!(
            run.status.success(),
            "{command}: {}",
            String::from_utf8_lossy(&run.stderr)
        );
        assert!(!run.stdout.is_empty(), "{command} printed nothing");
    }
}

#[test]
fn last_of_equal_keys_wins() {
    for batch in ["1", "2", "3", "10000"] {
        let space = Space::new();
        space.write("in.tsv", "a\t1\nb\t1\na\t2\nb\t2\na\t3\n");
        space
            .run(&["load", "a.db", "in.tsv", "--batch", batch])
            .ok();
        assert_eq!(
            space.run(&["scan", "a.db"]).ok(),
            "a\t3\nb\t2\n",
            "batch {batch}"
        );
    }
}

#[test]
fn second_load_adds_and_replaces() {
    let space = Space::new();
    space
        .run_with_input(&["load", "a.db", "-"], b"a\t1\nb\t1\n")
        .ok();
    space
        .run_with_input(&["load", "a.db", "-"], b"b\t2\nc\t2\n")
        .ok();
    assert_eq!(space.run(&["scan", "a.db"]).ok(), "a\t1\nb\t2\nc\t2\n");
}

#[test]
fn empty_input_makes_an_empty_table() {
    let space = Space::new();
    let output = space.run_with_input(&["load", "a.db", "-"], b"").ok();
    assert!(output.starts_with("loaded 0 records"), "{output}");
    assert_eq!(space.run(&["scan", "a.db", "--count"]).ok(), "0\n");
    assert_eq!(space.run(&["scan", "a.db"]).ok(), "");
}

#[test]
fn line_ends_may_be_windows_or_missing() {
    let space = Space::new();
    space
        .run_with_input(&["load", "a.db", "-"], b"a\t1\r\nb\t2\\r\r\nc\t3")
        .ok();
    assert_eq!(space.run(&["scan", "a.db"]).ok(), "a\t1\nb\t2\\r\nc\t3\n");
    space
        .run_with_input(&["load", "b.db", "-"], b"a\t1\n\n")
        .ok();
    assert_eq!(space.run(&["scan", "b.db"]).ok(), "a\t1\n");
}

#[test]
fn format_follows_the_name_unless_told() {
    let space = Space::new();
    space.write("in.jsonl", "{\"key\":\"a\",\"value\":\"1\"}\n");
    space.write("in.txt", "{\"key\":\"a\",\"value\":\"1\"}\n");
    space.run(&["load", "a.db", "in.jsonl"]).ok();
    space
        .run(&["load", "b.db", "in.txt", "--format", "jsonl"])
        .ok();
    assert_eq!(space.run(&["scan", "a.db"]).ok(), "a\t1\n");
    assert_eq!(space.run(&["scan", "b.db"]).ok(), "a\t1\n");
    space
        .run(&["load", "c.db", "in.txt"])
        .fails(4, &["in.txt: line 1: no TAB"]);
    space
        .run(&["load", "c.db", "in.jsonl", "--hex"])
        .fails(2, &["--hex"]);
}

#[test]
fn bad_line_is_named_and_earlier_batches_stay() {
    let space = Space::new();
    space.write("in.tsv", "a\t1\nb\t2\nc\t3\nbroken\nd\t4\n");
    space
        .run(&["load", "a.db", "in.tsv", "--batch", "2"])
        .fails(
            4,
            &[
                "in.tsv: line 4: no TAB between key and value",
                "(the first 2 records are stored)",
            ],
        );
    assert_eq!(space.run(&["scan", "a.db"]).ok(), "a\t1\nb\t2\n");
    space
        .run(&["load", "b.db", "in.tsv"])
        .fails(4, &["line 4", "(no record was stored)"]);
    for (line, what) in [
        ("a\t\\q\n", "value: unknown escape \\q"),
        ("a\\\tb\n", "key: unknown escape"),
        ("\na\t1\n", "line 1: no TAB"),
    ] {
        space
            .run_with_input(&["load", "b.db", "-"], line.as_bytes())
            .fails(4, &["standard input: line 1: ", what]);
    }
    for (line, what) in [
        ("{}", "neither key nor key_hex"),
        ("{\"key\":", "not JSON"),
        ("\"key\"", "not a JSON object"),
    ] {
        let run =
            space.run_with_input(&["load", "b.db", "-", "--format", "jsonl"], line.as_bytes());
        run.fails(4, &["standard input: line 1: ", what]);
    }
}

#[test]
fn input_that_cannot_be_opened_creates_nothing() {
    let space = Space::new();
    space
        .run(&["load", "a.db", "missing.tsv"])
        .fails(3, &["missing.tsv", "no such file"]);
    space
        .run(&["load", "a.db", "."])
        .fails(3, &["is a directory"]);
    assert!(space.names().is_empty());
}

#[test]
fn records_larger_than_buffers_survive() {
    let space = Space::new();
    let value = "v".repeat(3 << 20);
    let key = "k".repeat(100_000);
    space.write("in.tsv", format!("{key}\t{value}\nsmall\t1\n"));
    space.run(&["load", "a.db", "in.tsv", "--cache", "4M"]).ok();
    assert_eq!(
        space.run(&["scan", "a.db"]).ok(),
        format!("{key}\t{value}\nsmall\t1\n")
    );
}

#[test]
fn unicode_database_loads_whole() {
    let input = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/unicode.tsv");
    let text = std::fs::read_to_string(input).expect("data/unicode.tsv");
    let space = Space::new();
    space.run(&["load", "demo.db", input]).ok();
    assert_eq!(
        space.run(&["scan", "demo.db", "--count"]).ok(),
        format!("{}\n", text.lines().count())
    );
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        space
            .run(&["scan", "demo.db"])
            .ok()
            .lines()
            .collect::<Vec<_>>(),
        lines
    );
    assert!(
        space
            .run(&["get", "demo.db", "1F600"])
            .ok()
            .starts_with("GRINNING FACE;")
    );
    space.run(&["check", "demo.db"]).ok();
}
