//! Tuples of one to twelve parts.

use std::cmp::Ordering;

use super::malformed::malformed;
use super::parts::{Layout, Lengths, Parts};
use super::{Key, KeyOrder, Shape, TypeName, Value};

/// Order of a tuple, gathered part by part from front to back.
///
/// Bytewise order survives concatenation as long as no part follows one of variable width: where the bytes of the longer
/// part stand against those of the next part, the comparison would mix the two.
#[derive(Clone, Copy)]
pub(super) struct TupleOrder {
    parts: KeyOrder,
    variable_seen: bool,
    concatenates: bool,
}

impl TupleOrder {
    /// Order of a tuple of no parts.
    pub(super) const EMPTY: Self = Self {
        parts: KeyOrder::Memcmp,
        variable_seen: false,
        concatenates: true,
    };

    /// This tuple and one more part.
    #[inline]
    pub(super) fn with(self, order: KeyOrder, width: Option<usize>) -> Self {
        Self {
            parts: self.parts.weaker(order),
            variable_seen: self.variable_seen || width.is_none(),
            concatenates: self.concatenates && !self.variable_seen,
        }
    }

    /// Order of the whole tuple.
    #[inline]
    pub(super) fn whole(self) -> KeyOrder {
        KeyOrder::of_composite(self.parts, self.concatenates)
    }
}

/// Implements the traits for tuples of one length; each part is given as its type, its field, and a name to bind it to.
macro_rules! tuple {
    ($(($part:ident $field:tt $bound:ident))+) => {
        impl<$($part: Value),+> Value for ($($part,)+) {
            type SelfType<'a> = ($($part::SelfType<'a>,)+)
            where
                Self: 'a;
            type AsBytes<'a> = Vec<u8>
            where
                Self: 'a;

            #[inline]
            fn fixed_width() -> Option<usize> {
                Layout::EMPTY$(.with($part::fixed_width()))+.width()
            }

            #[inline]
            fn from_bytes<'a>(data: &'a [u8]) -> Self::SelfType<'a>
            where
                Self: 'a,
            {
                let layout = Layout::EMPTY$(.with($part::fixed_width()))+;
                let Some(mut parts) = Parts::split(data, layout) else {
                    malformed::<Self>(data)
                };
                ($($part::from_bytes(parts.take($part::fixed_width())),)+)
            }

            #[inline]
            fn as_bytes<'a, 'b: 'a>(value: &'a Self::SelfType<'b>) -> Vec<u8>
            where
                Self: 'b,
            {
                $(let $bound = $part::as_bytes(&value.$field);)+
                $(let $bound = $bound.as_ref();)+
                let mut out = Vec::with_capacity(0$(+ $bound.len())+);
                let mut lengths = Lengths::of(Layout::EMPTY$(.with($part::fixed_width()))+);
                $(lengths.push($part::fixed_width(), $bound.len(), &mut out);)+
                $(out.extend_from_slice($bound);)+
                out
            }

            fn type_name() -> TypeName {
                let parts = [$($part::type_name()),+];
                let names: Vec<_> = parts.iter().map(TypeName::name).collect();
                // One part needs the comma that makes it a tuple.
                let comma = if names.len() == 1 { "," } else { "" };
                TypeName::composite(format!("({}{comma})", names.join(",")), &parts)
            }

            fn shape() -> Shape {
                Shape::Tuple(vec![$($part::shape()),+])
            }

            #[inline]
            fn validate(data: &[u8]) -> bool {
                let layout = Layout::EMPTY$(.with($part::fixed_width()))+;
                let Some(mut parts) = Parts::split(data, layout) else { return false };
                true $(&& $part::validate(parts.take($part::fixed_width())))+
            }

            #[inline]
            fn any_bytes_are_legal() -> bool {
                Self::fixed_width().is_some() $(&& $part::any_bytes_are_legal())+
            }
        }

        impl<$($part: Key),+> Key for ($($part,)+) {
            #[inline]
            fn compare(left: &[u8], right: &[u8]) -> Ordering {
                let layout = Layout::EMPTY$(.with($part::fixed_width()))+;
                let (Some(mut left_parts), Some(mut right_parts)) =
                    (Parts::split(left, layout), Parts::split(right, layout))
                else {
                    return left.cmp(right);
                };
                Ordering::Equal$(.then_with(|| {
                    let width = $part::fixed_width();
                    $part::compare(left_parts.take(width), right_parts.take(width))
                }))+
            }

            #[inline]
            fn order() -> KeyOrder {
                TupleOrder::EMPTY$(.with($part::order(), $part::fixed_width()))+.whole()
            }

            #[inline]
            fn stores_verbatim() -> bool {
                (true $(&& $part::stores_verbatim())+) || Self::order() != KeyOrder::Memcmp
            }

            fn append_stored(bytes: &[u8], out: &mut Vec<u8>) {
                let layout = Layout::EMPTY$(.with($part::fixed_width()))+;
                match Parts::split(bytes, layout) {
                    Some(mut parts) if !Self::stores_verbatim() => {
                        $($part::append_stored(parts.take($part::fixed_width()), out);)+
                    }
                    _ => out.extend_from_slice(bytes),
                }
            }

            fn append_encoded(stored: &[u8], out: &mut Vec<u8>) {
                let layout = Layout::EMPTY$(.with($part::fixed_width()))+;
                match Parts::split(stored, layout) {
                    Some(mut parts) if !Self::stores_verbatim() => {
                        $($part::append_encoded(parts.take($part::fixed_width()), out);)+
                    }
                    _ => out.extend_from_slice(stored),
                }
            }
        }
    };
}

tuple!((A 0 a));
tuple!((A 0 a)(B 1 b));
tuple!((A 0 a)(B 1 b)(C 2 c));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d)(E 4 e));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d)(E 4 e)(F 5 f));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d)(E 4 e)(F 5 f)(G 6 g));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d)(E 4 e)(F 5 f)(G 6 g)(H 7 h));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d)(E 4 e)(F 5 f)(G 6 g)(H 7 h)(I 8 i));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d)(E 4 e)(F 5 f)(G 6 g)(H 7 h)(I 8 i)(J 9 j));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d)(E 4 e)(F 5 f)(G 6 g)(H 7 h)(I 8 i)(J 9 j)(K 10 k));
tuple!((A 0 a)(B 1 b)(C 2 c)(D 3 d)(E 4 e)(F 5 f)(G 6 g)(H 7 h)(I 8 i)(J 9 j)(K 10 k)(L 11 l));
