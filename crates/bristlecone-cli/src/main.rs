//! Command-line tool.
fn main() {}
