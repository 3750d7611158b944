//! What the tool asks of a table's types.

use bristlecone::{KeyOrder, Shape, TableSchema};

/// How a type of keys or values can be written on a command line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// Byte strings, of any or of one length: taken and shown as they are.
    Bytes,
    /// Text: taken and shown as it is.
    Text,
    /// An integer without sign, `width` bytes wide.
    Unsigned { width: usize },
    /// An integer with sign, `width` bytes wide.
    Signed { width: usize },
    /// All else: shown in a readable form, taken in hexadecimal only.
    Other,
}

impl Kind {
    /// Kind of the types of this shape.
    pub(crate) fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Bytes => Kind::Bytes,
            Shape::Text => Kind::Text,
            Shape::Integer(kind) | Shape::NonZero(kind) if kind.is_signed() => Kind::Signed {
                width: kind.width(),
            },
            Shape::Integer(kind) | Shape::NonZero(kind) => Kind::Unsigned {
                width: kind.width(),
            },
            Shape::Array { element, .. } if Kind::of(element) == (Kind::Unsigned { width: 1 }) => {
                Kind::Bytes
            }
            _ => Kind::Other,
        }
    }
}

/// The types of the tables that `put` and `load` make.
pub(crate) fn bytes_schema() -> TableSchema {
    TableSchema::of::<&[u8], &[u8]>()
}

/// Name of the key type.
pub(crate) fn key_type(schema: &TableSchema) -> String {
    schema.key().name.name().to_owned()
}

/// Name of the value type.
pub(crate) fn value_type(schema: &TableSchema) -> String {
    schema.value().name.name().to_owned()
}

/// Whether the engine can order the keys without the program that made the table.
pub(crate) fn is_loadable(schema: &TableSchema) -> bool {
    schema.order() != KeyOrder::Foreign && !schema.is_multimap()
}

/// The stored form of a schema.
pub(crate) fn encode(schema: &TableSchema) -> Vec<u8> {
    let mut out = Vec::new();
    schema.encode(&mut out);
    out
}

/// Reads the stored form of a schema.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn decode(bytes: &[u8]) -> Result<TableSchema, String> {
    TableSchema::decode(bytes).map_err(|error| error.to_string())
}
