//! Variants of a course: the same work on entries that look otherwise.

use serde::{Deserialize, Serialize};

use crate::data::{KeyOrder, Shape};

/// How a course departs from its plain form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Not at all.
    Plain,
    /// Keys of another seed.
    Seed,
    /// Keys in runs of neighbours.
    Clustered,
    /// Keys that ascend.
    Ascending,
    /// Values of 16 bytes.
    Values16,
    /// Values of 1,000 bytes.
    Values1000,
    /// A table that holds entries already.
    Preloaded,
}

impl Variant {
    /// All of them.
    pub const ALL: &'static [Variant] = &[
        Variant::Plain,
        Variant::Seed,
        Variant::Clustered,
        Variant::Ascending,
        Variant::Values16,
        Variant::Values1000,
        Variant::Preloaded,
    ];

    /// Those of a course that determines keys and values itself.
    pub const OF_FIXED_ENTRIES: &'static [Variant] = &[Variant::Plain, Variant::Preloaded];

    /// Those of a course that determines the order of keys and the length of values itself.
    pub const OF_FIXED_SHAPE: &'static [Variant] =
        &[Variant::Plain, Variant::Seed, Variant::Preloaded];

    /// Those of a course that determines the order of keys itself.
    pub const OF_FIXED_ORDER: &'static [Variant] = &[
        Variant::Plain,
        Variant::Values16,
        Variant::Values1000,
        Variant::Preloaded,
    ];

    /// Those of a course that determines the length of values itself.
    pub const OF_FIXED_VALUES: &'static [Variant] = &[
        Variant::Plain,
        Variant::Seed,
        Variant::Clustered,
        Variant::Ascending,
        Variant::Preloaded,
    ];

    /// A course's name in this variant.
    pub fn of(self, course: &str) -> String {
        match self {
            Variant::Plain => course.to_owned(),
            Variant::Seed => format!("{course}+seed"),
            Variant::Clustered => format!("{course}+clustered"),
            Variant::Ascending => format!("{course}+ascending"),
            Variant::Values16 => format!("{course}+values16"),
            Variant::Values1000 => format!("{course}+values1000"),
            Variant::Preloaded => format!("{course}+preloaded"),
        }
    }

    /// The entries of the course.
    pub fn shape(self) -> Shape {
        let plain = Shape::redb();
        match self {
            Variant::Plain | Variant::Preloaded => plain,
            Variant::Seed => Shape {
                seed: 20_260_101,
                ..plain
            },
            Variant::Clustered => Shape {
                order: KeyOrder::Clustered,
                ..plain
            },
            Variant::Ascending => Shape {
                order: KeyOrder::Ascending,
                ..plain
            },
            Variant::Values16 => Shape {
                value_len: 16,
                ..plain
            },
            Variant::Values1000 => Shape {
                value_len: 1000,
                ..plain
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_a_name_and_only_the_plain_and_the_preloaded_share_entries() {
        for (place, one) in Variant::ALL.iter().enumerate() {
            for other in &Variant::ALL[..place] {
                assert_ne!(one.of("course"), other.of("course"));
                let alike = one.shape() == other.shape();
                assert_eq!(
                    alike,
                    (*other, *one) == (Variant::Plain, Variant::Preloaded)
                );
            }
        }
    }
}
