//! Every engine of this build keeps its side of the contract; what it cannot do, it says.

use std::path::Path;

use anyhow::{Result, bail};
use bristlecone_peers::engine::{
    Contender, Durability, End, Engine, Options, Reader, Unsupported, contenders,
};

mod model;
mod threads;

const OPTIONS: Options = Options {
    cache_bytes: 16 << 20,
};

/// Runs a test for every engine, in a folder of its own.
fn for_each(test: impl Fn(&Contender, &Path)) {
    for contender in contenders() {
        eprintln!("engine: {}", contender.name);
        let dir = tempfile::tempdir().unwrap();
        test(&contender, dir.path());
    }
}

fn open(contender: &Contender, dir: &Path) -> Box<dyn Engine> {
    (contender.open)(dir, &OPTIONS).unwrap()
}

/// `None` if the engine has no way to do it.
fn unless_unsupported<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is::<Unsupported>() => Ok(None),
        Err(error) => Err(error),
    }
}

fn put(engine: &dyn Engine, durability: Durability, key: &[u8], value: &[u8]) -> Result<()> {
    engine.write(durability, &mut |writer| writer.put(key, value))
}

fn get(engine: &dyn Engine, key: &[u8]) -> Option<Vec<u8>> {
    let mut found = None;
    engine
        .read(&mut |reader| {
            found = get_in(reader, key)?;
            Ok(())
        })
        .unwrap();
    found
}

fn get_in<R: Reader + ?Sized>(reader: &mut R, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut found = None;
    let told = reader.get(key, &mut |value| found = Some(value.to_vec()))?;
    assert_eq!(told, found.is_some());
    Ok(found)
}

#[test]
fn ours_is_first_and_names_differ() {
    let names: Vec<_> = contenders()
        .iter()
        .map(|contender| contender.name)
        .collect();
    assert_eq!(names[0], "bristlecone");
    let order = [
        "bristlecone",
        "redb",
        "lmdb",
        "fjall",
        "rocksdb",
        "sqlite",
        "canopydb",
        "sled",
        "bf-tree",
    ];
    assert!(
        names.is_sorted_by_key(|name| order.iter().position(|known| known == name).unwrap()),
        "{names:?}"
    );
}

/// Versions of engines that name no version of their own are written down; this keeps them from growing old.
#[test]
fn versions_are_those_that_are_built() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = std::fs::read_to_string(lock).unwrap();
    for contender in contenders() {
        let package = match contender.name {
            "lmdb" => "heed",
            // Both ask the library itself.
            "rocksdb" | "sqlite" => {
                assert!(contender.version.starts_with(|c: char| c.is_ascii_digit()));
                continue;
            }
            name => name,
        };
        let locked = lock
            .split_once(&format!("name = \"{package}\"\nversion = \""))
            .and_then(|(_, rest)| rest.split('"').next())
            .unwrap();
        let words: Vec<_> = contender.version.split([' ', '(', ')']).collect();
        assert!(words.contains(&locked), "{package} {locked}: {words:?}");
    }
}

#[test]
fn an_empty_table_is_empty() {
    for_each(|contender, dir| {
        for _ in 0..2 {
            let engine = open(contender, dir);
            engine
                .write(Durability::Synced, &mut |writer| {
                    assert!(!writer.take(b"absent key", &mut |_| {})?);
                    writer.delete(b"absent key")?;
                    for end in [End::First, End::Last] {
                        let popped =
                            writer.pop(end, &mut |_, _| panic!("an entry in an empty table"));
                        assert_ne!(unless_unsupported(popped)?, Some(true));
                    }
                    writer.retain(&mut |_, _| panic!("an entry in an empty table"))?;
                    let taken = writer.extract(b"aaaa", b"zzzz", &mut |_, _| true)?;
                    assert_eq!(taken, 0);
                    Ok(())
                })
                .unwrap();
            engine
                .read(&mut |reader| {
                    assert_eq!(reader.len()?, 0);
                    assert_eq!(get_in(reader, b"absent key")?, None);
                    let mut never = |_: &[u8], _: &[u8]| panic!("an entry in an empty table");
                    reader.scan(None, &mut never)?;
                    reader.scan(Some(b"some key"), &mut never)?;
                    unless_unsupported(reader.scan_back(None, &mut never))?;
                    unless_unsupported(reader.scan_back(Some(b"some key"), &mut never))?;
                    Ok(())
                })
                .unwrap();
            engine.close().unwrap();
        }
    });
}

