//! Random operations, side by side on an engine and on a map in memory.

use std::collections::BTreeMap;
use std::ops::Bound;

use anyhow::Result;
use bristlecone_peers::engine::{Durability, End, Engine, Reader, Writer};
use fastrand::Rng;

use super::{for_each, get_in, open, unless_unsupported};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;
type Entry = (Vec<u8>, Vec<u8>);

const TRANSACTIONS: u64 = 60;
const OPS: u64 = 80;

/// bf-tree 0.5.7 shows removed entries again, or panics, if it was opened from a snapshot before they were removed.
const REOPENED_LAST: &str = "bf-tree";

#[test]
fn engines_do_what_a_map_does() {
    for_each(|contender, dir| {
        let mut engine = open(contender, dir);
        let mut map = Map::new();
        for number in 0..TRANSACTIONS {
            map = transaction(&*engine, &map, number).unwrap();
            engine
                .read(&mut |reader| look(reader, &map, number))
                .unwrap();
            if number % 20 == 10 {
                engine.settle().unwrap();
                engine.compact().unwrap();
            }
            if number % 12 == 6 && contender.name != REOPENED_LAST {
                engine.close().unwrap();
                engine = open(contender, dir);
            }
        }
        engine.close().unwrap();
        let engine = open(contender, dir);
        engine
            .read(&mut |reader| look(reader, &map, TRANSACTIONS))
            .unwrap();
        engine.close().unwrap();
    });
}

/// Runs one transaction; returns what the table must hold after it.
fn transaction(engine: &dyn Engine, map: &Map, number: u64) -> Result<Map> {
    let durability = match number % 3 {
        0 => Durability::Unsynced,
        _ => Durability::Synced,
    };
    let mut after = Map::new();
    let written = engine.write(durability, &mut |writer| {
        let mut rng = Rng::with_seed(number);
        after = map.clone();
        (0..OPS).try_for_each(|_| change(writer, &mut after, &mut rng))
    });
    Ok(match unless_unsupported(written)? {
        Some(()) => after,
        None => map.clone(),
    })
}

/// A key of few, so that they meet; some are prefixes of others.
fn key(rng: &mut Rng) -> Vec<u8> {
    let len = rng.usize(4..9);
    (0..len).map(|_| b"abc"[rng.usize(0..3)]).collect()
}

fn value(rng: &mut Rng) -> Vec<u8> {
    let len = match rng.u8(0..20) {
        0 => rng.usize(8..1500),
        _ => rng.usize(8..100),
    };
    (0..len).map(|_| rng.u8(..)).collect()
}

fn change(writer: &mut dyn Writer, map: &mut Map, rng: &mut Rng) -> Result<()> {
    let (key, value) = (key(rng), value(rng));
    match rng.u8(0..100) {
        0..30 => {
            writer.put(&key, &value)?;
            map.insert(key, value);
        }
        30..50 => {
            let mut old = None;
            let found = writer.replace(&key, &value, &mut |value| old = Some(value.to_vec()))?;
            assert_eq!(found, old.is_some());
            assert_eq!(old, map.insert(key, value));
        }
        50..60 => {
            writer.delete(&key)?;
            map.remove(&key);
        }
        60..70 => {
            let mut old = None;
            let found = writer.take(&key, &mut |value| old = Some(value.to_vec()))?;
            assert_eq!(found, old.is_some());
            assert_eq!(old, map.remove(&key));
        }
        70..74 => append(writer, map, rng)?,
        74..76 => remove_some(writer, map, rng)?,
        76..86 => pop(writer, map, rng)?,
        86..96 => assert_eq!(get_in(writer, &key)?.as_ref(), map.get(&key)),
        _ => walk(writer, map, rng)?,
    }
    Ok(())
}

fn append(writer: &mut dyn Writer, map: &mut Map, rng: &mut Rng) -> Result<()> {
    let last = map.keys().next_back().filter(|key| key[0] == b'z');
    let number = last.map_or(0, |key| {
        u32::from_be_bytes(key[4..8].try_into().unwrap()) + 1
    });
    let entries: Vec<Entry> = (0..rng.u32(0..8))
        .map(|i| {
            let mut key = b"zzzz".to_vec();
            key.extend((number + i).to_be_bytes());
            (key, value(rng))
        })
        .collect();
    writer.append(&entries)?;
    map.extend(entries);
    Ok(())
}

