//! Keys and values of programs: small recipes that name bytes without holding them.
//!
//! A key is chosen by number out of a key space, so that removals and overwrites meet what was inserted; a value is a
//! seed and a length, so that the model keeps thousands of versions of large values for a few bytes each.

use std::fmt;

use fastrand::Rng;

/// The longest key of a program.
pub const KEY_BYTES_MAX: usize = 20_000;

/// The tables that programs use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableId {
    /// `&[u8]` to `&[u8]`, some keys long.
    Bytes,
    /// `u64` to `&[u8]`, some values large.
    Numbers,
    /// `(&str, u32)` to `&str`: a composite key whose order is not that of its bytes.
    Pairs,
    /// `&[u8]` to `&[u8]`, often dropped.
    Spare,
}

impl TableId {
    /// All of them.
    pub const ALL: [TableId; 4] = [
        TableId::Bytes,
        TableId::Numbers,
        TableId::Pairs,
        TableId::Spare,
    ];

    /// The name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TableId::Bytes => "bytes",
            TableId::Numbers => "numbers",
            TableId::Pairs => "pairs",
            TableId::Spare => "spare",
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            TableId::Bytes => 0,
            TableId::Numbers => 1,
            TableId::Pairs => 2,
            TableId::Spare => 3,
        }
    }
}

/// A key; a table holds keys of one variant, and the order of that variant is the table's.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Of [`TableId::Bytes`] and [`TableId::Spare`].
    Bytes(Vec<u8>),
    /// Of [`TableId::Numbers`].
    Number(u64),
    /// Of [`TableId::Pairs`].
    Pair(String, u32),
}

impl Key {
    /// The key of `table` with this number.
    #[must_use]
    pub fn numbered(table: TableId, number: u32) -> Self {
        match table {
            TableId::Bytes | TableId::Spare => Key::Bytes(bytes_key(number)),
            TableId::Numbers => Key::Number(number_key(number)),
            TableId::Pairs => Key::Pair(format!("group/{:02}", number / 16 % 40), number),
        }
    }
}

/// Dense runs that share a prefix, scattered short keys, the empty key, and one in 37 long.
fn bytes_key(number: u32) -> Vec<u8> {
    let tail = number.to_be_bytes();
    match number {
        0 => Vec::new(),
        _ if number % 37 == 5 => {
            let mut rng = Rng::with_seed(u64::from(number));
            let len = rng.usize(900..KEY_BYTES_MAX - tail.len());
            let filler = b'a' + u8::try_from(number % 3).unwrap_or(0);
            let mut key = vec![filler; len];
            key.extend_from_slice(&tail);
            key
        }
        _ if number.is_multiple_of(3) => [b"customer/0000/order/".as_slice(), &tail].concat(),
        _ if number % 3 == 1 => number.wrapping_mul(0x9E37_79B1).to_be_bytes().to_vec(),
        _ => tail.to_vec(),
    }
}

/// A dense run at both ends and scattered numbers between.
fn number_key(number: u32) -> u64 {
    let wide = u64::from(number);
    match number % 4 {
        0 | 1 => wide,
        2 => wide.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        _ => u64::MAX - wide,
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Bytes(bytes) if bytes.len() > 24 => {
                write!(
                    f,
                    "{} bytes \"{}..\"",
                    bytes.len(),
                    bytes[..24].escape_ascii()
                )
            }
            Key::Bytes(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Key::Number(number) => write!(f, "{number}"),
            Key::Pair(name, number) => write!(f, "({name:?}, {number})"),
        }
    }
}

/// A value: so many bytes drawn from a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    /// What the bytes are drawn from.
    pub seed: u64,
    /// How many there are.
    pub len: u32,
}

impl Recipe {
    /// The bytes; letters only for a table of text.
    #[must_use]
    pub fn bytes(self, table: TableId) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(self.len).unwrap_or(0)];
        Rng::with_seed(self.seed).fill(&mut bytes);
        if table == TableId::Pairs {
            for byte in &mut bytes {
                *byte = b'a' + *byte % 26;
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_few_kinds_and_within_their_limit() {
        let keys: Vec<Vec<u8>> = (0..4000).map(bytes_key).collect();
        assert!(keys.iter().any(Vec::is_empty));
        assert!(keys.iter().any(|key| key.len() > 15_000));
        assert!(keys.iter().all(|key| key.len() <= KEY_BYTES_MAX));
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert!(distinct.len() > 3900);
    }

    #[test]
    fn values_repeat_with_their_recipe() {
        let recipe = Recipe { seed: 4, len: 100 };
        assert_eq!(recipe.bytes(TableId::Bytes), recipe.bytes(TableId::Spare));
        let text = recipe.bytes(TableId::Pairs);
        assert!(text.iter().all(u8::is_ascii_lowercase) && text.len() == 100);
    }

    #[test]
    fn tables_know_their_place() {
        for (index, table) in TableId::ALL.into_iter().enumerate() {
            assert_eq!(table.index(), index);
        }
    }
}
