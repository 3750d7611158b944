//! Bristlecone: an embedded, transactional, ordered key-value storage engine in one file.
#![deny(unsafe_code)]

pub mod error;
mod vfs;

pub use error::{DatabaseError, StorageError};
pub use vfs::StorageBackend;

/// Places to keep a database.
pub mod backends {
    pub use crate::vfs::{FileBackend, InMemoryBackend};
}
