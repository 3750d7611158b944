//! What a commit changes: every changed table's tree, and the catalogue that names them.

use std::collections::BTreeMap;

use super::catalog::{self, CatalogOps, NameEntry};
use super::table_state::TableState;
use super::write::{Entry, Tables};
use crate::checkpoint::Roots;
use crate::error::Result;
use crate::page::order::KeyCompare;
use crate::tree::merge;
use crate::tree::writer::PageWriter;

/// What a commit changes, table by table.
pub(super) struct Change<'t> {
    tables: &'t Tables,
    names: BTreeMap<&'t str, Option<Vec<u8>>>,
    roots: BTreeMap<u64, Option<Vec<u8>>>,
}

impl<'t> Change<'t> {
    /// The changes of `tables`.
    pub(super) fn new(tables: &'t Tables) -> Change<'t> {
        Change {
            tables,
            names: BTreeMap::new(),
            roots: BTreeMap::new(),
        }
    }

    fn changed(&self) -> impl Iterator<Item = (&'t str, &'t TableState)> + use<'t> {
        self.tables
            .entries
            .iter()
            .filter_map(|(name, entry)| match entry {
                Entry::Idle(state) if state.created || state.is_changed() => {
                    Some((name.as_str(), &**state))
                }
                _ => None,
            })
    }

    /// Whether there is nothing to commit.
    pub(super) fn is_empty(&self) -> bool {
        self.tables.deleted.is_empty() && self.changed().next().is_none()
    }

    /// Merges everything into the trees below `before` and returns the new roots.
    pub(super) fn apply(
        &mut self,
        writer: &mut PageWriter<'_>,
        before: Roots,
        next_table: u64,
    ) -> Result<Roots> {
        for (name, state) in &self.tables.deleted {
            state.free(writer)?;
            if !state.created {
                self.roots.insert(state.id, None);
                self.names.insert(name, None);
            }
        }
        for (name, state) in self.changed() {
            let root = state.apply(writer)?;
            self.roots
                .insert(state.id, Some(catalog::encode_root(root.as_ref())));
            if state.created {
                let entry = NameEntry {
                    id: state.id,
                    schema: state.schema.clone(),
                };
                self.names.insert(name, Some(entry.encode()));
            }
        }
        let names = std::mem::take(&mut self.names);
        let names = names
            .into_iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value));
        let roots = std::mem::take(&mut self.roots);
        let roots = roots
            .into_iter()
            .map(|(id, value)| (catalog::root_key(id).to_vec(), value));
        let memcmp = KeyCompare::Memcmp;
        let mut names = CatalogOps::new(names.collect());
        let mut roots = CatalogOps::new(roots.collect());
        Ok(Roots {
            names: merge::apply(writer, before.names, &mut names, &memcmp)?,
            tables: merge::apply(writer, before.tables, &mut roots, &memcmp)?,
            next_table,
        })
    }
}
