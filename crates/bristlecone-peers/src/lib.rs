//! Bristlecone beside other storage engines: the same work, in one run, every value checked.

pub mod course;
pub mod data;
pub mod engine;
pub mod heat;
pub mod machine;
pub mod meter;
pub mod process;
pub mod race;
pub mod record;
pub mod report;
pub mod selection;
pub mod worker;
