//! The operation language and the generator of programs.
//!
//! A program is a flat list; an operation that needs a write transaction begins one if none is open, so that any
//! sublist of a program is a program, too, and a failing one can be cut down by hand.

use fastrand::Rng;

use crate::content::{Recipe, TableId};

/// One step of a program. Keys are numbers; see [`Key::numbered`](crate::Key::numbered).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Insert one row.
    Insert {
        /// Where.
        table: TableId,
        /// Which key.
        key: u32,
        /// Which value.
        value: Recipe,
    },
    /// Insert `count` rows with keys `first`, `first + stride`, ..; their values have growing seeds.
    Burst {
        /// Where.
        table: TableId,
        /// The first key.
        first: u32,
        /// The distance of the keys.
        stride: u32,
        /// How many.
        count: u32,
        /// The first value.
        value: Recipe,
    },
    /// Remove one row, whether it is there or not.
    Remove {
        /// Where.
        table: TableId,
        /// Which key.
        key: u32,
    },
    /// Remove up to `count` rows in key order, from `from` on.
    RemoveSpan {
        /// Where.
        table: TableId,
        /// The key to begin at.
        from: u32,
        /// How many at most.
        count: u32,
    },
    /// Look one key up: in the open write transaction, or else in a fresh snapshot.
    Get {
        /// Where.
        table: TableId,
        /// Which key.
        key: u32,
    },
    /// Read up to `count` rows between two keys, from either end.
    Scan {
        /// Where.
        table: TableId,
        /// The lower key, included.
        from: u32,
        /// The upper key, excluded; one below `from` makes an empty range.
        to: u32,
        /// How many rows at most.
        count: u32,
        /// From the upper end.
        is_reverse: bool,
    },
    /// Drop a table.
    DropTable {
        /// Which.
        table: TableId,
    },
    /// Commit the open write transaction.
    Commit,
    /// Abort it, by the method or by dropping it.
    Abort {
        /// Drop it.
        by_drop: bool,
    },
    /// Open a reader and keep it.
    OpenReader,
    /// Verify all of one kept reader.
    CheckReader {
        /// Which, modulo their number.
        reader: u32,
    },
    /// Verify one kept reader and close it.
    CloseReader {
        /// Which, modulo their number.
        reader: u32,
    },
    /// Close the database and open it again.
    Reopen,
    /// Check the integrity of the database; closes the readers first.
    Check,
}

/// The character of a program: what it does much of. Drawn once for each, so that some programs never remove and
/// others do little else.
#[derive(Debug, Clone)]
struct Character {
    key_space: u32,
    burst_max: u32,
    value_bytes_max: u32,
    percent_large: u8,
    /// Operations in a transaction, about.
    transaction_len: u32,
    /// In 256 parts, for each quarter of the program.
    removal: [u8; 4],
    drops_tables: bool,
}

impl Character {
    fn draw(rng: &mut Rng) -> Self {
        Self {
            key_space: [12, 80, 500, 3000][rng.usize(..4)],
            burst_max: [3, 20, 120][rng.usize(..3)],
            value_bytes_max: [24, 120, 900, 5000][rng.usize(..4)],
            percent_large: [0, 2, 10][rng.usize(..3)],
            transaction_len: [2, 6, 20, 60][rng.usize(..4)],
            removal: std::array::from_fn(|_| [10, 60, 200][rng.usize(..3)]),
            drops_tables: rng.bool(),
        }
    }

    fn value(&self, table: TableId, rng: &mut Rng) -> Recipe {
        let is_large = table == TableId::Numbers && rng.u8(..100) < self.percent_large;
        let len = if is_large {
            rng.u32(5000..=100_000)
        } else {
            rng.u32(..=self.value_bytes_max)
        };
        Recipe {
            seed: rng.u64(..),
            len,
        }
    }

    fn key(&self, rng: &mut Rng) -> u32 {
        rng.u32(..self.key_space)
    }
}

/// Draws a program of `op_count` operations. The same seed gives the same program.
#[must_use]
pub fn generate(seed: u64, op_count: usize) -> Vec<Op> {
    let mut rng = Rng::with_seed(seed);
    let character = Character::draw(&mut rng);
    generate_as(&character, op_count, &mut rng)
}

