//! Integration tests through the public API.

mod model;
