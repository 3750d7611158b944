//! Every adapter against a `BTreeMap`: the same random operations on both, in transactions, over a reopening; then
//! threads that read while others write. A race whose adapter cheats or errs is worth nothing.

use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};
use std::path::Path;

use anyhow::Result;
use bristlecone_peers::engine::{
    Contender, Durability, End, Engine, Options, Reader, Writer, contenders,
};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

const OPTIONS: Options = Options {
    cache_bytes: 16 << 20,
};

fn open(contender: &Contender, dir: &Path) -> Box<dyn Engine> {
    (contender.open)(dir, &OPTIONS).expect("opened")
}

fn key(random: &mut fastrand::Rng) -> Vec<u8> {
    format!("{:04}", random.u32(..2000)).into_bytes()
}

fn value(random: &mut fastrand::Rng) -> Vec<u8> {
    let len = random.usize(1..300);
    (0..len).map(|_| random.u8(..)).collect()
}

/// One operation on both; what each of them answers must be the same.
fn step(random: &mut fastrand::Rng, model: &mut Model, writer: &mut dyn Writer) -> Result<()> {
    let (key, value) = (key(random), value(random));
    let mut old = Vec::new();
    let mut see = |bytes: &[u8]| old = bytes.to_vec();
    match random.u8(..100) {
        0..50 => {
            writer.put(&key, &value)?;
            model.insert(key, value);
        }
        50..65 => {
            let found = writer.replace(&key, &value, &mut see)?;
            let expected = model.insert(key, value);
            assert_eq!(
                (found, old),
                (expected.is_some(), expected.unwrap_or_default())
            );
        }
        65..75 => {
            writer.delete(&key)?;
            model.remove(&key);
        }
        75..85 => {
            let found = writer.take(&key, &mut see)?;
            let expected = model.remove(&key);
            assert_eq!(
                (found, old),
                (expected.is_some(), expected.unwrap_or_default())
            );
        }
        85..90 => pop(End::First, model, writer)?,
        90..95 => pop(End::Last, model, writer)?,
        95..97 => {
            let past = [
                model.last_key_value().map_or(&[][..], |(last, _)| last),
                b"~",
            ]
            .concat();
            // Keys that end in many tildes would outgrow LMDB's longest key.
            if past.len() < 100 {
                writer.append(&past, &value)?;
                model.insert(past, value);
            }
        }
        97 => {
            writer.retain(&mut |key, _| key.last() != Some(&b'7'))?;
            model.retain(|key, _| key.last() != Some(&b'7'));
        }
        _ => extract(&key, &self::key(random), model, writer)?,
    }
    compare_around(random, model, writer)
}

fn pop(end: End, model: &mut Model, writer: &mut dyn Writer) -> Result<()> {
    let mut popped = None;
    let found = writer.pop(end, &mut |key, value| {
        popped = Some((key.to_vec(), value.to_vec()));
    })?;
    let expected = match end {
        End::First => model.pop_first(),
        End::Last => model.pop_last(),
    };
    assert_eq!((found, popped), (expected.is_some(), expected));
    Ok(())
}

fn extract(from: &[u8], to: &[u8], model: &mut Model, writer: &mut dyn Writer) -> Result<()> {
    let (from, to) = (from.min(to), from.max(to));
    let even = |key: &[u8]| key.last().is_some_and(|byte| byte.is_multiple_of(2));
    let count = writer.extract(from, to, &mut |key, _| even(key))?;
    let before = model.len();
    model.retain(|key, _| !(from <= key.as_slice() && key.as_slice() < to && even(key)));
    assert_eq!(count as usize, before - model.len());
    Ok(())
}

/// Looks one key up, and scans a few entries both ways from it.
fn compare_around<R: Reader + ?Sized>(
    random: &mut fastrand::Rng,
    model: &Model,
    reader: &mut R,
) -> Result<()> {
    let key = key(random);
    let mut got = None;
    let found = reader.get(&key, &mut |value| got = Some(value.to_vec()))?;
    assert_eq!(found, got.is_some());
    assert_eq!(got.as_ref(), model.get(&key));
    let up = model.range::<[u8], _>((Included(&key[..]), Unbounded));
    compare_scan(5, up, &mut |see| reader.scan(Some(&key), see))?;
    let down = model
        .range::<[u8], _>((Unbounded, Included(&key[..])))
        .rev();
    compare_scan(5, down, &mut |see| reader.scan_back(Some(&key), see))
}

type Scan<'a> = dyn FnMut(&mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> + 'a;

