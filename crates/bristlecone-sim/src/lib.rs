//! Simulated disk, operation language and crash oracle for the Bristlecone storage engine.
//!
//! Everything here is decided by a seed: the same seed gives the same program, the same faults and the same disk
//! images, so that a finding is replayed by its number.
//!
//! ```text
//!  seeds.rs       what one seed stands for, and how a finding is made small
//!  campaign.rs    a program in fair weather, crashes, faults, rot
//!    |- program.rs    the operation language and its generator      (content.rs: keys and values)
//!    |- runner.rs     a program on engine and model side by side    (model.rs, store.rs, verdict.rs)
//!    |- hazard.rs     what goes wrong in a run with a fault
//!    |- oracle.rs     what is demanded of a crashed disk
//!    `- summary.rs    what was exercised                            (finding.rs: what was found)
//!  disk.rs        SimDisk: the handle that tests hold
//!    |- state.rs      one file: what is written kept apart from what is durable
//!    |- pending.rs    operations that no barrier has covered yet
//!    |- image.rs      what a power cut may leave
//!    |- faults.rs     planned errors and lies
//!    |- counters.rs   numbers and a log of operations, for assertions
//!    `- backend.rs    SimBackend: the engine's door to the disk
//! ```
#![deny(unsafe_code)]

mod backend;
mod campaign;
mod content;
mod counters;
mod disk;
mod faults;
mod finding;
mod hazard;
mod image;
mod model;
mod oracle;
mod pending;
mod program;
mod runner;
mod seeds;
mod state;
mod store;
mod summary;
mod verdict;

pub use backend::SimBackend;
pub use content::{KEY_BYTES_MAX, Key, Recipe, TableId};
pub use counters::{Counters, Operation, OperationKind};
pub use disk::SimDisk;
pub use faults::{ErrorCode, Fault, OperationClass, SyncLoss, is_crash};
pub use finding::Finding;
pub use image::{Cut, Image};
pub use model::{History, Rows, Version};
pub use program::{Op, generate, generate_light};
pub use seeds::{
    Config, light_program, run_exhaustive, run_program, run_seed, seeded_program, shrink,
};
pub use summary::{EngineTotals, RunTotals, Summary};
