//! Sets of integer keys with known shapes: how densely keys lie, and how that changes from place to place.
//!
//! Each set has the same keys on every machine: a seeded generator, and of floating point only what IEEE 754 defines to
//! the last bit (sums, products, quotients, roots), no function of a mathematical library.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// A set of keys, by name.
pub(super) struct Distribution {
    /// Its name.
    pub(super) name: &'static str,
    /// So many different keys, ascending.
    pub(super) keys: fn(count: u64) -> Vec<u64>,
}

/// All of them, in the order in which they are printed.
pub(super) const DISTRIBUTIONS: [Distribution; 9] = [
    Distribution {
        name: "dense",
        keys: dense,
    },
    Distribution {
        name: "gaps",
        keys: gaps,
    },
    Distribution {
        name: "random64",
        keys: random64,
    },
    Distribution {
        name: "clustered",
        keys: clustered,
    },
    Distribution {
        name: "skewed_u4",
        keys: skewed_u4,
    },
    Distribution {
        name: "zipf",
        keys: zipf,
    },
    Distribution {
        name: "log_uniform",
        keys: log_uniform,
    },
    Distribution {
        name: "pareto1_gaps",
        keys: pareto1_gaps,
    },
    Distribution {
        name: "random_clusters",
        keys: random_clusters,
    },
];

const SEED: u64 = 11;

/// Largest key that is drawn; larger ones are cut down to it.
const LARGEST: f64 = 9e18;

fn random() -> fastrand::Rng {
    fastrand::Rng::with_seed(SEED)
}

/// Uniform in (0, 1].
fn unit(random: &mut fastrand::Rng) -> f64 {
    const STEPS: u64 = 1 << 53;
    ((random.u64(..) >> 11) + 1) as f64 / STEPS as f64
}

/// 1, 2, 3 and so on.
fn dense(count: u64) -> Vec<u64> {
    (1..=count).collect()
}

/// One key in every ten numbers, anywhere among them.
fn gaps(count: u64) -> Vec<u64> {
    let mut random = random();
    (0..count).map(|idx| idx * 10 + random.u64(0..10)).collect()
}

/// Uniform in 63 bits.
fn random64(count: u64) -> Vec<u64> {
    let mut random = random();
    different(count, || random.u64(..) >> 1)
}

/// Runs of 1,000 consecutive keys that begin a million apart.
fn clustered(count: u64) -> Vec<u64> {
    (0..count)
        .map(|idx| idx / 1000 * 1_000_000 + idx % 1000)
        .collect()
}

/// Fourth powers: dense near 0, ever thinner above.
fn skewed_u4(count: u64) -> Vec<u64> {
    let mut random = random();
    different(count, || {
        let unit = unit(&mut random);
        (unit * unit * unit * unit * LARGEST) as u64
    })
}

/// A Pareto tail of index 0.5, which is a Zipf distribution of exponent 1.5: a solid run near 0, then far outliers.
fn zipf(count: u64) -> Vec<u64> {
    let mut random = random();
    different(count, || {
        let unit = unit(&mut random);
        (1.0 / (unit * unit)).min(LARGEST) as u64
    })
}

/// As many keys between 2^i and 2^(i+1) for each i below 63, but where there are not so many.
fn log_uniform(count: u64) -> Vec<u64> {
    let mut random = random();
    different(count, || {
        let exponent = random.u64(0..63);
        power_of_two(exponent, random.u32(..))
    })
}

/// 2 to the power of `whole` and `fraction` / 2^32, rounded down; `whole` is below 63.
fn power_of_two(whole: u64, fraction: u32) -> u64 {
    let mut power = (1_u64 << whole) as f64;
    let mut root = 2_f64;
    for bit in (0..32).rev() {
        root = root.sqrt();
        if fraction >> bit & 1 == 1 {
            power *= root;
        }
    }
    power as u64
}

/// Distances between neighbours with a Pareto tail of index 1: mostly 1, now and then enormous.
fn pareto1_gaps(count: u64) -> Vec<u64> {
    let mut random = random();
    let mut key = 0;
    (0..count)
        .map(|_| {
            key += (1.0 / unit(&mut random)) as u64;
            key
        })
        .collect()
}

/// A hundred runs of consecutive keys, each beginning anywhere in 63 bits.
fn random_clusters(count: u64) -> Vec<u64> {
    let mut random = random();
    let run = count.div_ceil(100);
    let mut next = 0;
    let mut left = 0;
    different(count, || {
        if left == 0 {
            next = random.u64(..) >> 1;
            left = run;
        }
        left -= 1;
        next += 1;
        next
    })
}

/// Draws until there are `count` different keys, and sorts them.
fn different(count: u64, mut draw: impl FnMut() -> u64) -> Vec<u64> {
    let mut seen = Seen::default();
    while seen.count < count {
        seen.insert(draw());
    }
    seen.into_ascending()
}

/// Keys below this have a bit each: the Zipf set draws its small keys hundreds of times.
const SMALL: u64 = 1 << 26;

/// A set of keys.
#[derive(Default)]
struct Seen {
    count: u64,
    small: Vec<u64>,
    /// With a fixed hash, because the keys are no stranger's.
    large: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
}

impl Seen {
    fn insert(&mut self, key: u64) {
        let fresh = if key < SMALL {
            self.insert_small(key)
        } else {
            self.large.insert(key)
        };
        self.count += u64::from(fresh);
    }

    fn insert_small(&mut self, key: u64) -> bool {
        let word = (key / 64) as usize;
        if self.small.len() <= word {
            self.small.resize(word + 1, 0);
        }
        let bit = 1 << (key % 64);
        let fresh = self.small[word] & bit == 0;
        self.small[word] |= bit;
        fresh
    }

    fn into_ascending(self) -> Vec<u64> {
        let bits = self.small.len() as u64 * 64;
        let is_set = |key: &u64| self.small[(key / 64) as usize] >> (key % 64) & 1 == 1;
        let mut keys: Vec<u64> = (0..bits).filter(is_set).collect();
        let below = keys.len();
        keys.extend(self.large);
        keys[below..].sort_unstable();
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_as_many_keys_as_asked_for_in_order() {
        for distribution in &DISTRIBUTIONS {
            let keys = (distribution.keys)(5_000);
            assert_eq!(keys.len(), 5_000, "{}", distribution.name);
            let ascends = keys.is_sorted_by(|left, right| left < right);
            assert!(ascends, "{}", distribution.name);
        }
    }

    #[test]
    fn powers_are_exact_at_whole_exponents_and_close_between_them() {
        assert_eq!(power_of_two(62, 0), 1 << 62);
        assert_eq!(power_of_two(0, u32::MAX), 1);
        // 2^40.5, by its square.
        let root = power_of_two(40, 1 << 31) as f64;
        assert!((root * root / 2_f64.powi(81) - 1.0).abs() < 1e-9);
    }

    /// Other keys would change figures without any change of the engine.
    #[test]
    fn the_keys_are_the_same_on_every_machine() {
        let sum = |keys: Vec<u64>| keys.iter().fold(0_u64, |sum, key| sum.rotate_left(5) ^ key);
        let sums: Vec<u64> = DISTRIBUTIONS
            .iter()
            .map(|distribution| sum((distribution.keys)(1_000)))
            .collect();
        let expected = [
            10407264646170196138,
            4583291560931867214,
            6087308687876363671,
            1478148524799665626,
            11629336087496598642,
            12640988871600889459,
            8933855613791265381,
            13126628989778142440,
            176646468497898756,
        ];
        assert_eq!(sums, expected);
    }
}
