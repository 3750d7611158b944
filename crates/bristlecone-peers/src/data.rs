//! The entries of every row: entry `i` is computed from `i` and a seed, so that every read can be checked.
//!
//! A key is random bytes; a value is random bytes that depend on the key's number and on a revision, which an update
//! raises. Nothing is remembered per entry but, where a row updates, its revision.

/// What the entries of one race look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Seed of keys and values.
    pub seed: u64,
    /// Bytes of a key.
    pub key_len: usize,
    /// Bytes of a value.
    pub value_len: usize,
    /// How keys follow from numbers.
    pub order: KeyOrder,
}

/// How the keys of entries 0, 1, 2, .. lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// Random bytes.
    Random,
    /// The number, big endian, after zeros: each key lies past the one before.
    Ascending,
    /// Runs of 256 neighbouring keys at random places.
    Clustered,
}

impl Shape {
    /// The entries of redb's benchmark: 24 random bytes and 150 random bytes.
    pub fn redb() -> Shape {
        Shape {
            seed: 3,
            key_len: 24,
            value_len: 150,
            order: KeyOrder::Random,
        }
    }

    /// Writes the key of entry `index` into `out`, which takes its length.
    pub fn key(&self, index: u64, out: &mut Vec<u8>) {
        out.clear();
        match self.order {
            KeyOrder::Random => fill(mix(self.seed ^ mix(index)), self.key_len, out),
            KeyOrder::Ascending => tail(index, self.key_len, out),
            KeyOrder::Clustered => {
                let run = mix(self.seed ^ mix(index / 256));
                fill(run, self.key_len.saturating_sub(2), out);
                out.extend_from_slice(&[(index % 256) as u8, 0x80][..self.key_len.min(2)]);
            }
        }
    }

    /// Writes the value of entry `index` at `revision` into `out`, which takes its length.
    pub fn value(&self, index: u64, revision: u32, out: &mut Vec<u8>) {
        out.clear();
        let start = mix(self.seed.rotate_left(32) ^ mix(index ^ (u64::from(revision) << 40)));
        fill(start, self.value_len, out);
    }
}

/// Appends `len` bytes that follow from `start`.
fn fill(start: u64, len: usize, out: &mut Vec<u8>) {
    let mut state = start;
    let end = out.len() + len;
    while out.len() < end {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = mix(state).to_le_bytes();
        out.extend_from_slice(&word[..(end - out.len()).min(8)]);
    }
}

/// Appends `index` as a big-endian number of `len` bytes (8 at least).
fn tail(index: u64, len: usize, out: &mut Vec<u8>) {
    out.resize(len.saturating_sub(8), 0);
    out.extend_from_slice(&index.to_be_bytes());
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): neighbouring numbers come out unlike each other.
pub fn mix(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn entries_repeat_and_keys_differ() {
        for order in [KeyOrder::Random, KeyOrder::Ascending, KeyOrder::Clustered] {
            let shape = Shape {
                order,
                ..Shape::redb()
            };
            let mut seen = BTreeSet::new();
            let (mut key, mut again) = (Vec::new(), Vec::new());
            for index in 0..10_000 {
                shape.key(index, &mut key);
                shape.key(index, &mut again);
                assert_eq!(key, again);
                assert_eq!(key.len(), 24);
                assert!(seen.insert(key.clone()), "{order:?} key {index} came twice");
            }
        }
    }

    #[test]
    fn a_revision_changes_the_value() {
        let shape = Shape::redb();
        let (mut old, mut new) = (Vec::new(), Vec::new());
        shape.value(7, 0, &mut old);
        shape.value(7, 1, &mut new);
        assert_eq!(old.len(), 150);
        assert_ne!(old, new);
    }
}
