//! YCSB, workloads A to F, in its authors' order: load, A, B, C, F, D, E.
//!
//! Records of 1,000 bytes (ten fields of a hundred, stored as one value, so that an update writes the whole record).
//! Requests are zipfian and scrambled, in D latest first; scans are of 1 to 100 records. Each operation is a transaction
//! of its own. Writes are not synced: YCSB does not ask for it.
//!
//! # Source
//! Cooper, Silberstein, Tam, Ramakrishnan, Sears: "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010, table 2.

use anyhow::Result;
use fastrand::Rng;

use super::ending::Wrong;
use super::entries::{Entries, put_all};
use super::plan::{Plan, share};
use super::track::{Outcome, Track};
use super::zipf::Zipf;
use super::{Course, Variant};
use crate::data::mix;
use crate::engine::{Durability, Engine, Reader};

/// YCSB.
pub(super) const COURSE: Course = Course {
    name: "ycsb",
    about: "YCSB on n/10 records of 1,000 bytes; each operation its own transaction, writes not synced",
    variants: Variant::OF_FIXED_VALUES,
    rows,
    run,
};

const RECORD_LEN: usize = 1000;
const SCAN_MAX: u64 = 100;

/// A workload: its row, and the share of each kind of operation in a hundred.
struct Mix {
    row: &'static str,
    what: &'static str,
    reads: u64,
    updates: u64,
    inserts: u64,
    scans: u64,
    latest: bool,
}

/// What is not read, updated, inserted or scanned is read, changed and written back.
const MIXES: [Mix; 6] = [
    Mix::new("a", "operations: 50 % reads, 50 % updates").of(50, 50, 0, 0),
    Mix::new("b", "operations: 95 % reads, 5 % updates").of(95, 5, 0, 0),
    Mix::new("c", "operations: reads").of(100, 0, 0, 0),
    Mix::new("f", "operations: 50 % reads, 50 % read-modify-writes").of(50, 0, 0, 0),
    Mix::new("d", "operations: 95 % reads of the latest, 5 % inserts")
        .of(95, 0, 5, 0)
        .latest(),
    Mix::new("e", "operations: 95 % scans, 5 % inserts").of(0, 0, 5, 95),
];

impl Mix {
    const fn new(row: &'static str, what: &'static str) -> Mix {
        Mix {
            row,
            what,
            reads: 0,
            updates: 0,
            inserts: 0,
            scans: 0,
            latest: false,
        }
    }

    const fn of(self, reads: u64, updates: u64, inserts: u64, scans: u64) -> Mix {
        Mix {
            reads,
            updates,
            inserts,
            scans,
            ..self
        }
    }

    const fn latest(self) -> Mix {
        Mix {
            latest: true,
            ..self
        }
    }
}

fn rows(n: u64) -> Vec<Plan> {
    let count = share(n, 10, 100);
    let mut plans = vec![Plan::writes(
        "load",
        count,
        "records in one synced transaction",
    )];
    plans.extend(MIXES.iter().map(|mix| match mix.reads {
        100 => Plan::reads(mix.row, count, mix.what),
        _ => Plan::writes(mix.row, count, mix.what),
    }));
    plans
}

fn run(track: &mut Track<'_>) -> Result<()> {
    track.shape.value_len = RECORD_LEN;
    let (shape, count) = (track.shape, track.ops("load"));
    track.create(count / 4)?;
    let load = |engine: &dyn Engine| put_all(engine, shape, 0..count, Durability::Synced);
    if track.run("load", |stint| load(stint.engine))? == Outcome::Skipped {
        track.prepare(|engine| load(engine))?;
    }
    let mut client = Client::new(count, shape.seed);
    let mut entries = Entries::new(shape);
    for mix in &MIXES {
        let ops = client.draw(mix, track.ops(mix.row));
        let outcome = track.run(mix.row, |stint| {
            ops.iter()
                .try_for_each(|op| op.run(stint.engine, &mut entries))
        })?;
        if outcome == Outcome::Skipped {
            // The writes alone, so that the next workload finds what it expects.
            track.prepare(|engine| {
                engine.write(Durability::Synced, &mut |writer| {
                    ops.iter()
                        .filter_map(Op::written)
                        .try_for_each(|(index, revision)| entries.put(writer, index, revision))
                })
            })?;
        }
    }
    Ok(())
}