/// Draws a program that writes little, so that a crash at every place of it takes seconds.
#[must_use]
pub fn generate_light(seed: u64, op_count: usize) -> Vec<Op> {
    let mut rng = Rng::with_seed(seed);
    let mut character = Character::draw(&mut rng);
    character.burst_max = character.burst_max.min(8);
    character.value_bytes_max = character.value_bytes_max.min(900);
    character.percent_large = character.percent_large.min(2);
    generate_as(&character, op_count, &mut rng)
}

fn generate_as(character: &Character, op_count: usize, rng: &mut Rng) -> Vec<Op> {
    let mut program = Vec::with_capacity(op_count);
    for idx in 0..op_count {
        let quarter = (idx * 4 / op_count.max(1)).min(3);
        program.push(draw_op(character, character.removal[quarter], rng));
    }
    program
}

fn draw_op(character: &Character, removal: u8, rng: &mut Rng) -> Op {
    // One in this many operations ends the transaction.
    if rng.u32(..character.transaction_len) == 0 {
        return if rng.u8(..6) == 0 {
            Op::Abort {
                by_drop: rng.bool(),
            }
        } else {
            Op::Commit
        };
    }
    match rng.u8(..100) {
        0..=14 => draw_read(character, rng),
        15..=29 => draw_reader(rng),
        30 if character.drops_tables => Op::DropTable {
            table: TableId::ALL[rng.usize(..4)],
        },
        31 if character.drops_tables => Op::DropTable {
            table: TableId::Spare,
        },
        32 if rng.bool() => Op::Reopen,
        33 if rng.u8(..4) == 0 => Op::Check,
        _ if rng.u8(..) < removal => draw_removal(character, rng),
        _ => draw_insertion(character, rng),
    }
}

fn draw_read(character: &Character, rng: &mut Rng) -> Op {
    let table = TableId::ALL[rng.usize(..4)];
    if rng.bool() {
        return Op::Get {
            table,
            key: character.key(rng),
        };
    }
    Op::Scan {
        table,
        from: character.key(rng),
        to: character.key(rng),
        count: rng.u32(..60),
        is_reverse: rng.bool(),
    }
}

fn draw_reader(rng: &mut Rng) -> Op {
    let reader = rng.u32(..);
    match rng.u8(..3) {
        0 => Op::OpenReader,
        1 => Op::CheckReader { reader },
        _ => Op::CloseReader { reader },
    }
}

fn draw_removal(character: &Character, rng: &mut Rng) -> Op {
    let table = TableId::ALL[rng.usize(..4)];
    if rng.bool() {
        return Op::Remove {
            table,
            key: character.key(rng),
        };
    }
    Op::RemoveSpan {
        table,
        from: character.key(rng),
        count: rng.u32(1..=character.burst_max * 2),
    }
}

fn draw_insertion(character: &Character, rng: &mut Rng) -> Op {
    let table = TableId::ALL[rng.usize(..4)];
    let value = character.value(table, rng);
    let key = character.key(rng);
    if rng.u8(..3) > 0 {
        return Op::Insert { table, key, value };
    }
    let count = rng.u32(1..=character.burst_max);
    // A burst of large values alone would be all that a program does.
    let value = Recipe {
        len: value.len.min(character.value_bytes_max),
        ..value
    };
    Op::Burst {
        table,
        first: key,
        stride: rng.u32(1..4),
        count,
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_repeat_with_their_seed() {
        assert_eq!(generate(1, 300), generate(1, 300));
        assert_ne!(generate(1, 300), generate(2, 300));
        assert_eq!(generate(1, 300).len(), 300);
        assert!(generate(1, 0).is_empty());
    }

    #[test]
    fn every_operation_occurs_over_some_seeds() {
        let programs: Vec<Op> = (0..40).flat_map(|seed| generate(seed, 400)).collect();
        let kinds: std::collections::HashSet<_> =
            programs.iter().map(std::mem::discriminant).collect();
        assert_eq!(kinds.len(), 14);
        let is_large = |op: &Op| matches!(op, Op::Insert { value, .. } if value.len > 50_000);
        assert!(programs.iter().any(is_large));
    }
}
