//! Readers and writers at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Result;
use bristlecone_peers::engine::{Durability, Engine, Reader};

use super::{for_each, get, get_in, open};

const WRITERS: u64 = 4;
const TRANSACTIONS: u64 = 50;
const PER_TRANSACTION: u64 = 4;

fn key(writer: u64, entry: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&writer.to_be_bytes());
    key[8..].copy_from_slice(&entry.to_be_bytes());
    key
}

#[test]
fn writers_and_readers_at_once_lose_nothing() {
    for_each(|contender, dir| {
        let engine = open(contender, dir);
        let whole = contender.promises.transactions && contender.promises.snapshots;
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    scope.spawn({
                        let engine = &*engine;
                        move || write(engine, writer)
                    })
                })
                .collect();
            for _ in 0..4 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        engine.read(&mut |reader| look(reader, whole)).unwrap();
                    }
                });
            }
            let written: Vec<_> = writers
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect();
            done.store(true, Ordering::Relaxed);
            written.into_iter().for_each(|result| result.unwrap());
        });
        for writer in 0..WRITERS {
            for entry in 0..TRANSACTIONS * PER_TRANSACTION {
                let found = get(&*engine, &key(writer, entry));
                assert!(found.is_some(), "entry {entry} of writer {writer}");
            }
        }
        engine.close().unwrap();
    });
}

fn write(engine: &dyn Engine, writer: u64) {
    for transaction in 0..TRANSACTIONS {
        engine
            .write(Durability::Synced, &mut |session| {
                (0..PER_TRANSACTION).try_for_each(|i| {
                    let entry = transaction * PER_TRANSACTION + i;
                    session.put(&key(writer, entry), &entry.to_be_bytes())
                })
            })
            .unwrap();
    }
}

/// Every transaction is there whole or not at all, where the engine promises that.
fn look(reader: &mut dyn Reader, whole: bool) -> Result<()> {
    let mut count = 0;
    reader.scan(None, &mut |key, value| {
        assert_eq!(key[8..], *value);
        count += 1;
        true
    })?;
    if whole {
        assert_eq!(count % PER_TRANSACTION, 0);
        assert_eq!(reader.len()?, count);
    }
    Ok(())
}

#[test]
fn no_increment_of_a_shared_counter_is_lost() {
    for_each(|contender, dir| {
        if !contender.promises.snapshots {
            return;
        }
        let engine = open(contender, dir);
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    for _ in 0..TRANSACTIONS {
                        engine
                            .write(Durability::Unsynced, &mut |session| {
                                let old = get_in(session, b"counter")?;
                                let old = old
                                    .map_or(0, |old| u64::from_be_bytes(old.try_into().unwrap()));
                                session.put(b"counter", &(old + 1).to_be_bytes())
                            })
                            .unwrap();
                    }
                });
            }
        });
        let count = get(&*engine, b"counter").unwrap();
        assert_eq!(count, (WRITERS * TRANSACTIONS).to_be_bytes());
        engine.close().unwrap();
    });
}
