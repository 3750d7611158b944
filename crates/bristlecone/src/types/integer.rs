//! Integers: encoded little-endian, stored big-endian with the sign bit flipped.
//!
//! Flipping the sign bit puts negative numbers below positive ones in unsigned, hence bytewise, order. The non-zero
//! types are encoded as the integers they wrap.

use std::cmp::Ordering;
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroU8, NonZeroU16, NonZeroU32,
    NonZeroU64, NonZeroU128,
};

use super::malformed::malformed;
use super::{IntegerKind, Key, KeyOrder, Shape, TypeName, Value};

/// Implements the traits for one integer type.
macro_rules! integer {
    ($($integer:ident $kind:ident),+ $(,)?) => {$(
        impl Value for $integer {
            type SelfType<'a> = $integer;
            type AsBytes<'a> = [u8; size_of::<$integer>()];

            #[inline]
            fn fixed_width() -> Option<usize> {
                Some(size_of::<$integer>())
            }

            #[inline]
            fn from_bytes<'a>(data: &'a [u8]) -> $integer
            where
                Self: 'a,
            {
                match data.try_into() {
                    Ok(bytes) => <$integer>::from_le_bytes(bytes),
                    Err(_) => malformed::<Self>(data),
                }
            }

            #[inline]
            fn as_bytes<'a, 'b: 'a>(value: &'a $integer) -> Self::AsBytes<'a>
            where
                Self: 'b,
            {
                value.to_le_bytes()
            }

            fn type_name() -> TypeName {
                TypeName::built_in(stringify!($integer))
            }

            fn shape() -> Shape {
                Shape::Integer(IntegerKind::$kind)
            }

            #[inline]
            fn any_bytes_are_legal() -> bool {
                true
            }
        }

        impl Key for $integer {
            #[inline]
            fn compare(left: &[u8], right: &[u8]) -> Ordering {
                match (left.try_into(), right.try_into()) {
                    (Ok(left), Ok(right)) => {
                        <$integer>::from_le_bytes(left).cmp(&<$integer>::from_le_bytes(right))
                    }
                    _ => left.cmp(right),
                }
            }

            #[inline]
            fn order() -> KeyOrder {
                KeyOrder::Memcmp
            }

            #[inline]
            fn stores_verbatim() -> bool {
                size_of::<$integer>() == 1 && <$integer>::MIN == 0
            }

            #[inline]
            fn append_stored(bytes: &[u8], out: &mut Vec<u8>) {
                match bytes.try_into() {
                    // MIN is the sign bit alone, or zero.
                    Ok(bytes) => out.extend_from_slice(
                        &(<$integer>::from_le_bytes(bytes) ^ <$integer>::MIN).to_be_bytes(),
                    ),
                    Err(_) => out.extend_from_slice(bytes),
                }
            }

            #[inline]
            fn append_encoded(stored: &[u8], out: &mut Vec<u8>) {
                match stored.try_into() {
                    Ok(bytes) => out.extend_from_slice(
                        &(<$integer>::from_be_bytes(bytes) ^ <$integer>::MIN).to_le_bytes(),
                    ),
                    Err(_) => out.extend_from_slice(stored),
                }
            }

            #[inline]
            fn validate_stored(stored: &[u8]) -> bool {
                stored.len() == size_of::<$integer>()
            }
        }
    )+};
}

integer!(
    u8 U8, u16 U16, u32 U32, u64 U64, u128 U128,
    i8 I8, i16 I16, i32 I32, i64 I64, i128 I128,
);

/// Implements the traits for one non-zero type over the integer it wraps.
macro_rules! non_zero {
    ($($non_zero:ident $integer:ident $kind:ident),+ $(,)?) => {$(
        impl Value for $non_zero {
            type SelfType<'a> = $non_zero;
            type AsBytes<'a> = [u8; size_of::<$integer>()];

            #[inline]
            fn fixed_width() -> Option<usize> {
                Some(size_of::<$integer>())
            }

            #[inline]
            fn from_bytes<'a>(data: &'a [u8]) -> $non_zero
            where
                Self: 'a,
            {
                match <$non_zero>::new(<$integer>::from_bytes(data)) {
                    Some(value) => value,
                    None => malformed::<Self>(data),
                }
            }

            #[inline]
            fn as_bytes<'a, 'b: 'a>(value: &'a $non_zero) -> Self::AsBytes<'a>
            where
                Self: 'b,
            {
                value.get().to_le_bytes()
            }

            fn type_name() -> TypeName {
                TypeName::built_in(stringify!($non_zero))
            }

            fn shape() -> Shape {
                Shape::NonZero(IntegerKind::$kind)
            }

            #[inline]
            fn validate(data: &[u8]) -> bool {
                data.len() == size_of::<$integer>() && data.iter().any(|&byte| byte != 0)
            }
        }

        impl Key for $non_zero {
            #[inline]
            fn compare(left: &[u8], right: &[u8]) -> Ordering {
                <$integer>::compare(left, right)
            }

            #[inline]
            fn order() -> KeyOrder {
                KeyOrder::Memcmp
            }

            #[inline]
            fn stores_verbatim() -> bool {
                <$integer>::stores_verbatim()
            }

            #[inline]
            fn append_stored(bytes: &[u8], out: &mut Vec<u8>) {
                <$integer>::append_stored(bytes, out);
            }

            #[inline]
            fn append_encoded(stored: &[u8], out: &mut Vec<u8>) {
                <$integer>::append_encoded(stored, out);
            }
        }
    )+};
}

non_zero!(
    NonZeroU8 u8 U8, NonZeroU16 u16 U16, NonZeroU32 u32 U32, NonZeroU64 u64 U64,
    NonZeroU128 u128 U128, NonZeroI8 i8 I8, NonZeroI16 i16 I16, NonZeroI32 i32 I32,
    NonZeroI64 i64 I64, NonZeroI128 i128 I128,
);
