//! The engine, as the tool uses it: nothing else in the tool calls the library.

mod failed;
mod read;
mod schema;
mod verify;
mod write;

pub(crate) use bristlecone::{FILE_FORMAT, KeyOrder, Shape, TableSchema};
pub(crate) use read::{FileStats, ReadTable, Reader, Rows, TreeStats};
pub(crate) use schema::{Kind, bytes_schema, decode, encode, is_loadable, key_type, value_type};
pub(crate) use verify::{Damage, Verdict, check};
pub(crate) use write::{Batch, Writer};

use bristlecone::Builder;

/// A builder with the user's memory budget, if one was given.
fn builder(cache: Option<usize>) -> Builder {
    let mut builder = Builder::new();
    if let Some(bytes) = cache {
        builder.set_cache_size(bytes);
    }
    builder
}
