//! The entries of every row: keys are computed from a number and a seed, values from a key, so that every read can be
//! checked.
//!
//! A value depends on its key and on a revision, which an update raises, and carries the revision in its first four
//! bytes, masked by the key. So an entry that a scan meets can be checked by itself, and one that a get asks for must
//! also have the revision that was written last. Nothing is compressible: all bytes look random.

/// What the entries of one course look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Seed of the keys.
    pub seed: u64,
    /// Bytes of a key.
    pub key_len: usize,
    /// Bytes of a value, [`VALUE_LEN_MIN`] at least.
    pub value_len: usize,
    /// How keys follow from numbers.
    pub order: KeyOrder,
}

/// Bytes of the shortest value that can carry its revision and still differ from others.
pub const VALUE_LEN_MIN: usize = 8;

/// Bytes of the revision at a value's start.
const STAMP_LEN: usize = 4;

/// Step of SplitMix64: the golden ratio in 64 bits.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

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
                let place = [(index % 256) as u8, 0x80];
                out.extend_from_slice(&place[..self.key_len.min(2)]);
            }
        }
    }

    /// Which of `count` loaded entries the `i`-th random access goes to.
    ///
    /// The order of loading is random already where keys are, and redb's benchmark reads in that order.
    pub fn pick(&self, i: u64, count: u64) -> u64 {
        match self.order {
            KeyOrder::Random => i % count,
            KeyOrder::Ascending | KeyOrder::Clustered => mix(i ^ self.seed) % count,
        }
    }

    /// Writes the value of `key` at `revision` into `out`, which takes its length.
    pub fn value(&self, key: &[u8], revision: u32, out: &mut Vec<u8>) {
        let hash = hash(key);
        out.clear();
        fill(body(hash, revision), self.value_len, out);
        out[..STAMP_LEN].copy_from_slice(&stamp(hash, revision));
    }

    /// The revision of a value that belongs to `key`; `None` if it is not one of this shape.
    pub fn revision(&self, key: &[u8], value: &[u8]) -> Option<u32> {
        if value.len() != self.value_len {
            return None;
        }
        let hash = hash(key);
        let (mark, _) = value.split_first_chunk::<STAMP_LEN>()?;
        let revision = u32::from_le_bytes(*mark) ^ hash as u32;
        let mut state = body(hash, revision);
        let (words, rest) = value.as_chunks::<8>();
        // The stamp took the place of the first half of the first word.
        let mut differing = (next(&mut state) ^ u64::from_le_bytes(words[0])) >> (8 * STAMP_LEN);
        for word in &words[1..] {
            differing |= next(&mut state) ^ u64::from_le_bytes(*word);
        }
        let last = next(&mut state).to_le_bytes();
        (differing == 0 && *rest == last[..rest.len()]).then_some(revision)
    }
}

/// First bytes of a value.
fn stamp(hash: u64, revision: u32) -> [u8; STAMP_LEN] {
    (hash as u32 ^ revision).to_le_bytes()
}

/// Where the bytes of a value start from.
fn body(hash: u64, revision: u32) -> u64 {
    mix(hash ^ (u64::from(revision) << 32))
}

/// Mixes all bytes of a key into one number.
fn hash(key: &[u8]) -> u64 {
    let (words, rest) = key.as_chunks::<8>();
    let mut state = key.len() as u64;
    for word in words {
        state = mix(state ^ u64::from_le_bytes(*word)).wrapping_add(STEP);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(state ^ u64::from_le_bytes(last))
}

/// The next number of SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(STEP);
    mix(*state)
}

/// Appends `len` bytes that follow from `start`.
pub fn fill(start: u64, len: usize, out: &mut Vec<u8>) {
    let mut state = start;
    let begin = out.len();
    out.resize(begin + len, 0);
    let (words, rest) = out[begin..].as_chunks_mut::<8>();
    for word in words {
        *word = next(&mut state).to_le_bytes();
    }
    let last = next(&mut state).to_le_bytes();
    rest.copy_from_slice(&last[..rest.len()]);
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
    fn keys_repeat_and_differ() {
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
    fn a_value_tells_its_revision_and_no_other_value_passes_for_it() {
        for value_len in [8, 12, 16, 150, 1000] {
            let shape = Shape {
                value_len,
                ..Shape::redb()
            };
            let (mut key, mut other, mut value) = (Vec::new(), Vec::new(), Vec::new());
            shape.key(7, &mut key);
            shape.key(8, &mut other);
            for revision in [0, 1, 77] {
                shape.value(&key, revision, &mut value);
                assert_eq!(value.len(), value_len);
                assert_eq!(shape.revision(&key, &value), Some(revision));
                assert_eq!(shape.revision(&other, &value), None);
                for at in STAMP_LEN..value_len {
                    value[at] ^= 1;
                    assert_eq!(shape.revision(&key, &value), None, "byte {at}");
                    value[at] ^= 1;
                }
                assert_eq!(shape.revision(&key, &value[1..]), None);
            }
        }
    }
}
