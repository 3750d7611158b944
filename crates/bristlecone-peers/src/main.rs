//! `bristlecone-peers`: the command line of the race.

fn main() {}
