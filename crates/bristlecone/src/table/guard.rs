//! Guards: typed access to bytes that a page, an extent or a copy keeps.

use std::fmt;
use std::marker::PhantomData;

use crate::error::{Corruption, Result};
use crate::txn::value_bytes::ValueBytes;
use crate::types::{Key, Value};

/// Access to a key or value that was read.
///
/// The bytes stay valid for as long as the guard lives, whatever happens to the table meanwhile.
pub struct AccessGuard<'a, V: Value + 'static> {
    bytes: ValueBytes,
    lent: PhantomData<(&'a (), V)>,
}

impl<V: Value + 'static> AccessGuard<'_, V> {
    /// The value.
    pub fn value(&self) -> V::SelfType<'_> {
        V::from_bytes(self.bytes.as_slice())
    }

    /// A guard of value bytes.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are no encoding of the type.
    pub(super) fn of_value(bytes: ValueBytes) -> Result<Self> {
        if !V::any_bytes_are_legal() && !V::validate(bytes.as_slice()) {
            let corruption = Corruption::new("stored value is no encoding of its type");
            return Err(corruption.expected(V::type_name().name()).into());
        }
        Ok(Self {
            bytes,
            lent: PhantomData,
        })
    }
}

impl<K: Key + 'static> AccessGuard<'_, K> {
    /// A guard of a stored key.
    ///
    /// # Errors
    /// As [`AccessGuard::of_value`].
    pub(super) fn of_stored_key(stored: Vec<u8>) -> Result<Self> {
        if !K::any_bytes_are_legal() && !K::validate_stored(&stored) {
            let corruption = Corruption::new("stored key is no encoding of its type");
            return Err(corruption.expected(K::type_name().name()).into());
        }
        let bytes = if K::stores_verbatim() {
            stored
        } else {
            K::from_stored(&stored).into_owned()
        };
        Ok(Self {
            bytes: ValueBytes::Owned(bytes),
            lent: PhantomData,
        })
    }
}

impl<V: Value + 'static> fmt::Debug for AccessGuard<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AccessGuard").field(&self.value()).finish()
    }
}
