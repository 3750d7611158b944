//! Names of tables, with the types that go with them.

use std::fmt;
use std::marker::PhantomData;

use crate::types::{Key, Value};

mod sealed {
    /// Keeps [`super::TableHandle`] to the types of this crate.
    pub trait Sealed {}
}

/// Anything that names a table: a definition, an open table, an entry of a table list.
pub trait TableHandle: sealed::Sealed {
    /// The table's name.
    fn name(&self) -> &str;
}

/// Name and types of a table.
///
/// ```
/// const AGES: bristlecone::TableDefinition<&str, u32> = bristlecone::TableDefinition::new("ages");
/// ```
pub struct TableDefinition<'a, K: Key + 'static, V: Value + 'static> {
    name: &'a str,
    types: PhantomData<(K, V)>,
}

impl<'a, K: Key + 'static, V: Value + 'static> TableDefinition<'a, K, V> {
    /// A table of this name.
    ///
    /// # Panics
    /// If the name is empty.
    pub const fn new(name: &'a str) -> Self {
        assert!(!name.is_empty(), "Table name must be non-empty");
        Self {
            name,
            types: PhantomData,
        }
    }
}

impl<K: Key + 'static, V: Value + 'static> Clone for TableDefinition<'_, K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Key + 'static, V: Value + 'static> Copy for TableDefinition<'_, K, V> {}

impl<K: Key + 'static, V: Value + 'static> fmt::Debug for TableDefinition<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: Key + 'static, V: Value + 'static> fmt::Display for TableDefinition<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}<{}, {}>",
            self.name,
            K::type_name().name(),
            V::type_name().name()
        )
    }
}

impl<K: Key + 'static, V: Value + 'static> sealed::Sealed for TableDefinition<'_, K, V> {}

impl<K: Key + 'static, V: Value + 'static> TableHandle for TableDefinition<'_, K, V> {
    fn name(&self) -> &str {
        self.name
    }
}

/// The name of a table whose types are not known here.
#[derive(Clone, Debug)]
pub struct UntypedTableHandle {
    name: String,
}

impl UntypedTableHandle {
    /// The handle of the table `name`; whether it exists shows when it is used.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }
}

impl sealed::Sealed for UntypedTableHandle {}

impl TableHandle for UntypedTableHandle {
    fn name(&self) -> &str {
        &self.name
    }
}

impl<K: Key + 'static, V: Value + 'static> sealed::Sealed for super::Table<'_, K, V> {}
impl<K: Key + 'static, V: Value + 'static> sealed::Sealed for super::ReadOnlyTable<K, V> {}
impl sealed::Sealed for super::ReadOnlyUntypedTable {}
