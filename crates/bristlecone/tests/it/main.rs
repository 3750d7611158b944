//! Integration tests through the public API.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixtures;
mod model;
mod recovery;
mod stories;
