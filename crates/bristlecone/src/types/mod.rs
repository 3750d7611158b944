//! Types of keys and values: their encodings, their order, their names and shapes.
//!
//! # Encodings
//! [`Value::as_bytes`] gives the *encoded form*. All numbers are little-endian; a *varint* is LEB128 in its shortest form.
//!
//! | type | encoded form | width |
//! |---|---|---|
//! | `()` | nothing | 0 |
//! | `bool` | 0 or 1 | 1 |
//! | `char` | scalar value | 3 |
//! | `u8` .. `u128`, `i8` .. `i128`, `NonZero..` | the integer | 1 .. 16 |
//! | `f32`, `f64` (values only) | the bits | 4, 8 |
//! | `&str`, `String` | UTF-8 | varies |
//! | `&[u8]` | the bytes | varies |
//! | `[T; N]`, `&[u8; N]` | composite of N parts | N times that of `T`, if fixed |
//! | `Option<T>` | tag 0 or 1, then the value; `None` of a fixed width is padded with zeros | 1 more than `T`, if fixed |
//! | tuples of 1 to 12 parts | composite of the parts | the sum, if all are fixed |
//! | `Vec<T>` (values only) | count as a varint, then composite of that many parts | varies |
//!
//! A *composite* is the lengths, as varints, of its parts of variable width, all but the last of those; then the parts one
//! after the other. Fixed parts have no length, and the last variable part takes what the others leave; so a composite
//! with at most one variable part is plain concatenation. An array of no elements is nothing, whatever its type.
//!
//! # Orders
//! The tree keeps keys in the *stored form*, which [`KeyOrder`] describes:
//!
//! - `Memcmp`: the stored form sorts bytewise. Integers are stored big-endian with the sign bit flipped, characters
//!   big-endian, all else as encoded; options and composites are stored part by part. An option is of this kind if its
//!   value is, a composite if all its parts are and no part follows one of variable width.
//! - `Known`: every other built-in key. Stored as encoded, ordered by its [`Shape`].
//! - `Foreign`: a user's type, and whatever holds one. Stored as encoded, ordered by its [`Key::compare`] alone.
//!
//! # Invariants
//! 1. `from_stored(to_stored(x)) == x`, and both forms have the same length, part by part.
//! 2. Legal encodings are canonical: two equal values have equal bytes.
//! 3. `validate` is true exactly where `from_bytes` of a built-in type does not panic.

mod array;
mod bytes;
mod float;
mod integer;
mod key;
mod list;
mod malformed;
mod option;
mod parts;
mod scalar;
mod schema;
mod shape;
#[cfg(test)]
mod tests;
mod text;
mod tuple;
mod type_name;
mod value;
mod varint;

pub use key::{Key, KeyOrder};
pub use schema::{TableSchema, TypeSchema};
pub use shape::{IntegerKind, Shape};
pub use type_name::TypeName;
pub use value::{MutInPlaceValue, Value};
