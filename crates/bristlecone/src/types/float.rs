//! Floating-point numbers: values only, because they have no total order that all users would expect of a key.

use super::malformed::malformed;
use super::{Shape, TypeName, Value};

/// Implements `Value` for one floating-point type: its bits, little-endian, so that every NaN survives.
macro_rules! float {
    ($($float:ident $shape:ident),+) => {$(
        impl Value for $float {
            type SelfType<'a> = $float;
            type AsBytes<'a> = [u8; size_of::<$float>()];

            #[inline]
            fn fixed_width() -> Option<usize> {
                Some(size_of::<$float>())
            }

            #[inline]
            fn from_bytes<'a>(data: &'a [u8]) -> $float
            where
                Self: 'a,
            {
                match data.try_into() {
                    Ok(bytes) => <$float>::from_le_bytes(bytes),
                    Err(_) => malformed::<Self>(data),
                }
            }

            #[inline]
            fn as_bytes<'a, 'b: 'a>(value: &'a $float) -> Self::AsBytes<'a>
            where
                Self: 'b,
            {
                value.to_le_bytes()
            }

            fn type_name() -> TypeName {
                TypeName::built_in(stringify!($float))
            }

            fn shape() -> Shape {
                Shape::$shape
            }

            #[inline]
            fn any_bytes_are_legal() -> bool {
                true
            }
        }
    )+};
}

float!(f32 F32, f64 F64);
