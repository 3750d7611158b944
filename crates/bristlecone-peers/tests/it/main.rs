//! Integration tests: one binary, a module for each area.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod engines;
mod race;
