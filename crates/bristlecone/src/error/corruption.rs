//! The finding that stored bytes are not what they must be.

use std::borrow::Cow;
use std::fmt::{self, Display};

/// Bytes of the database that contradict its format or its checksums.
///
/// Says what is wrong and, as far as the finder knows, where, what was expected, and what was found. Built in one
/// expression: `Corruption::new("page checksum").page(7).expected(a).found(b)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    // Boxed so that every `Result` of the read path stays small; corruption is rare, results are not.
    details: Box<Details>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    what: Cow<'static, str>,
    table: Option<String>,
    page_id: Option<u64>,
    offset: Option<u64>,
    expected: Option<String>,
    found: Option<String>,
}

impl Corruption {
    /// Starts a finding: `what` names the broken fact in a few lower-case words.
    #[cold]
    pub fn new(what: impl Into<Cow<'static, str>>) -> Self {
        Self {
            details: Box::new(Details {
                what: what.into(),
                table: None,
                page_id: None,
                offset: None,
                expected: None,
                found: None,
            }),
        }
    }

    /// Adds the id of the page the finding is about.
    #[must_use]
    pub fn page(mut self, id: u64) -> Self {
        self.details.page_id = Some(id);
        self
    }

    /// Adds the position of the broken byte: within the page if a page is named, else within the file.
    #[must_use]
    pub fn offset(mut self, byte: u64) -> Self {
        self.details.offset = Some(byte);
        self
    }

    /// Adds what the format demands there.
    #[must_use]
    pub fn expected(mut self, expected: impl Display) -> Self {
        self.details.expected = Some(expected.to_string());
        self
    }

    /// Adds what is there instead.
    #[must_use]
    pub fn found(mut self, found: impl Display) -> Self {
        self.details.found = Some(found.to_string());
        self
    }

    /// Adds the name of the table the bytes belong to.
    #[must_use]
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.details.table = Some(name.into());
        self
    }

    /// The broken fact.
    pub fn what(&self) -> &str {
        &self.details.what
    }

    /// The page, if one is known.
    pub fn page_id(&self) -> Option<u64> {
        self.details.page_id
    }

    /// The byte position, if it is known; see [`Corruption::offset`] for what it counts from.
    pub fn byte_offset(&self) -> Option<u64> {
        self.details.offset
    }

    /// What the format demands, if the finder could say.
    pub fn expected_text(&self) -> Option<&str> {
        self.details.expected.as_deref()
    }

    /// What was there, if the finder could say.
    pub fn found_text(&self) -> Option<&str> {
        self.details.found.as_deref()
    }

    /// The table, if one is known.
    pub fn table_name(&self) -> Option<&str> {
        self.details.table.as_deref()
    }
}

impl Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &*self.details;
        f.write_str(&details.what)?;
        if let Some(name) = &details.table {
            write!(f, " in table '{name}'")?;
        }
        if let Some(id) = details.page_id {
            write!(f, " at page {id}")?;
        }
        if let Some(byte) = details.offset {
            write!(f, " at byte {byte}")?;
        }
        match (&details.expected, &details.found) {
            (Some(expected), Some(found)) => write!(f, ": expected {expected}, found {found}"),
            (Some(expected), None) => write!(f, ": expected {expected}"),
            (None, Some(found)) => write!(f, ": found {found}"),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for Corruption {}

impl From<String> for Corruption {
    fn from(what: String) -> Self {
        Self::new(what)
    }
}

impl From<&'static str> for Corruption {
    fn from(what: &'static str) -> Self {
        Self::new(what)
    }
}
