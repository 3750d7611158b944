//! Bristlecone: an embedded, transactional, ordered key-value storage engine in one file.
#![deny(unsafe_code)]

pub mod error;
