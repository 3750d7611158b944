//! Whether what the engine returned agrees with the model.

use bristlecone::{Database, Error, ReadTransaction, ReadableDatabase};

use crate::content::{Key, Recipe, TableId};
use crate::model::{History, Version};
use crate::store::{self, Query};

/// Why a step did not go as planned.
pub(crate) enum Trouble {
    /// The engine reported an error.
    Engine(Box<Error>),
    /// The engine contradicts the model.
    Wrong(String),
}

impl<E: Into<Error>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Trouble::Engine(Box::new(error.into()))
    }
}

/// Demands that the old value that a write returned is the model's.
pub(crate) fn agree_on_old(
    table: TableId,
    key: &Key,
    wanted: Option<Recipe>,
    found: Option<Vec<u8>>,
) -> Result<(), Trouble> {
    if wanted.map(|recipe| recipe.bytes(table)) == found {
        return Ok(());
    }
    let len = |bytes: Vec<u8>| bytes.len();
    let (wanted, found) = (wanted.map(|recipe| recipe.len), found.map(len));
    Err(Trouble::Wrong(format!(
        "the old value of {key:?} has {found:?} bytes, the model says {wanted:?}"
    )))
}

/// Demands that the rows of a query are the model's.
pub(crate) fn agree_on_found(
    table: TableId,
    query: Query<'_>,
    version: &Version,
    found: &[(Key, Vec<u8>)],
) -> Result<(), Trouble> {
    let wanted: Vec<(Key, Recipe)> = match query {
        Query::Key(key) => version
            .get(table, key)
            .map(|recipe| (key.clone(), recipe))
            .into_iter()
            .collect(),
        Query::Range { from, to, .. } if from >= to => Vec::new(),
        Query::Range {
            from,
            to,
            count,
            is_reverse,
        } => {
            let rows = version
                .rows(table)
                .into_iter()
                .flat_map(|rows| rows.range(from..to));
            let rows = rows.map(|(key, recipe)| (key.clone(), *recipe));
            if is_reverse {
                rows.rev().take(count).collect()
            } else {
                rows.take(count).collect()
            }
        }
    };
    let is_same = wanted.len() == found.len()
        && wanted
            .iter()
            .zip(found)
            .all(|((wanted, recipe), (key, value))| wanted == key && recipe.bytes(table) == *value);
    if is_same {
        return Ok(());
    }
    let keys = found.iter().map(|(key, _)| key).take(5).collect::<Vec<_>>();
    Err(Trouble::Wrong(format!(
        "{} rows found, the model has {}; the first are {keys:?}",
        found.len(),
        wanted.len()
    )))
}

/// Says which of the candidate versions the database shows, or how it differs from each.
pub(crate) fn identify(
    database: &Database,
    history: &History,
    candidates: impl IntoIterator<Item = usize>,
) -> Result<Result<usize, String>, Error> {
    let txn = database.begin_read()?;
    let mut differences = Vec::new();
    for idx in candidates {
        match version_difference(&txn, history.version(idx))? {
            None => return Ok(Ok(idx)),
            Some(what) => differences.push(format!("not version {idx}: {what}")),
        }
    }
    differences.truncate(4);
    Ok(Err(differences.join("; ")))
}

/// Compares a snapshot with a version, all tables and all rows; returns the first difference.
pub(crate) fn version_difference(
    txn: &ReadTransaction,
    version: &Version,
) -> Result<Option<String>, Error> {
    let names = store::table_names(txn)?;
    let mut wanted: Vec<&str> = TableId::ALL
        .into_iter()
        .filter(|table| version.rows(*table).is_some())
        .map(TableId::name)
        .collect();
    wanted.sort_unstable();
    if names != wanted {
        return Ok(Some(format!(
            "the tables are {names:?}, the model has {wanted:?}"
        )));
    }
    for table in TableId::ALL {
        if let Some(what) = store::difference(txn, table, version.rows(table))? {
            return Ok(Some(format!("table {}: {what}", table.name())));
        }
    }
    Ok(None)
}
