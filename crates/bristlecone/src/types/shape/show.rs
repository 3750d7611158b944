//! Encoded bytes as text for people.

use std::fmt::Write;

use super::super::list::split_count;
use super::super::option::{TAG_NONE, TAG_SOME};
use super::super::parts::{Layout, Parts};
use super::super::scalar::decode_char;
use super::{IntegerKind, Shape};

impl Shape {
    /// Shows an encoded value: numbers in decimal, text as it is (quoted and escaped inside composites), byte strings as
    /// text if they are printable UTF-8 and else in hex, opaque types in hex.
    ///
    /// The text is for reading: it does not always tell one value from another. Bytes that are no encoding of the shape
    /// are shown as `malformed 0x..`.
    pub fn show(&self, data: &[u8]) -> String {
        let mut out = String::new();
        if self.validate(data) {
            self.append_shown(data, false, &mut out);
        } else {
            out.push_str("malformed ");
            append_hex(data, &mut out);
        }
        out
    }

    /// Appends a legal encoding; `nested` if a composite surrounds it.
    fn append_shown(&self, data: &[u8], nested: bool, out: &mut String) {
        match self {
            Self::Opaque { .. } => append_hex(data, out),
            Self::Unit => out.push_str("()"),
            Self::Bool => out.push_str(if data == [0] { "false" } else { "true" }),
            Self::Char => append_char(data, nested, out),
            Self::Integer(kind) | Self::NonZero(kind) => append_integer(*kind, data, out),
            Self::F32 => append_float(data.try_into().map(f32::from_le_bytes).ok(), out),
            Self::F64 => append_float(data.try_into().map(f64::from_le_bytes).ok(), out),
            Self::Text => append_text(&String::from_utf8_lossy(data), nested, out),
            Self::Bytes => append_byte_string(data, nested, out),
            Self::Option(value) => match data.split_first() {
                Some((&TAG_NONE, _)) => out.push_str("None"),
                Some((&TAG_SOME, some)) => {
                    out.push_str("Some(");
                    value.append_shown(some, true, out);
                    out.push(')');
                }
                _ => append_hex(data, out),
            },
            Self::Array { element, len } => match **element {
                Self::Integer(IntegerKind::U8) => append_byte_string(data, nested, out),
                _ => append_elements(element, *len, data, out),
            },
            Self::Tuple(parts) => self.append_tuple(parts, data, out),
            Self::List(element) => match split_count(data, element.fixed_width()) {
                Some((count, elements)) => {
                    let count = u64::try_from(count).unwrap_or(u64::MAX);
                    append_elements(element, count, elements, out);
                }
                None => append_hex(data, out),
            },
        }
    }

    fn append_tuple(&self, shapes: &[Shape], data: &[u8], out: &mut String) {
        let Some(mut parts) = Parts::split(data, self.layout()) else {
            return append_hex(data, out);
        };
        out.push('(');
        for (place, shape) in shapes.iter().enumerate() {
            if place > 0 {
                out.push_str(", ");
            }
            shape.append_shown(parts.take(shape.fixed_width()), true, out);
        }
        out.push_str(if shapes.len() == 1 { ",)" } else { ")" });
    }
}

/// Appends the elements of an array or a list.
fn append_elements(element: &Shape, count: u64, data: &[u8], out: &mut String) {
    let width = element.fixed_width();
    let layout = Layout::repeated(width, usize::try_from(count).unwrap_or(usize::MAX));
    let Some(mut parts) = Parts::split(data, layout) else {
        return append_hex(data, out);
    };
    out.push('[');
    if width == Some(0) && count > 1 {
        // Elements without bytes can be any number, and are all alike.
        element.append_shown(&[], true, out);
        append_display(format_args!("; {count}"), out);
    } else {
        for place in 0..count {
            if place > 0 {
                out.push_str(", ");
            }
            element.append_shown(parts.take(width), true, out);
        }
    }
    out.push(']');
}

fn append_integer(kind: IntegerKind, data: &[u8], out: &mut String) {
    let negative = kind.is_signed() && data.last().is_some_and(|&high| high >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide.iter_mut()
        .zip(data)
        .for_each(|(target, &source)| *target = source);
    let number = u128::from_le_bytes(wide);
    if kind.is_signed() {
        append_display(number.cast_signed(), out);
    } else {
        append_display(number, out);
    }
}

fn append_float(number: Option<impl std::fmt::Debug>, out: &mut String) {
    if let Some(number) = number {
        // The debug form is the shortest that reads back to the same number.
        append_display(format_args!("{number:?}"), out);
    }
}

fn append_char(data: &[u8], nested: bool, out: &mut String) {
    match decode_char(data) {
        Some(value) if nested => append_display(format_args!("{value:?}"), out),
        Some(value) => out.push(value),
        None => append_hex(data, out),
    }
}

fn append_text(text: &str, nested: bool, out: &mut String) {
    if nested {
        append_display(format_args!("{text:?}"), out);
    } else {
        out.push_str(text);
    }
}

/// Appends bytes as text if a terminal shows that text as it is, else in hex.
fn append_byte_string(data: &[u8], nested: bool, out: &mut String) {
    match std::str::from_utf8(data) {
        Ok(text) if !text.chars().any(char::is_control) => append_text(text, nested, out),
        _ => append_hex(data, out),
    }
}

fn append_hex(data: &[u8], out: &mut String) {
    out.push_str("0x");
    for byte in data {
        append_display(format_args!("{byte:02x}"), out);
    }
}

fn append_display(text: impl std::fmt::Display, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{text}");
}
