//! A table of a snapshot.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

use super::range::stored_bounds;
use super::stats::table_stats;
use super::{AccessGuard, Range, ReadableTable, ReadableTableMetadata, TableHandle, TableStats};
use crate::error::Result;
use crate::txn::snapshot::TableView;
use crate::types::{Key, Value};

/// A table as its read transaction's snapshot has it. It may outlive the transaction handle.
pub struct ReadOnlyTable<K: Key + 'static, V: Value + 'static> {
    name: String,
    view: TableView,
    /// Counted by [`super::ReadTransaction::close`].
    _in_use: Arc<()>,
    types: PhantomData<(K, V)>,
}

impl<K: Key + 'static, V: Value + 'static> ReadOnlyTable<K, V> {
    pub(super) fn new(name: &str, view: TableView, in_use: &Arc<()>) -> Self {
        Self {
            name: name.to_owned(),
            view,
            _in_use: Arc::clone(in_use),
            types: PhantomData,
        }
    }

    /// As [`ReadableTable::get`], with a guard that borrows nothing.
    pub fn get<'a>(
        &self,
        key: impl Borrow<K::SelfType<'a>>,
    ) -> Result<Option<AccessGuard<'static, V>>> {
        let key = K::as_bytes(key.borrow());
        let found = self.view.get(&K::to_stored(key.as_ref()))?;
        found.map(AccessGuard::of_value).transpose()
    }

    /// As [`ReadableTable::range`], with a range that borrows nothing.
    pub fn range<'a, KR>(&self, range: impl RangeBounds<KR> + 'a) -> Result<Range<'static, K, V>>
    where
        KR: Borrow<K::SelfType<'a>> + 'a,
    {
        let rows = self.view.range(stored_bounds::<K, KR>(&range));
        Ok(Range::new(rows, self.view.snapshot().clone()))
    }
}

impl<K: Key + 'static, V: Value + 'static> TableHandle for ReadOnlyTable<K, V> {
    fn name(&self) -> &str {
        &self.name
    }
}

impl<K: Key + 'static, V: Value + 'static> ReadableTableMetadata for ReadOnlyTable<K, V> {
    fn stats(&self) -> Result<TableStats> {
        table_stats(self.view.snapshot().pager(), self.view.root().as_ref())
    }

    fn len(&self) -> Result<u64> {
        self.view.snapshot().pager().disk().check_open()?;
        Ok(self.view.len())
    }
}

impl<K: Key + 'static, V: Value + 'static> ReadableTable<K, V> for ReadOnlyTable<K, V> {
    fn get<'a>(&self, key: impl Borrow<K::SelfType<'a>>) -> Result<Option<AccessGuard<'_, V>>> {
        ReadOnlyTable::get(self, key)
    }

    fn range<'a, KR>(&self, range: impl RangeBounds<KR> + 'a) -> Result<Range<'_, K, V>>
    where
        KR: Borrow<K::SelfType<'a>> + 'a,
    {
        ReadOnlyTable::range(self, range)
    }
}

impl<K: Key + 'static, V: Value + 'static> fmt::Debug for ReadOnlyTable<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOnlyTable")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
