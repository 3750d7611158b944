//! Names of types, as the catalogue stores them.

use crate::error::Corruption;

/// Name of a key or value type.
///
/// Two names are equal only if both are of built-in types or both of users' own, so a user's type called `u64` is never
/// taken for the built-in one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeName {
    class: TypeClass,
    name: String,
}

/// Who defined a type. A composite belongs to the user as soon as one of its parts does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TypeClass {
    BuiltIn,
    UserDefined,
}

/// Stored class byte of built-in types.
const CLASS_BUILT_IN: u8 = 1;
/// Stored class byte of users' types.
const CLASS_USER_DEFINED: u8 = 2;

impl TypeName {
    /// Names a type of the caller's own.
    ///
    /// Choose a name no other crate would: prefix it with the name of yours.
    pub fn new(name: &str) -> Self {
        Self {
            class: TypeClass::UserDefined,
            name: name.to_owned(),
        }
    }

    /// Names a built-in type without parts.
    pub(crate) fn built_in(name: impl Into<String>) -> Self {
        Self {
            class: TypeClass::BuiltIn,
            name: name.into(),
        }
    }

    /// Names a built-in composite over `parts`.
    pub(crate) fn composite(name: String, parts: &[TypeName]) -> Self {
        let class = if parts.iter().all(TypeName::is_built_in) {
            TypeClass::BuiltIn
        } else {
            TypeClass::UserDefined
        };
        Self { class, name }
    }

    /// The name without its class.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the type, and every part of it, is built in.
    pub(crate) fn is_built_in(&self) -> bool {
        self.class == TypeClass::BuiltIn
    }

    /// Appends the stored form: one class byte, then the name in UTF-8.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.push(match self.class {
            TypeClass::BuiltIn => CLASS_BUILT_IN,
            TypeClass::UserDefined => CLASS_USER_DEFINED,
        });
        out.extend_from_slice(self.name.as_bytes());
    }

    /// Reads the stored form, which fills `data`.
    pub(crate) fn decode(data: &[u8]) -> Result<Self, Corruption> {
        let Some((&class, name)) = data.split_first() else {
            return Err(Corruption::new("type name is empty"));
        };
        let class = match class {
            CLASS_BUILT_IN => TypeClass::BuiltIn,
            CLASS_USER_DEFINED => TypeClass::UserDefined,
            _ => return Err(Corruption::new("type name has an unknown class").found(class)),
        };
        match std::str::from_utf8(name) {
            Ok(name) => Ok(Self {
                class,
                name: name.to_owned(),
            }),
            Err(_) => Err(Corruption::new("type name is not utf-8")),
        }
    }
}
