//! The shape of an encoding: what a type's bytes look like, for whoever reads them without the type.
//!
//! The catalogue stores the shape of each table's key and value, so that maintenance, recovery, `check` and the command
//! line tool can order, validate, convert and print what is in a table whose types they do not know.
//!
//! # Invariants
//! 1. For every built-in type, its shape's `compare`, `validate`, `order`, `to_stored` and `from_stored` agree with the
//!    type's own on every input, legal or not.
//! 2. No method panics or loops beyond the size of its input, whatever bytes it is given.

mod code;
mod compare;
mod show;
mod stored;
mod validate;

use super::KeyOrder;
use super::parts::Layout;
use super::scalar::CHAR_BYTES;
use super::tuple::TupleOrder;

/// Recursive description of the [`Value::as_bytes`](super::Value::as_bytes) form of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// A type from outside this crate: bytes of unknown meaning.
    Opaque {
        /// Width of every encoding, if it is fixed.
        fixed_width: Option<u32>,
    },
    /// `()`: nothing.
    Unit,
    /// `bool`: one byte, 0 or 1.
    Bool,
    /// `char`: a Unicode scalar value in three bytes, little-endian.
    Char,
    /// An integer, little-endian.
    Integer(IntegerKind),
    /// An integer other than zero, little-endian.
    NonZero(IntegerKind),
    /// `f32`: its bits, little-endian.
    F32,
    /// `f64`: its bits, little-endian.
    F64,
    /// `&str` and `String`: UTF-8.
    Text,
    /// `&[u8]`: any bytes.
    Bytes,
    /// `Option<T>`: a tag byte, then the value, or zeros of its width if that is fixed.
    Option(Box<Shape>),
    /// `[T; N]`: a composite of `len` parts of one shape.
    Array {
        /// Shape of each element.
        element: Box<Shape>,
        /// Count of elements.
        len: u64,
    },
    /// A tuple: a composite of these parts.
    Tuple(Vec<Shape>),
    /// `Vec<T>`: a count, then a composite of that many parts of one shape.
    List(Box<Shape>),
}

/// Width and signedness of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the type it is named after")]
pub enum IntegerKind {
    U8,
    U16,
    U32,
    U64,
    U128,
    I8,
    I16,
    I32,
    I64,
    I128,
}

impl IntegerKind {
    /// Width in bytes.
    pub fn width(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 => 4,
            Self::U64 | Self::I64 => 8,
            Self::U128 | Self::I128 => 16,
        }
    }

    /// Whether the integer can be negative.
    pub fn is_signed(self) -> bool {
        matches!(
            self,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::I128
        )
    }
}

impl Shape {
    /// Deepest nesting a catalogue holds; a shape without parts has depth one.
    pub const DEPTH_MAX: usize = 32;

    /// Shape of `[T; len]`.
    pub(super) fn array(element: Shape, len: usize) -> Self {
        Self::Array {
            element: Box::new(element),
            len: u64::try_from(len).unwrap_or(u64::MAX),
        }
    }

    /// Whether this is the shape of `&[u8]`.
    pub fn is_bytes(&self) -> bool {
        matches!(self, Self::Bytes)
    }

    /// Width in bytes of every encoding, or `None` if it varies.
    pub fn fixed_width(&self) -> Option<usize> {
        match self {
            Self::Opaque { fixed_width } => {
                fixed_width.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
            }
            Self::Unit => Some(0),
            Self::Bool => Some(1),
            Self::Char => Some(CHAR_BYTES),
            Self::Integer(kind) | Self::NonZero(kind) => Some(kind.width()),
            Self::F32 => Some(4),
            Self::F64 => Some(8),
            Self::Option(value) => value.fixed_width().map(|bytes| bytes.saturating_add(1)),
            Self::Array { .. } | Self::Tuple(_) => self.layout().width(),
            Self::Text | Self::Bytes | Self::List(_) => None,
        }
    }

    /// Who can order the stored form of keys of this shape. What cannot be a built-in key is foreign.
    pub fn order(&self) -> KeyOrder {
        match self {
            Self::Opaque { .. } | Self::F32 | Self::F64 | Self::List(_) => KeyOrder::Foreign,
            Self::Unit | Self::Bool | Self::Char | Self::Integer(_) | Self::NonZero(_) => {
                KeyOrder::Memcmp
            }
            Self::Text | Self::Bytes => KeyOrder::Memcmp,
            Self::Option(value) => value.order(),
            Self::Array { element, len } => {
                let concatenates = element.fixed_width().is_some() || *len <= 1;
                KeyOrder::of_composite(element.order(), concatenates)
            }
            Self::Tuple(parts) => parts
                .iter()
                .fold(TupleOrder::EMPTY, |order, part| {
                    order.with(part.order(), part.fixed_width())
                })
                .whole(),
        }
    }

    /// Whether no part is of a type from outside this crate.
    pub fn is_built_in(&self) -> bool {
        match self {
            Self::Opaque { .. } => false,
            Self::Option(part) | Self::List(part) => part.is_built_in(),
            Self::Array { element, .. } => element.is_built_in(),
            Self::Tuple(parts) => parts.iter().all(Self::is_built_in),
            _ => true,
        }
    }

    /// How deep the shape nests.
    pub(crate) fn depth(&self) -> usize {
        let below = match self {
            Self::Option(part) | Self::List(part) => part.depth(),
            Self::Array { element, .. } => element.depth(),
            Self::Tuple(parts) => parts.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        };
        below.saturating_add(1)
    }

    /// Layout of an array or a tuple; any other shape has no parts.
    fn layout(&self) -> Layout {
        match self {
            Self::Array { element, len } => {
                let count = usize::try_from(*len).unwrap_or(usize::MAX);
                Layout::repeated(element.fixed_width(), count)
            }
            Self::Tuple(parts) => parts.iter().fold(Layout::EMPTY, |layout, part| {
                layout.with(part.fixed_width())
            }),
            _ => Layout::EMPTY,
        }
    }

    /// The shapes of the parts of an array or a tuple, in order; any other shape has none.
    fn parts(&self) -> PartShapes<'_> {
        match self {
            // Elements without bytes are all alike, and only they can be more than the data has bytes: one stands for all.
            Self::Array { element, len } if element.fixed_width() == Some(0) => {
                PartShapes::Same(element, (*len).min(1))
            }
            Self::Array { element, len } => PartShapes::Same(element, *len),
            Self::Tuple(parts) => PartShapes::Each(parts.iter()),
            _ => PartShapes::Each([].iter()),
        }
    }
}

/// Iterator over the shapes of a composite's parts.
enum PartShapes<'s> {
    /// Each part has a shape of its own.
    Each(std::slice::Iter<'s, Shape>),
    /// So many parts are left, of one shape.
    Same(&'s Shape, u64),
}

impl<'s> Iterator for PartShapes<'s> {
    type Item = &'s Shape;

    fn next(&mut self) -> Option<&'s Shape> {
        match self {
            Self::Each(shapes) => shapes.next(),
            Self::Same(_, 0) => None,
            Self::Same(shape, left) => {
                *left -= 1;
                Some(shape)
            }
        }
    }
}
