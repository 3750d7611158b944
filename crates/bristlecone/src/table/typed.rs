//! A table open for writing.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use super::range::stored_bounds;
use super::stats::table_stats;
use super::{
    AccessGuard, Range, ReadableTable, ReadableTableMetadata, TableHandle, TableStats,
    WriteTransaction,
};
use crate::error::Result;
use crate::txn::table_state::TableState;
use crate::txn::write::check_sizes;
use crate::types::{Key, Value};

/// A table of a write transaction. Reads see the transaction's own changes.
pub struct Table<'txn, K: Key + 'static, V: Value + 'static> {
    txn: &'txn WriteTransaction,
    name: String,
    /// Given back to the transaction on drop; `None` only then.
    state: Option<Box<TableState>>,
    types: PhantomData<(K, V)>,
}

impl<'txn, K: Key + 'static, V: Value + 'static> Table<'txn, K, V> {
    pub(super) fn new(txn: &'txn WriteTransaction, name: &str, state: Box<TableState>) -> Self {
        Self {
            txn,
            name: name.to_owned(),
            state: Some(state),
            types: PhantomData,
        }
    }

    fn state(&self) -> &TableState {
        self.state.as_deref().expect("held until drop")
    }

    /// Sets the value of `key`; returns the value it had.
    ///
    /// # Errors
    /// `ValueTooLarge` beyond 3 GiB for key or value or 3.75 GiB for both; nothing has changed then.
    pub fn insert<'k, 'v>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
        value: impl Borrow<V::SelfType<'v>>,
    ) -> Result<Option<AccessGuard<'_, V>>> {
        let key = K::as_bytes(key.borrow());
        let value = V::as_bytes(value.borrow());
        // Before the conversion, which may copy gigabytes.
        check_sizes(key.as_ref(), value.as_ref())?;
        let key = K::to_stored(key.as_ref());
        let state = self.state.as_deref_mut().expect("held until drop");
        let old = self.txn.inner().put(state, &key, value.as_ref())?;
        old.map(AccessGuard::of_value).transpose()
    }

    /// Deletes `key`; returns the value it had.
    pub fn remove<'a>(
        &mut self,
        key: impl Borrow<K::SelfType<'a>>,
    ) -> Result<Option<AccessGuard<'_, V>>> {
        let key = K::as_bytes(key.borrow());
        let key = K::to_stored(key.as_ref());
        let state = self.state.as_deref_mut().expect("held until drop");
        let old = self.txn.inner().remove(state, &key)?;
        old.map(AccessGuard::of_value).transpose()
    }
}

impl<K: Key + 'static, V: Value + 'static> TableHandle for Table<'_, K, V> {
    fn name(&self) -> &str {
        &self.name
    }
}

impl<K: Key + 'static, V: Value + 'static> ReadableTableMetadata for Table<'_, K, V> {
    /// As the transaction found the table, its own changes left out.
    fn stats(&self) -> Result<TableStats> {
        table_stats(
            self.txn.inner().snapshot().pager(),
            self.state().base().as_ref(),
        )
    }

    fn len(&self) -> Result<u64> {
        Ok(self.state().len())
    }
}

impl<K: Key + 'static, V: Value + 'static> ReadableTable<K, V> for Table<'_, K, V> {
    fn get<'a>(&self, key: impl Borrow<K::SelfType<'a>>) -> Result<Option<AccessGuard<'_, V>>> {
        let pager = self.txn.inner().snapshot().pager();
        let key = K::as_bytes(key.borrow());
        let found = self.state().get(pager, &K::to_stored(key.as_ref()))?;
        found.map(AccessGuard::of_value).transpose()
    }

    fn range<'a, KR>(&self, range: impl RangeBounds<KR> + 'a) -> Result<Range<'_, K, V>>
    where
        KR: Borrow<K::SelfType<'a>> + 'a,
    {
        let snapshot = self.txn.inner().snapshot();
        let rows = self
            .state()
            .range(snapshot.pager(), stored_bounds::<K, KR>(&range));
        Ok(Range::new(rows, snapshot.clone()))
    }
}

impl<K: Key + 'static, V: Value + 'static> Drop for Table<'_, K, V> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            self.txn.inner().close_table(&self.name, state);
        }
    }
}

impl<K: Key + 'static, V: Value + 'static> fmt::Debug for Table<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
