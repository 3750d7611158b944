//! Bristlecone, on its defaults but for the cache.

use super::Contender;

/// Bristlecone.
pub fn contender() -> Contender {
    unimplemented!("adapter")
}
