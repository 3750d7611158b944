//! `tables`, `stats` and `check`, for people and for programs.

use serde_json::Value;

use crate::support::Space;

fn loaded() -> Space {
    let space = Space::new();
    let lines: String = (0..3000).map(|i| format!("{i:06}\tvalue {i}\n")).collect();
    space.write("in.tsv", lines);
    space.run(&["load", "a.db", "in.tsv"]).ok();
    space
        .run(&["put", "a.db", "k", "v", "--table", "second\ttable"])
        .ok();
    space
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn tables_are_listed_in_order() {
    let space = loaded();
    assert_eq!(
        space.run(&["tables", "a.db"]).ok(),
        "default\t3000\t&[u8]\t&[u8]\nsecond\\ttable\t1\t&[u8]\t&[u8]\n"
    );
    let output = space.run(&["tables", "a.db", "--json"]).ok();
    let tables: Vec<Value> = output.lines().map(json).collect();
    assert_eq!(tables[0]["table"], "default");
    assert_eq!(tables[0]["rows"], 3000);
    assert_eq!(tables[1]["table"], "second\ttable");
}

#[test]
fn stats_add_up() {
    let space = loaded();
    let stats = json(&space.run(&["stats", "a.db", "--json"]).ok());
    assert_eq!(stats["file_bytes"], space.read("a.db").len());
    assert_eq!(stats["rows"], 3001);
    let tables = stats["tables"].as_array().expect("tables");
    assert_eq!(tables.len(), 2);
    assert_eq!(tables[0]["rows"], 3000);
    assert!(tables[0]["leaf_pages"].as_u64() > Some(1));
    let payload: u64 = (0..3000)
        .map(|i| 6 + format!("value {i}").len() as u64)
        .sum();
    assert_eq!(tables[0]["stored_bytes"], payload);
    assert!(stats["allocated_pages"].as_u64() <= stats["file_pages"].as_u64());
    let text = space.run(&["stats", "a.db"]).ok();
    assert!(text.contains("rows               3,001\n"), "{text}");
    assert!(text.contains("\ntable default: 3,000 rows"), "{text}");
}

#[test]
fn check_of_a_sound_file_is_clean() {
    let space = loaded();
    let text = space.run(&["check", "a.db"]).ok();
    assert!(
        text.starts_with("a.db: no damage found; 2 tables, 3,001 rows, "),
        "{text}"
    );
    let report = json(&space.run(&["check", "a.db", "--json"]).ok());
    assert_eq!(report["clean"], true);
    assert_eq!(report["rows"], 3001);
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(0));
}

/// Damage in the middle of the file: `check` tells all of it, with code 1, in both forms, and the rest stays readable.
#[test]
fn check_reports_all_findings() {
    let space = loaded();
    let mut bytes = space.read("a.db");
    // One leaf page after another: the keys lie in them as plain text.
    let places: Vec<usize> = bytes
        .windows(11)
        .enumerate()
        .filter(|(_, window)| window.starts_with(b"value "))
        .map(|(at, _)| at)
        .collect();
    let (first, last) = (places[0], places[places.len() - 1]);
    bytes[first] ^= 0x40;
    bytes[last] ^= 0x40;
    space.write("a.db", &bytes);
    let output = space
        .run(&["check", "a.db"])
        .fails_after_output(1, &["a.db is damaged: "]);
    let lines = String::from_utf8_lossy(&output).lines().count();
    assert!(
        lines >= 3,
        "two findings and the totals: {}",
        String::from_utf8_lossy(&output)
    );
    let output = space
        .run(&["check", "a.db", "--json"])
        .fails_after_output(1, &["a.db is damaged: "]);
    let report = json(&String::from_utf8_lossy(&output));
    assert_eq!(report["clean"], false);
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), lines - 1);
    assert!(findings.iter().all(|finding| finding["what"].is_string()));
    assert!(findings.iter().any(|finding| finding["page"].is_u64()));
    space
        .run(&["scan", "a.db"])
        .fails_after_output(4, &["a.db"]);
    assert_eq!(
        space
            .run(&["get", "a.db", "k", "--table", "second\ttable"])
            .ok(),
        "v\n"
    );
    assert_eq!(space.read("a.db"), bytes, "check changed the file");
}
