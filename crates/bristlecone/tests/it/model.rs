//! Random programs against a `BTreeMap`: each transaction's reads, each commit's state and each check are compared.
//! Tiny budgets and pages force spills, evictions, splits and merges.

use std::collections::BTreeMap;

use bristlecone::backends::InMemoryBackend;
use bristlecone::{Database, ReadableDatabase, ReadableTable, TableDefinition};

const TABLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("t");

/// xorshift64: the same seed gives the same program.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn bytes(&mut self, len: u64) -> Vec<u8> {
        (0..len).map(|_| (self.next() & 0xff) as u8).collect()
    }
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn key(rng: &mut Rng) -> Vec<u8> {
    match rng.below(20) {
        0 => Vec::new(),
        1 => {
            let len = rng.below(9000);
            let mut key = vec![b'x'; len as usize];
            key.extend(rng.bytes(2));
            key
        }
        2..=9 => format!("common/prefix/{:05}", rng.below(3000)).into_bytes(),
        _ => rng.below(3000).to_be_bytes().to_vec(),
    }
}

fn value(rng: &mut Rng) -> Vec<u8> {
    let len = match rng.below(40) {
        0 => 0,
        1 => rng.below(100_000),
        2 => rng.below(9_000),
        _ => rng.below(200),
    };
    rng.bytes(len)
}

fn compare(table: &impl ReadableTable<&'static [u8], &'static [u8]>, model: &Model) {
    assert_eq!(table.len().unwrap(), model.len() as u64);
    let forward: Model = table
        .iter()
        .unwrap()
        .map(|row| {
            row.map(|(k, v)| (k.value().to_vec(), v.value().to_vec()))
                .unwrap()
        })
        .collect();
    assert!(forward == *model, "forward scan differs");
    let mut backward: Vec<Vec<u8>> = table
        .iter()
        .unwrap()
        .rev()
        .map(|row| row.unwrap().0.value().to_vec())
        .collect();
    backward.reverse();
    assert!(backward.iter().eq(model.keys()), "backward scan differs");
}

fn run(seed: u64, page: usize, cache: usize) {
    let mut rng = Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut builder = Database::builder();
    builder.set_cache_size(cache).set_page_size(page);
    let db = builder.create_with_backend(InMemoryBackend::new()).unwrap();
    let mut model = Model::new();
    let mut held = Vec::new();
    for _ in 0..20 {
        let txn = db.begin_write().unwrap();
        let mut draft = model.clone();
        {
            let mut table = txn.open_table(TABLE).unwrap();
            let delete_share = rng.below(80);
            for _ in 0..rng.below(600) {
                let key = key(&mut rng);
                if rng.below(100) < delete_share {
                    let old = table.remove(key.as_slice()).unwrap();
                    assert_eq!(old.map(|v| v.value().to_vec()), draft.remove(&key));
                } else {
                    let value = value(&mut rng);
                    let old = table.insert(key.as_slice(), value.as_slice()).unwrap();
                    assert_eq!(old.map(|v| v.value().to_vec()), draft.insert(key, value));
                }
            }
            if rng.below(3) == 0 {
                compare(&table, &draft);
            }
        }
        if rng.below(5) == 0 {
            txn.abort().unwrap();
        } else {
            txn.commit().unwrap();
            model = draft;
        }
        let read = db.begin_read().unwrap();
        if let Ok(table) = read.open_table(TABLE) {
            compare(&table, &model);
            held.push((table, model.clone()));
        }
        if held.len() > 3 {
            let (table, then) = held.remove(rng.below(4) as usize);
            compare(&table, &then);
        }
        let report = db.check(&mut |_| {}).unwrap();
        assert!(
            report.findings.is_empty(),
            "seed {seed}: {}",
            report.findings[0]
        );
    }
}

#[test]
fn random_programs_agree_with_a_map() {
    for seed in 0..6 {
        run(seed, 4096, 64 << 10);
        run(seed + 100, 8192, 1 << 20);
        run(seed + 200, 16384, 0);
    }
}
