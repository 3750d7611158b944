//! Lists: a count, then a composite of that many parts of one type. Values only.

use super::array::{append_elements, elements_are_legal};
use super::malformed::malformed;
use super::parts::{Layout, Parts};
use super::{Shape, TypeName, Value, varint};

/// Largest count of elements that have no bytes. Nothing else bounds it, and reading makes them one by one.
pub(super) const EMPTY_ELEMENTS_MAX: usize = u32::MAX as usize;

/// Splits a list into its count and its elements; `None` if the count is malformed or beyond the limit.
#[inline]
pub(super) fn split_count(mut data: &[u8], width: Option<usize>) -> Option<(usize, &[u8])> {
    let count = varint::take_len(&mut data)?;
    (width != Some(0) || count <= EMPTY_ELEMENTS_MAX).then_some((count, data))
}

impl<T: Value> Value for Vec<T> {
    type SelfType<'a>
        = Vec<T::SelfType<'a>>
    where
        Self: 'a;
    type AsBytes<'a>
        = Vec<u8>
    where
        Self: 'a;

    #[inline]
    fn fixed_width() -> Option<usize> {
        None
    }

    fn from_bytes<'a>(data: &'a [u8]) -> Self::SelfType<'a>
    where
        Self: 'a,
    {
        let width = T::fixed_width();
        let Some((count, elements)) = split_count(data, width) else {
            malformed::<Self>(data)
        };
        let Some(mut parts) = Parts::split(elements, Layout::repeated(width, count)) else {
            malformed::<Self>(data)
        };
        // Reserves by the bytes that are there, not by a count that elements without bytes can make arbitrary.
        let mut list = Vec::with_capacity(count.min(data.len()));
        for _ in 0..count {
            list.push(T::from_bytes(parts.take(width)));
        }
        list
    }

    fn as_bytes<'a, 'b: 'a>(value: &'a Self::SelfType<'b>) -> Vec<u8>
    where
        Self: 'b,
    {
        assert!(
            T::fixed_width() != Some(0) || value.len() <= EMPTY_ELEMENTS_MAX,
            "a list of elements without bytes holds at most 2^32 - 1 of them"
        );
        let mut out = Vec::new();
        varint::push_len(value.len(), &mut out);
        append_elements::<T>(value, &mut out);
        out
    }

    fn type_name() -> TypeName {
        let element = T::type_name();
        TypeName::composite(format!("Vec<{}>", element.name()), &[element])
    }

    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }

    fn validate(data: &[u8]) -> bool {
        split_count(data, T::fixed_width())
            .is_some_and(|(count, elements)| elements_are_legal::<T>(elements, count))
    }
}
