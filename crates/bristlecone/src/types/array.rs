//! Arrays: a composite of `N` parts of one type.

use std::cmp::Ordering;

use super::malformed::malformed;
use super::parts::{Layout, Lengths, Parts};
use super::{Key, KeyOrder, Shape, TypeName, Value};

/// Layout of an array; without elements it is nothing at all, whatever their type.
#[inline]
fn layout<T: Value, const N: usize>() -> Layout {
    Layout::repeated(T::fixed_width(), N)
}

impl<T: Value, const N: usize> Value for [T; N] {
    type SelfType<'a>
        = [T::SelfType<'a>; N]
    where
        Self: 'a;
    type AsBytes<'a>
        = Vec<u8>
    where
        Self: 'a;

    #[inline]
    fn fixed_width() -> Option<usize> {
        layout::<T, N>().width()
    }

    #[inline]
    fn from_bytes<'a>(data: &'a [u8]) -> Self::SelfType<'a>
    where
        Self: 'a,
    {
        let Some(mut parts) = Parts::split(data, layout::<T, N>()) else {
            malformed::<Self>(data)
        };
        std::array::from_fn(|_| T::from_bytes(parts.take(T::fixed_width())))
    }

    #[inline]
    fn as_bytes<'a, 'b: 'a>(value: &'a Self::SelfType<'b>) -> Vec<u8>
    where
        Self: 'b,
    {
        let mut out = Vec::new();
        append_elements::<T>(value, &mut out);
        out
    }

    fn type_name() -> TypeName {
        let element = T::type_name();
        TypeName::composite(format!("[{};{N}]", element.name()), &[element])
    }

    fn shape() -> Shape {
        Shape::array(T::shape(), N)
    }

    #[inline]
    fn validate(data: &[u8]) -> bool {
        elements_are_legal::<T>(data, N)
    }

    #[inline]
    fn any_bytes_are_legal() -> bool {
        T::any_bytes_are_legal() && T::fixed_width().is_some()
    }
}

impl<T: Key, const N: usize> Key for [T; N] {
    #[inline]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        let layout = layout::<T, N>();
        let (Some(mut left_parts), Some(mut right_parts)) =
            (Parts::split(left, layout), Parts::split(right, layout))
        else {
            return left.cmp(right);
        };
        let width = T::fixed_width();
        (0..N)
            .map(|_| T::compare(left_parts.take(width), right_parts.take(width)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    #[inline]
    fn order() -> KeyOrder {
        KeyOrder::of_composite(T::order(), T::fixed_width().is_some() || N <= 1)
    }

    #[inline]
    fn stores_verbatim() -> bool {
        T::stores_verbatim() || Self::order() != KeyOrder::Memcmp
    }

    fn append_stored(bytes: &[u8], out: &mut Vec<u8>) {
        match Parts::split(bytes, layout::<T, N>()) {
            Some(mut parts) if !Self::stores_verbatim() => {
                (0..N).for_each(|_| T::append_stored(parts.take(T::fixed_width()), out));
            }
            _ => out.extend_from_slice(bytes),
        }
    }

    fn append_encoded(stored: &[u8], out: &mut Vec<u8>) {
        match Parts::split(stored, layout::<T, N>()) {
            Some(mut parts) if !Self::stores_verbatim() => {
                (0..N).for_each(|_| T::append_encoded(parts.take(T::fixed_width()), out));
            }
            _ => out.extend_from_slice(stored),
        }
    }
}

/// Appends the encoded elements: their lengths, where they vary, then the elements.
pub(super) fn append_elements<'a, T: Value + 'a>(elements: &[T::SelfType<'a>], out: &mut Vec<u8>) {
    let width = T::fixed_width();
    let mut lengths = Lengths::of(Layout::repeated(width, elements.len()));
    if let Some(bytes) = width {
        out.reserve(bytes.saturating_mul(elements.len()));
        for element in elements {
            let encoded = T::as_bytes(element);
            lengths.push(width, encoded.as_ref().len(), out);
            out.extend_from_slice(encoded.as_ref());
        }
        return;
    }
    let encoded: Vec<_> = elements.iter().map(T::as_bytes).collect();
    for element in &encoded {
        lengths.push(width, element.as_ref().len(), out);
    }
    for element in &encoded {
        out.extend_from_slice(element.as_ref());
    }
}

/// Whether `data` is `count` legal elements.
#[inline]
pub(super) fn elements_are_legal<T: Value>(data: &[u8], count: usize) -> bool {
    let width = T::fixed_width();
    let Some(mut parts) = Parts::split(data, Layout::repeated(width, count)) else {
        return false;
    };
    // Elements without bytes are all alike: one look is enough, and `count` may be anything.
    let distinct_count = if width == Some(0) {
        count.min(1)
    } else {
        count
    };
    T::any_bytes_are_legal() || (0..distinct_count).all(|_| T::validate(parts.take(width)))
}
