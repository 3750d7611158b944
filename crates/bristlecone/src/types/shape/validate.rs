//! Legality of encoded bytes by shape.

use super::super::list::split_count;
use super::super::option::{TAG_NONE, TAG_SOME, padding_is_legal};
use super::super::parts::{Layout, Parts};
use super::super::scalar::decode_char;
use super::{IntegerKind, Shape};

impl Shape {
    /// Whether `data` is a legal encoding of this shape. Of an opaque type only the width is known.
    pub fn validate(&self, data: &[u8]) -> bool {
        match self {
            Self::Bytes => true,
            Self::Bool => matches!(data, [0 | 1]),
            Self::Char => decode_char(data).is_some(),
            Self::NonZero(kind) => data.len() == kind.width() && data.iter().any(|&byte| byte != 0),
            Self::Text => std::str::from_utf8(data).is_ok(),
            Self::Option(value) => match data.split_first() {
                Some((&TAG_SOME, some)) => value.validate(some),
                Some((&TAG_NONE, padding)) => padding_is_legal(padding, value.fixed_width()),
                _ => false,
            },
            Self::Array { .. } | Self::Tuple(_) => self.validate_parts(data),
            Self::List(element) => validate_list(element, data),
            Self::Opaque { .. } | Self::Unit | Self::Integer(_) | Self::F32 | Self::F64 => {
                self.fixed_width().is_none_or(|bytes| bytes == data.len())
            }
        }
    }

    fn validate_parts(&self, data: &[u8]) -> bool {
        let Some(mut parts) = Parts::split(data, self.layout()) else {
            return false;
        };
        // Byte arrays can be long, and all their bytes are legal.
        if let Self::Array { element, .. } = self
            && matches!(**element, Self::Integer(IntegerKind::U8))
        {
            return true;
        }
        self.parts()
            .all(|part| part.validate(parts.take(part.fixed_width())))
    }
}

fn validate_list(element: &Shape, data: &[u8]) -> bool {
    let width = element.fixed_width();
    let Some((count, elements)) = split_count(data, width) else {
        return false;
    };
    let Some(mut parts) = Parts::split(elements, Layout::repeated(width, count)) else {
        return false;
    };
    let distinct_count = if width == Some(0) {
        count.min(1)
    } else {
        count
    };
    (0..distinct_count).all(|_| element.validate(parts.take(width)))
}
