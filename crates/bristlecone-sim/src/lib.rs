//! Simulated disk, operation language and crash oracle for the Bristlecone storage engine.
//!
//! Everything here is decided by a seed: the same seed gives the same program, the same faults and the same disk
//! images, so that a finding is replayed by its number.
//!
//! ```text
//!  disk.rs      SimDisk: the handle that tests hold
//!    |- state.rs      one file: what is written kept apart from what is durable
//!    |- pending.rs    operations that no barrier has covered yet
//!    |- image.rs      what a power cut may leave
//!    |- faults.rs     planned errors and lies
//!    |- counters.rs   numbers and a log of operations, for assertions
//!    `- backend.rs    SimBackend: the engine's door to the disk
//! ```
#![deny(unsafe_code)]

mod backend;
mod counters;
mod disk;
mod faults;
mod image;
mod pending;
mod state;

pub use backend::SimBackend;
pub use counters::{Counters, Operation, OperationKind};
pub use disk::SimDisk;
pub use faults::{ErrorCode, Fault, OperationClass, SyncLoss, is_crash};
pub use image::{Cut, Image};