#[test]
fn a_value_of_two_megabytes_comes_back() {
    for_each(|contender, dir| {
        let large: Vec<u8> = (0..2_000_000_u32).map(|i| (i % 251) as u8).collect();
        let engine = open(contender, dir);
        let stored = put(&*engine, Durability::Synced, b"large value", &large);
        if unless_unsupported(stored).unwrap().is_none() {
            return engine.close().unwrap();
        }
        put(
            &*engine,
            Durability::Synced,
            b"small value",
            b"small, but there",
        )
        .unwrap();
        assert!(get(&*engine, b"large value").as_ref() == Some(&large));
        engine.close().unwrap();

        let engine = open(contender, dir);
        assert!(get(&*engine, b"large value").as_ref() == Some(&large));
        engine
            .write(Durability::Synced, &mut |writer| {
                let found = writer.replace(b"large value", b"not any more", &mut |old| {
                    assert!(old == large);
                })?;
                assert!(found);
                Ok(())
            })
            .unwrap();
        assert_eq!(
            get(&*engine, b"large value").as_deref(),
            Some(&b"not any more"[..])
        );
        engine.close().unwrap();
    });
}

#[test]
fn synced_commits_outlive_an_engine_that_is_not_closed() {
    for_each(|contender, dir| {
        if !contender.promises.durable_commits {
            return;
        }
        let engine = open(contender, dir);
        for i in 0..100_u64 {
            put(
                &*engine,
                Durability::Synced,
                &i.to_be_bytes(),
                b"a value of some length",
            )
            .unwrap();
        }
        drop(engine);
        let engine = open(contender, dir);
        for i in 0..100_u64 {
            assert!(get(&*engine, &i.to_be_bytes()).is_some(), "entry {i}");
        }
        engine.close().unwrap();
    });
}

#[test]
fn unsynced_commits_are_seen_and_outlive_a_clean_close() {
    for_each(|contender, dir| {
        let engine = open(contender, dir);
        for i in 0..100_u64 {
            let durability = match i % 10 {
                0 => Durability::Synced,
                _ => Durability::Unsynced,
            };
            let stored = put(
                &*engine,
                durability,
                &i.to_be_bytes(),
                b"a value of some length",
            );
            if unless_unsupported(stored).unwrap().is_none() {
                return;
            }
            assert!(get(&*engine, &i.to_be_bytes()).is_some(), "entry {i}");
        }
        engine.close().unwrap();
        let engine = open(contender, dir);
        for i in 0..100_u64 {
            assert!(get(&*engine, &i.to_be_bytes()).is_some(), "entry {i}");
        }
        engine.close().unwrap();
    });
}

#[test]
fn a_transaction_that_fails_leaves_nothing() {
    for_each(|contender, dir| {
        if !contender.promises.transactions {
            return;
        }
        let engine = open(contender, dir);
        put(&*engine, Durability::Synced, b"some key", b"old value").unwrap();
        let failed = engine.write(Durability::Synced, &mut |writer| {
            writer.put(b"some key", b"new value")?;
            writer.put(b"other key", b"new value")?;
            bail!("no more")
        });
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert_eq!(
            get(&*engine, b"some key").as_deref(),
            Some(&b"old value"[..])
        );
        assert_eq!(get(&*engine, b"other key"), None);
        put(&*engine, Durability::Synced, b"third key", b"new value").unwrap();
        engine.close().unwrap();
    });
}
