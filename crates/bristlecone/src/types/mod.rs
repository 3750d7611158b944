//! Types of keys and values: their encodings, their order, their names and shapes.

mod key;
mod shape;
mod type_name;
mod value;

pub use key::{Key, KeyOrder};
pub use shape::Shape;
pub use type_name::TypeName;
pub use value::{MutInPlaceValue, Value};
