//! Ranges: iterators over the rows of a table, from either end.

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use super::AccessGuard;
use crate::error::Result;
use crate::txn::merged::{KeyAndValue, Merged};
use crate::txn::snapshot::Snapshot;
use crate::types::{Key, Value};

/// Rows of a table in key order.
///
/// Once a step has returned an error, every further step does: rows that could not be read are never passed over. So
/// stop at the first error; an adapter that goes on behind errors, such as `filter_map(Result::ok)`, would not end.
#[derive(Clone, Debug)]
pub struct Range<'a, K: Key + 'static, V: Value + 'static> {
    rows: Merged<'a>,
    /// Keeps the version's pages from being reused.
    _pin: Snapshot,
    types: PhantomData<(K, V)>,
}

/// A row as users see it.
type GuardPair<'a, K, V> = (AccessGuard<'a, K>, AccessGuard<'a, V>);

impl<'a, K: Key + 'static, V: Value + 'static> Range<'a, K, V> {
    pub(super) fn new(rows: Merged<'a>, pin: Snapshot) -> Self {
        Range {
            rows,
            _pin: pin,
            types: PhantomData,
        }
    }

    fn guard(&mut self, row: Result<Option<KeyAndValue>>) -> Option<Result<GuardPair<'a, K, V>>> {
        let (key, value) = match row {
            Err(error) => return Some(Err(error)),
            Ok(None) => return None,
            Ok(Some(row)) => row,
        };
        let pair = AccessGuard::of_stored_key(key)
            .and_then(|key| Ok((key, AccessGuard::of_value(value)?)))
            .inspect_err(|_| self.rows.fail());
        Some(pair)
    }
}

impl<'a, K: Key + 'static, V: Value + 'static> Iterator for Range<'a, K, V> {
    type Item = Result<GuardPair<'a, K, V>>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next();
        self.guard(row)
    }
}

impl<K: Key + 'static, V: Value + 'static> DoubleEndedIterator for Range<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let row = self.rows.next_back();
        self.guard(row)
    }
}

/// The stored form of a key.
fn stored_key<K: Key>(key: &K::SelfType<'_>) -> Vec<u8> {
    let encoded = K::as_bytes(key);
    K::to_stored(encoded.as_ref()).into_owned()
}

/// Stored bounds of a range of keys.
pub(super) fn stored_bounds<'a, K, KR>(
    range: &(impl RangeBounds<KR> + 'a),
) -> (Bound<Vec<u8>>, Bound<Vec<u8>>)
where
    K: Key + 'static,
    KR: Borrow<K::SelfType<'a>> + 'a,
{
    let stored = |bound: Bound<&KR>| bound.map(|key| stored_key::<K>(key.borrow()));
    (stored(range.start_bound()), stored(range.end_bound()))
}
