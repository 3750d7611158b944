//! Parts of large transactions, and conflicts.

use super::*;

fn with_engine(test: impl FnOnce(&dyn Engine)) {
    let dir = tempfile::tempdir().expect("a folder");
    let options = Options {
        cache_bytes: 16 << 20,
    };
    test(&*open(dir.path(), &options).expect("opened"));
}

#[test]
fn a_key_may_change_in_two_parts_of_a_transaction() {
    with_engine(|engine| {
        let wrote = engine.write(Durability::Synced, &mut |writer| {
            (0..2 * PART_LEN + 1)
                .try_for_each(|i| writer.put(&(i % 1000).to_be_bytes(), &i.to_be_bytes()))
        });
        wrote.expect("no conflict with itself");
        let read = engine.read(&mut |reader| {
            let last = (2 * PART_LEN).to_be_bytes();
            let mut same = false;
            reader.get(&0_u32.to_be_bytes(), &mut |value| same = value == last)?;
            assert!(same, "the last value");
            assert_eq!(reader.len()?, 1000);
            Ok(())
        });
        read.expect("read");
    });
}

#[test]
fn increments_from_threads_are_all_kept() {
    with_engine(|engine| {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let wrote = engine.write(Durability::Unsynced, &mut |writer| {
                            let mut count = 0_u64;
                            writer.get(b"count", &mut |value| {
                                count = u64::from_be_bytes(value.try_into().expect("8 bytes"));
                            })?;
                            writer.put(b"count", &(count + 1).to_be_bytes())
                        });
                        wrote.expect("written");
                    }
                });
            }
        });
        let read = engine.read(&mut |reader| {
            let mut right = false;
            reader.get(b"count", &mut |value| {
                right = value == 800_u64.to_be_bytes()
            })?;
            assert!(right, "800 increments");
            Ok(())
        });
        read.expect("read");
    });
}