/// Draws operations; knows the revision of every record.
struct Client {
    rng: Rng,
    zipf: Zipf,
    revisions: Vec<u32>,
}

/// One operation, with the revision that it must find or is to leave.
enum Op {
    Read { index: u64, revision: u32 },
    Write { index: u64, revision: u32 },
    Modify { index: u64, found: u32 },
    Scan { index: u64, limit: u64 },
}

impl Client {
    fn new(count: u64, seed: u64) -> Client {
        Client {
            rng: Rng::with_seed(seed),
            zipf: Zipf::new(count),
            revisions: vec![0; count as usize],
        }
    }

    fn draw(&mut self, mix: &Mix, count: u64) -> Vec<Op> {
        (0..count).map(|_| self.draw_one(mix)).collect()
    }

    fn draw_one(&mut self, mix: &Mix) -> Op {
        let kind = self.rng.u64(0..100);
        let index = self.index(mix.latest);
        let revision = &mut self.revisions[index as usize];
        if kind < mix.reads {
            Op::Read {
                index,
                revision: *revision,
            }
        } else if kind < mix.reads + mix.updates {
            *revision += 1;
            Op::Write {
                index,
                revision: *revision,
            }
        } else if kind < mix.reads + mix.updates + mix.inserts {
            let index = self.revisions.len() as u64;
            self.revisions.push(0);
            self.zipf.grow(index + 1);
            Op::Write { index, revision: 0 }
        } else if kind < mix.reads + mix.updates + mix.inserts + mix.scans {
            Op::Scan {
                index,
                limit: self.rng.u64(1..=SCAN_MAX),
            }
        } else {
            let found = *revision;
            *revision += 1;
            Op::Modify { index, found }
        }
    }

    /// The record of a request: by age, or anywhere.
    fn index(&mut self, latest: bool) -> u64 {
        let rank = self.zipf.draw(&mut self.rng);
        let count = self.revisions.len() as u64;
        if latest {
            count - 1 - rank
        } else {
            mix(rank) % count
        }
    }
}

impl Op {
    fn run(&self, engine: &dyn Engine, entries: &mut Entries) -> Result<()> {
        match *self {
            Op::Read { index, revision } => {
                engine.read(&mut |reader| entries.get(reader, index, revision))
            }
            Op::Write { index, revision } => engine.write(Durability::Unsynced, &mut |writer| {
                entries.put(writer, index, revision)
            }),
            Op::Modify { index, found } => engine.write(Durability::Unsynced, &mut |writer| {
                entries.get(writer, index, found)?;
                entries.put(writer, index, found + 1)
            }),
            Op::Scan { index, limit } => {
                engine.read(&mut |reader| scan(reader, entries, index, limit))
            }
        }
    }

    /// The record that it writes, and at which revision.
    fn written(&self) -> Option<(u64, u32)> {
        match *self {
            Op::Write { index, revision } => Some((index, revision)),
            Op::Modify { index, found } => Some((index, found + 1)),
            Op::Read { .. } | Op::Scan { .. } => None,
        }
    }
}

/// Reads up to `limit` records from one on; fewer only at the table's end.
fn scan(reader: &mut dyn Reader, entries: &mut Entries, index: u64, limit: u64) -> Result<()> {
    let shape = entries.shape;
    let from = entries.key(index);
    let mut last: Vec<u8> = Vec::new();
    let (mut steps, mut right) = (0, true);
    reader.scan(Some(from), &mut |key, value| {
        right &= if steps == 0 {
            key == from
        } else {
            key > last.as_slice()
        };
        right &= shape.revision(key, value).is_some();
        last.clear();
        last.extend_from_slice(key);
        steps += 1;
        steps < limit
    })?;
    if steps < limit {
        reader.scan_back(None, &mut |key, _| {
            right &= key == last;
            false
        })?;
    }
    match right && steps > 0 {
        true => Ok(()),
        false => Err(Wrong::error(format!(
            "a scan from record {index} met a wrong one"
        ))),
    }
}
