//! Integration tests through the public API.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod api;
mod bad_input;
mod corpus;
mod corruption;
mod cost;
mod crafted;
mod fixtures;
mod large;
mod model;
mod recovery;
mod regress;
mod snapshots;
mod stories;
mod support;
