//! The door to disk and randomness: nothing else in the engine touches a file or the operating system.
//!
//! A database lives on one [`StorageBackend`]. The engine ships two: [`FileBackend`] (a locked file) and
//! [`InMemoryBackend`] (a vector); a user may bring one of their own, and the simulated disk plugs in here.
//!
//! ```text
//!  StorageBackend (backend.rs)
//!    |- FileBackend (file.rs)   -> transfer.rs (loops that finish short transfers)
//!    |                          -> native_*.rs (positioned, vectored, preallocating calls of the system)
//!    |                          -> cursor.rs   (seek, then read or write, under a mutex: works everywhere)
//!    `- InMemoryBackend (memory.rs)
//! ```
//!
//! # Invariants
//! 1. A backend call either does all that was asked or returns an error; short transfers never reach the engine.
//! 2. A byte counts as durable only once a barrier (`sync_data`, `sync_range`) that began after its write has
//!    returned `Ok`.

mod backend;
mod cursor;
mod disk;
mod file;
mod memory;
#[cfg(target_os = "linux")]
#[path = "native_linux.rs"]
mod native;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "native_unix.rs"]
mod native;
#[cfg(not(unix))]
#[path = "native_none.rs"]
mod native;
mod regular;
mod transfer;

pub use backend::StorageBackend;
pub(crate) use disk::{Disk, WholeSync, WriteStamp};
pub use file::FileBackend;
pub use memory::InMemoryBackend;
pub(crate) use regular::{open_regular, sync_parent};
