//! Shapes in the catalogue: one tag byte each, then what the tag calls for, parts nested in place.
//!
//! # Invariants
//! 1. A shape has exactly one encoding, and decoding accepts no other.
//! 2. Tags and integer codes are part of the file format: they are added to, never changed.

use crate::error::Corruption;

use super::super::varint;
use super::{IntegerKind, Shape};

const OPAQUE_VARIABLE: u8 = 0;
const OPAQUE_FIXED: u8 = 1;
const UNIT: u8 = 2;
const BOOL: u8 = 3;
const CHAR: u8 = 4;
const INTEGER: u8 = 5;
const NON_ZERO: u8 = 6;
const F32: u8 = 7;
const F64: u8 = 8;
const TEXT: u8 = 9;
const BYTES: u8 = 10;
const OPTION: u8 = 11;
const ARRAY: u8 = 12;
const TUPLE: u8 = 13;
const LIST: u8 = 14;

impl IntegerKind {
    /// Every kind, at the place of its stored code.
    pub(crate) const ALL: [Self; 10] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::U128,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::I128,
    ];

    fn code(self) -> u8 {
        match self {
            Self::U8 => 0,
            Self::U16 => 1,
            Self::U32 => 2,
            Self::U64 => 3,
            Self::U128 => 4,
            Self::I8 => 5,
            Self::I16 => 6,
            Self::I32 => 7,
            Self::I64 => 8,
            Self::I128 => 9,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl Shape {
    /// Appends the stored form.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Opaque { fixed_width: None } => out.push(OPAQUE_VARIABLE),
            Self::Opaque {
                fixed_width: Some(bytes),
            } => {
                out.push(OPAQUE_FIXED);
                varint::push(u64::from(*bytes), out);
            }
            Self::Unit => out.push(UNIT),
            Self::Bool => out.push(BOOL),
            Self::Char => out.push(CHAR),
            Self::Integer(kind) => out.extend_from_slice(&[INTEGER, kind.code()]),
            Self::NonZero(kind) => out.extend_from_slice(&[NON_ZERO, kind.code()]),
            Self::F32 => out.push(F32),
            Self::F64 => out.push(F64),
            Self::Text => out.push(TEXT),
            Self::Bytes => out.push(BYTES),
            Self::Option(value) => {
                out.push(OPTION);
                value.encode(out);
            }
            Self::Array { element, len } => {
                out.push(ARRAY);
                varint::push(*len, out);
                element.encode(out);
            }
            Self::Tuple(parts) => {
                out.push(TUPLE);
                varint::push_len(parts.len(), out);
                parts.iter().for_each(|part| part.encode(out));
            }
            Self::List(element) => {
                out.push(LIST);
                element.encode(out);
            }
        }
    }

    /// Reads the stored form, which fills `data`.
    ///
    /// # Errors
    /// If `data` is no shape, or one that nests deeper than [`Shape::DEPTH_MAX`].
    pub fn decode(data: &[u8]) -> Result<Self, Corruption> {
        let mut rest = data;
        let shape = take_shape(&mut rest, Self::DEPTH_MAX).map_err(|what| {
            let read_bytes = data.len().saturating_sub(rest.len());
            Corruption::new(what).found(format_args!("it after {read_bytes} bytes of the shape"))
        })?;
        if rest.is_empty() {
            return Ok(shape);
        }
        Err(Corruption::new("type shape is followed by other bytes").found(rest.len()))
    }
}

/// Takes one shape, and what nests in it, off the front of `data`; an error is what is wrong there.
fn take_shape(data: &mut &[u8], depth_left: usize) -> Result<Shape, &'static str> {
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return Err("type shape nests too deep");
    };
    let shape = match take_byte(data)? {
        OPAQUE_VARIABLE => Shape::Opaque { fixed_width: None },
        OPAQUE_FIXED => {
            let bytes = u32::try_from(take_number(data)?);
            Shape::Opaque {
                fixed_width: Some(bytes.map_err(|_| "type shape is too wide")?),
            }
        }
        UNIT => Shape::Unit,
        BOOL => Shape::Bool,
        CHAR => Shape::Char,
        INTEGER => Shape::Integer(take_kind(data)?),
        NON_ZERO => Shape::NonZero(take_kind(data)?),
        F32 => Shape::F32,
        F64 => Shape::F64,
        TEXT => Shape::Text,
        BYTES => Shape::Bytes,
        OPTION => Shape::Option(Box::new(take_shape(data, depth_left)?)),
        ARRAY => {
            let len = take_number(data)?;
            Shape::Array {
                element: Box::new(take_shape(data, depth_left)?),
                len,
            }
        }
        TUPLE => {
            // Grows as parts are found, each of which takes a byte: a wild count runs out of data.
            let mut parts = Vec::new();
            for _ in 0..take_number(data)? {
                parts.push(take_shape(data, depth_left)?);
            }
            Shape::Tuple(parts)
        }
        LIST => Shape::List(Box::new(take_shape(data, depth_left)?)),
        _ => return Err("type shape has an unknown tag"),
    };
    Ok(shape)
}

fn take_byte(data: &mut &[u8]) -> Result<u8, &'static str> {
    let (&byte, rest) = data.split_first().ok_or("type shape is cut off")?;
    *data = rest;
    Ok(byte)
}

fn take_number(data: &mut &[u8]) -> Result<u64, &'static str> {
    varint::take(data).ok_or("type shape has a malformed number")
}

fn take_kind(data: &mut &[u8]) -> Result<IntegerKind, &'static str> {
    IntegerKind::from_code(take_byte(data)?).ok_or("type shape has an unknown integer kind")
}
