//! Whether a table is what its opener takes it for.

use crate::error::TableError;
use crate::page::order::KeyCompare;
use crate::types::{KeyOrder, TableSchema, TypeSchema};

/// Fails unless a table stored with `stored` may be opened as `wanted`.
pub(crate) fn check_schema(
    name: &str,
    wanted: &TableSchema,
    stored: &TableSchema,
) -> Result<(), TableError> {
    check_kind(name, stored, wanted.is_multimap())?;
    if wanted.key().name != stored.key().name || wanted.value().name != stored.value().name {
        return Err(TableError::TableTypeMismatch {
            table: name.to_owned(),
            key: stored.key().name.clone(),
            value: stored.value().name.clone(),
        });
    }
    check_definition(wanted.key(), stored.key())?;
    check_definition(wanted.value(), stored.value())?;
    if wanted.order() != stored.order() {
        return Err(changed(stored.key()));
    }
    Ok(())
}

/// Fails unless the table is a multimap exactly where one is wanted.
pub(crate) fn check_kind(
    name: &str,
    stored: &TableSchema,
    multimap: bool,
) -> Result<(), TableError> {
    match (stored.is_multimap(), multimap) {
        (true, false) => Err(TableError::TableIsMultimap(name.to_owned())),
        (false, true) => Err(TableError::TableIsNotMultimap(name.to_owned())),
        _ => Ok(()),
    }
}

fn check_definition(wanted: &TypeSchema, stored: &TypeSchema) -> Result<(), TableError> {
    if wanted.shape == stored.shape {
        Ok(())
    } else {
        Err(changed(stored))
    }
}

fn changed(stored: &TypeSchema) -> TableError {
    TableError::TypeDefinitionChanged {
        name: stored.name.clone(),
        alignment: 1,
        width: stored.shape.fixed_width(),
    }
}

/// The order of a table's keys without its program's types; `None` where only the program knows it.
pub(crate) fn untyped_compare(schema: &TableSchema) -> Option<KeyCompare> {
    match schema.order() {
        KeyOrder::Memcmp => Some(KeyCompare::Memcmp),
        KeyOrder::Known => Some(KeyCompare::Shape(std::sync::Arc::new(
            schema.key().shape.clone(),
        ))),
        _ => None,
    }
}
