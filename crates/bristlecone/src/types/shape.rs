//! The shape of an encoding: a type's description that needs no type.

/// Recursive description of the [`Value::as_bytes`](super::Value::as_bytes) form of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// A type from outside this crate: bytes of unknown meaning.
    Opaque {
        /// Width of every encoding, if it is fixed.
        fixed_width: Option<u32>,
    },
}
