//! Bristlecone beside other storage engines: the same work, in one run, every value checked.

pub mod data;
pub mod engine;
pub mod record;
