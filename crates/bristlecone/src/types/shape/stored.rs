//! Conversion between the encoded form and the form kept in the tree, by shape.

use std::borrow::Cow;

use super::super::KeyOrder;
use super::super::option::TAG_SOME;
use super::super::parts::Parts;
use super::super::scalar::CHAR_BYTES;
use super::{IntegerKind, Shape};

/// Which way to convert.
#[derive(Clone, Copy)]
enum Direction {
    ToStored,
    FromStored,
}

impl Shape {
    /// Converts a key in [`Value::as_bytes`](super::super::Value::as_bytes) form into the form kept in a tree of this
    /// order; borrows if they are the same.
    pub fn to_stored<'a>(&self, order: KeyOrder, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.convert(order, bytes, Direction::ToStored)
    }

    /// Converts a key in the form kept in a tree of this order into the
    /// [`Value::as_bytes`](super::super::Value::as_bytes) form; borrows if they are the same.
    pub fn from_stored<'a>(&self, order: KeyOrder, stored: &'a [u8]) -> Cow<'a, [u8]> {
        self.convert(order, stored, Direction::FromStored)
    }

    fn convert<'a>(&self, order: KeyOrder, key: &'a [u8], way: Direction) -> Cow<'a, [u8]> {
        // The table's order speaks for the whole key; the shape's own says whether its parts convert at all.
        if order != KeyOrder::Memcmp || self.stores_verbatim() {
            return Cow::Borrowed(key);
        }
        let mut out = Vec::with_capacity(key.len());
        self.append_converted(key, way, &mut out);
        Cow::Owned(out)
    }

    /// Whether the form kept in the tree is the encoded form.
    pub(crate) fn stores_verbatim(&self) -> bool {
        match self {
            Self::Char => false,
            Self::Integer(kind) | Self::NonZero(kind) => *kind == IntegerKind::U8,
            _ if self.order() != KeyOrder::Memcmp => true,
            Self::Option(value) => value.stores_verbatim(),
            Self::Array { element, .. } => element.stores_verbatim(),
            Self::Tuple(parts) => parts.iter().all(Self::stores_verbatim),
            _ => true,
        }
    }

    fn append_converted(&self, key: &[u8], way: Direction, out: &mut Vec<u8>) {
        match self {
            Self::Integer(kind) | Self::NonZero(kind) if key.len() == kind.width() => {
                append_integer(*kind, key, way, out);
            }
            Self::Char if key.len() == CHAR_BYTES => out.extend(key.iter().rev()),
            _ if self.stores_verbatim() => out.extend_from_slice(key),
            Self::Option(value) => match key {
                [TAG_SOME, value_key @ ..] => {
                    out.push(TAG_SOME);
                    value.append_converted(value_key, way, out);
                }
                _ => out.extend_from_slice(key),
            },
            Self::Array { .. } | Self::Tuple(_) => match Parts::split(key, self.layout()) {
                Some(mut parts) => {
                    for part in self.parts() {
                        part.append_converted(parts.take(part.fixed_width()), way, out);
                    }
                }
                None => out.extend_from_slice(key),
            },
            _ => out.extend_from_slice(key),
        }
    }
}

/// Reverses the bytes and flips the sign bit, which is at the end of the encoded form and at the front of the stored one.
fn append_integer(kind: IntegerKind, key: &[u8], way: Direction, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend(key.iter().rev());
    let sign_byte = match way {
        Direction::ToStored => out.get_mut(start),
        Direction::FromStored => out.last_mut(),
    };
    if let Some(byte) = sign_byte
        && kind.is_signed()
    {
        *byte ^= 0x80;
    }
}
