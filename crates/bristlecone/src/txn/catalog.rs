//! The catalogue: two trees of their own, from table names to ids and types, and from ids to roots.
//!
//! They are apart because a commit changes roots often and names seldom. Names are stored as their UTF-8 bytes; ids as
//! eight bytes, most significant first. Ids are never used again.

use std::ops::Bound;
use std::sync::Arc;

use super::merged::Merged;
use crate::cache::Pager;
use crate::checkpoint::Roots;
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::leaf::Stored;
use crate::page::order::KeyCompare;
use crate::page::{ROOT_BYTES, Root};
use crate::tree::lookup;
use crate::tree::merge::OpStream;
use crate::txn::value_bytes::ValueBytes;
use crate::types::TableSchema;

/// What the catalogue says of a table's name.
#[derive(Clone, Debug)]
pub(crate) struct NameEntry {
    /// The table's id.
    pub(crate) id: u64,
    /// Its types and key order.
    pub(crate) schema: TableSchema,
}

impl NameEntry {
    /// The encoded form: id (8 bytes), schema.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = self.id.to_le_bytes().to_vec();
        self.schema.encode(&mut out);
        out
    }

    /// Decodes the form written by [`NameEntry::encode`].
    pub(crate) fn decode(bytes: &[u8]) -> Result<NameEntry, Corruption> {
        let id = int::read_u64(bytes, 0)
            .ok_or_else(|| Corruption::new("table entry of the catalogue is too short"))?;
        Ok(NameEntry {
            id,
            schema: TableSchema::decode(&bytes[8..])?,
        })
    }
}

/// Key of a table's root.
pub(crate) fn root_key(id: u64) -> [u8; 8] {
    id.to_be_bytes()
}

/// The encoded root of a table.
pub(crate) fn encode_root(root: Option<&Root>) -> Vec<u8> {
    let mut out = Vec::with_capacity(ROOT_BYTES);
    Root::encode(root, &mut out);
    out
}

fn value_of(pager: &Pager, root: Option<&Root>, key: &[u8]) -> Result<Option<ValueBytes>> {
    match lookup::get(pager, root, key, &KeyCompare::Memcmp)? {
        None => Ok(None),
        Some(found) => ValueBytes::of_found(pager, &found),
    }
}

/// Looks a table up by name.
pub(crate) fn find(pager: &Pager, roots: &Roots, name: &str) -> Result<Option<NameEntry>> {
    match value_of(pager, roots.names.as_ref(), name.as_bytes())? {
        None => Ok(None),
        Some(value) => Ok(Some(NameEntry::decode(value.as_slice())?)),
    }
}

/// Root of the table with this id; `None` for an empty table.
pub(crate) fn root_of(pager: &Pager, roots: &Roots, id: u64) -> Result<Option<Root>> {
    match value_of(pager, roots.tables.as_ref(), &root_key(id))? {
        None => Err(Corruption::new("table has a name but no root")
            .expected(id)
            .into()),
        Some(value) => Ok(Root::decode(value.as_slice())?),
    }
}

/// Whether a table has this id, which no new one may get.
pub(crate) fn has_root(pager: &Pager, roots: &Roots, id: u64) -> Result<bool> {
    let found = lookup::get(
        pager,
        roots.tables.as_ref(),
        &root_key(id),
        &KeyCompare::Memcmp,
    )?;
    Ok(found.is_some())
}

/// All tables in the order of their names.
pub(crate) fn list(pager: &Arc<Pager>, roots: &Roots) -> Result<Vec<(String, NameEntry)>> {
    let unbounded = (Bound::Unbounded, Bound::Unbounded);
    let trees = roots.names.into_iter().collect();
    let mut rows = Merged::new(pager, &KeyCompare::Memcmp, None, trees, unbounded);
    let mut tables = Vec::new();
    while let Some((name, value)) = rows.next()? {
        let name = String::from_utf8(name)
            .map_err(|_| Corruption::new("table name in the catalogue is not UTF-8"))?;
        tables.push((name, NameEntry::decode(value.as_slice())?));
    }
    Ok(tables)
}

/// Changes to one catalogue tree, in key order: a value, or `None` to delete the key.
#[derive(Debug)]
pub(crate) struct CatalogOps {
    ops: std::collections::VecDeque<(Vec<u8>, Option<Vec<u8>>)>,
}

impl CatalogOps {
    /// Sorts changes of distinct keys into a stream.
    pub(crate) fn new(mut ops: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> CatalogOps {
        ops.sort_by(|left, right| left.0.cmp(&right.0));
        CatalogOps { ops: ops.into() }
    }
}

impl OpStream for CatalogOps {
    fn peek(&self) -> Option<(&[u8], Stored<'_>)> {
        let (key, value) = self.ops.front()?;
        Some((
            key,
            value.as_deref().map_or(Stored::Tombstone, Stored::Inline),
        ))
    }

    fn advance(&mut self) -> Result {
        self.ops.pop_front();
        Ok(())
    }
}