/// Removes entries by their value; both walks must show the same.
fn remove_some(writer: &mut dyn Writer, map: &mut Map, rng: &mut Rng) -> Result<()> {
    let remove = |value: &[u8]| value[0].is_multiple_of(7);
    let (mut one, mut two) = (key(rng), key(rng));
    if one > two {
        std::mem::swap(&mut one, &mut two);
    }
    let mut shown = Vec::new();
    let mut show = |key: &[u8], value: &[u8]| {
        shown.push((key.to_vec(), value.to_vec()));
        remove(value)
    };
    let expected: Vec<Entry>;
    if rng.bool() {
        expected = copy(map.iter());
        writer.retain(&mut |key, value| !show(key, value))?;
        map.retain(|_, value| !remove(value));
    } else {
        expected = copy(map.range(one.clone()..two.clone()));
        let count = writer.extract(&one, &two, &mut show)?;
        let before = map.len();
        map.retain(|key, value| !(one <= *key && *key < two && remove(value)));
        assert_eq!(count, (before - map.len()) as u64);
    }
    assert_eq!(shown, expected);
    Ok(())
}

fn pop(writer: &mut dyn Writer, map: &mut Map, rng: &mut Rng) -> Result<()> {
    let end = if rng.bool() { End::First } else { End::Last };
    let mut seen = None;
    let popped = writer.pop(end, &mut |key, value| {
        seen = Some((key.to_vec(), value.to_vec()));
    });
    let Some(found) = unless_unsupported(popped)? else {
        return Ok(());
    };
    assert_eq!(found, seen.is_some());
    let expected = match end {
        End::First => map.pop_first(),
        End::Last => map.pop_last(),
    };
    assert_eq!(seen, expected);
    Ok(())
}

/// Walks in either direction, from a key that may be absent, or from the end, for some steps.
fn walk<R: Reader + ?Sized>(reader: &mut R, map: &Map, rng: &mut Rng) -> Result<()> {
    let from = rng.bool().then(|| key(rng));
    let bound = from.as_ref().map_or(Bound::Unbounded, Bound::Included);
    let limit = rng.usize(1..50);
    let mut seen = Vec::new();
    let mut see = |key: &[u8], value: &[u8]| {
        seen.push((key.to_vec(), value.to_vec()));
        seen.len() < limit
    };
    let expected: Vec<Entry> = if rng.bool() {
        reader.scan(from.as_deref(), &mut see)?;
        copy(
            map.range::<Vec<u8>, _>((bound, Bound::Unbounded))
                .take(limit),
        )
    } else {
        if unless_unsupported(reader.scan_back(from.as_deref(), &mut see))?.is_none() {
            return Ok(());
        }
        copy(
            map.range::<Vec<u8>, _>((Bound::Unbounded, bound))
                .rev()
                .take(limit),
        )
    };
    assert_eq!(seen, expected);
    Ok(())
}

/// Compares a whole table with the map.
fn look(reader: &mut dyn Reader, map: &Map, number: u64) -> Result<()> {
    assert_eq!(reader.len()?, map.len() as u64);
    let mut entries = map.iter();
    reader.scan(None, &mut |key, value| {
        assert_eq!(
            entries.next(),
            Some((&key.to_vec(), &value.to_vec())),
            "after transaction {number}"
        );
        true
    })?;
    assert_eq!(entries.next(), None);
    let mut rng = Rng::with_seed(!number);
    for _ in 0..20 {
        let key = key(&mut rng);
        assert_eq!(get_in(reader, &key)?.as_ref(), map.get(&key));
        walk(reader, map, &mut rng)?;
    }
    Ok(())
}

fn copy<'a>(entries: impl Iterator<Item = (&'a Vec<u8>, &'a Vec<u8>)>) -> Vec<Entry> {
    entries
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
