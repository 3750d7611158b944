//! The traits that read-only and writable tables share.

use std::borrow::Borrow;
use std::ops::RangeBounds;

use super::{AccessGuard, Range, TableStats};
use crate::error::Result;
use crate::types::{Key, Value};

/// What can be asked of a table without knowing its types.
pub trait ReadableTableMetadata {
    /// Size of the table's tree. Reads every page of it.
    fn stats(&self) -> Result<TableStats>;

    /// Rows in the table. Takes the same time whatever its size.
    fn len(&self) -> Result<u64>;

    /// Whether the table has no rows.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// Reading of a table.
pub trait ReadableTable<K: Key + 'static, V: Value + 'static>: ReadableTableMetadata {
    /// The value of `key`.
    fn get<'a>(&self, key: impl Borrow<K::SelfType<'a>>) -> Result<Option<AccessGuard<'_, V>>>;

    /// The rows with keys in `range`, in order. A range that ends before it starts holds none.
    fn range<'a, KR>(&self, range: impl RangeBounds<KR> + 'a) -> Result<Range<'_, K, V>>
    where
        KR: Borrow<K::SelfType<'a>> + 'a;

    /// The row with the least key.
    #[allow(clippy::type_complexity, reason = "the signature is redb's")]
    fn first(&self) -> Result<Option<(AccessGuard<'_, K>, AccessGuard<'_, V>)>> {
        self.iter()?.next().transpose()
    }

    /// The row with the greatest key.
    #[allow(clippy::type_complexity, reason = "the signature is redb's")]
    fn last(&self) -> Result<Option<(AccessGuard<'_, K>, AccessGuard<'_, V>)>> {
        self.iter()?.next_back().transpose()
    }

    /// All rows in order.
    fn iter(&self) -> Result<Range<'_, K, V>> {
        self.range::<K::SelfType<'_>>(..)
    }
}