fn compare_scan<'m>(
    limit: usize,
    expected: impl Iterator<Item = (&'m Vec<u8>, &'m Vec<u8>)>,
    scan: &mut Scan<'_>,
) -> Result<()> {
    let mut seen = Vec::new();
    scan(&mut |key, value| {
        seen.push((key.to_vec(), value.to_vec()));
        seen.len() < limit
    })?;
    let expected = expected.take(limit).map(|(k, v)| (k.clone(), v.clone()));
    assert_eq!(seen, expected.collect::<Vec<_>>());
    Ok(())
}

fn compare_all(model: &Model, engine: &dyn Engine) -> Result<()> {
    engine.read(&mut |reader| {
        assert_eq!(reader.len()?, model.len() as u64);
        compare_scan(usize::MAX, model.iter(), &mut |see| reader.scan(None, see))?;
        compare_scan(usize::MAX, model.iter().rev(), &mut |see| {
            reader.scan_back(None, see)
        })
    })
}

#[test]
fn every_adapter_does_what_a_map_does() {
    for contender in contenders() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut random = fastrand::Rng::with_seed(11);
        let mut model = Model::new();
        let mut engine = open(&contender, dir.path());
        compare_all(&model, &*engine).expect(contender.name);
        for round in 0..30 {
            let durability = [Durability::Synced, Durability::Unsynced][round % 2];
            let (start, seed) = (model.clone(), random.u64(..));
            let wrote = engine.write(durability, &mut |writer| {
                // The body may run twice.
                model = start.clone();
                let mut random = fastrand::Rng::with_seed(seed);
                (0..100).try_for_each(|_| step(&mut random, &mut model, writer))
            });
            wrote.expect(contender.name);
            compare_all(&model, &*engine).expect(contender.name);
            if round % 10 == 9 {
                engine.close().expect(contender.name);
                engine = open(&contender, dir.path());
                compare_all(&model, &*engine).expect(contender.name);
            }
        }
        let shrunk = engine.compact().expect(contender.name);
        compare_all(&model, &*engine).unwrap_or_else(|error| {
            panic!("{} after compaction ({shrunk}): {error:#}", contender.name)
        });
    }
}

#[test]
fn a_failed_transaction_leaves_nothing_where_there_are_transactions() {
    for contender in contenders().into_iter().filter(|c| c.promises.transactions) {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = open(&contender, dir.path());
        let failed = engine.write(Durability::Synced, &mut |writer| {
            writer.put(b"key", b"value")?;
            anyhow::bail!("changed my mind")
        });
        assert!(failed.is_err(), "{}", contender.name);
        compare_all(&Model::new(), &*engine).expect(contender.name);
    }
}

#[test]
fn a_synced_commit_outlives_an_engine_that_is_not_closed() {
    for contender in contenders() {
        let dir = tempfile::tempdir().expect("a folder");
        let large = vec![7; 2_000_000];
        let engine = open(&contender, dir.path());
        let wrote = engine.write(Durability::Synced, &mut |writer| writer.put(b"k", &large));
        wrote.expect(contender.name);
        drop(engine);
        let model = Model::from([(b"k".to_vec(), large)]);
        compare_all(&model, &*open(&contender, dir.path())).expect(contender.name);
    }
}

#[test]
fn threads_read_whole_transactions_while_others_write() {
    for contender in contenders().into_iter().filter(|c| c.promises.snapshots) {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = open(&contender, dir.path());
        let engine = &*engine;
        let name = contender.name;
        std::thread::scope(|scope| {
            for thread in 0..2_u8 {
                scope.spawn(move || {
                    for index in 0..50_u8 {
                        let wrote = engine.write(Durability::Unsynced, &mut |writer| {
                            writer.put(&[thread, index, 0], b"left")?;
                            writer.put(&[thread, index, 1], b"right")
                        });
                        wrote.expect(name);
                    }
                });
                scope.spawn(move || {
                    for _ in 0..50 {
                        let read = engine.read(&mut |reader| {
                            let mut count = 0;
                            reader.scan(None, &mut |_, _| {
                                count += 1;
                                true
                            })?;
                            assert_eq!(count % 2, 0, "{name} shows half a transaction");
                            assert_eq!(reader.len()?, count, "{name} counts another state");
                            Ok(())
                        });
                        read.expect(name);
                    }
                });
            }
        });
        let read = engine.read(&mut |reader| {
            assert_eq!(reader.len()?, 200);
            Ok(())
        });
        read.expect(name);
    }
}
