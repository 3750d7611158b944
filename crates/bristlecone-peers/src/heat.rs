//! A heat: one course, run once by one engine in a process of its own.
//!
//! The race hands it to the worker as JSON on the command line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::course::Variant;

/// What one worker does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heat {
    /// Name of the engine.
    pub engine: String,
    /// Name of the course.
    pub course: String,
    /// In which variant.
    pub variant: Variant,
    /// Round, from 0.
    pub round: u32,
    /// Entries of the bulk load of `phases`; every other count follows from it.
    pub n: u64,
    /// Cache of the engine, in bytes.
    pub cache_bytes: u64,
    /// Empty folder for the database.
    pub dir: PathBuf,
    /// Rows asked for; all if empty.
    pub only: Vec<String>,
}

impl Heat {
    /// The course's name in the record: with its variant, if it is not the plain one.
    pub fn course_name(&self) -> String {
        self.variant.of(&self.course)
    }
}
