//! Every built-in type as key and value, stored, read back and range-scanned in value order over several leaves. Keys
//! come from a generator that covers the ends of each type's domain; the expected order is that of the Rust values.

use std::collections::BTreeSet;
use std::fmt::Debug;

use bristlecone::{
    Database, Key, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
    TableError, Value,
};

use crate::support::{Rng, assert_sound, memory};

/// Stores `keys` in random order over three commits, and demands them back in order, whole and in ranges.
fn store<K, O>(db: &Database, keys: BTreeSet<O>, lend: impl for<'a> Fn(&'a O) -> K::SelfType<'a>)
where
    K: Key + 'static,
    O: Ord + Clone + Debug,
{
    let name = K::type_name().name().to_owned();
    let definition: TableDefinition<K, u64> = TableDefinition::new(&name);
    let keys: Vec<O> = keys.into_iter().collect();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let mut rng = Rng::new(keys.len() as u64);
    for idx in (1..order.len()).rev() {
        order.swap(idx, rng.below(idx as u64 + 1) as usize);
    }
    for part in order.chunks(keys.len().div_ceil(3).max(1)) {
        let txn = db.begin_write().unwrap();
        {
            let mut table = txn.open_table(definition).unwrap();
            for &idx in part {
                let old = table.insert(lend(&keys[idx]), idx as u64).unwrap();
                assert!(old.is_none(), "{name}: {:?} is there twice", keys[idx]);
            }
        }
        txn.commit().unwrap();
    }
    let table = db.begin_read().unwrap().open_table(definition).unwrap();
    assert_eq!(table.len().unwrap(), keys.len() as u64);
    let shown = |value: &K::SelfType<'_>| format!("{value:?}");
    for (idx, row) in table.iter().unwrap().enumerate() {
        let (key, value) = row.unwrap();
        assert_eq!(value.value(), idx as u64, "{name}: order");
        assert_eq!(shown(&key.value()), shown(&lend(&keys[idx])), "{name}");
    }
    for _ in 0..40 {
        let low = rng.below(keys.len() as u64) as usize;
        let high = low + rng.below((keys.len() - low) as u64) as usize;
        let range = table
            .range::<K::SelfType<'_>>(lend(&keys[low])..lend(&keys[high]))
            .unwrap();
        let found: Vec<u64> = range.rev().map(|row| row.unwrap().1.value()).collect();
        assert!(found.into_iter().eq((low as u64..high as u64).rev()));
        let value = table.get(lend(&keys[low])).unwrap().unwrap().value();
        assert_eq!(value, low as u64);
    }
    if keys.len() > 1000 {
        assert!(table.stats().unwrap().leaf_pages() > 2, "{name}: one leaf");
    }
}

fn many<O: Ord>(count: usize, mut make: impl FnMut(&mut Rng) -> O) -> BTreeSet<O> {
    let mut rng = Rng::new(count as u64);
    (0..count).map(|_| make(&mut rng)).collect()
}

macro_rules! integers {
    ($db:expr, $($integer:ty),+) => {$(
        let keys = many(1500, |rng| {
            let wide = u128::from(rng.next()) << 64 | u128::from(rng.next());
            let value = wide as $integer;
            match rng.below(8) {
                0 => <$integer>::MIN.wrapping_add(value % 8),
                1 => <$integer>::MAX.wrapping_sub(value % 8),
                2 => (0 as $integer).wrapping_sub(value % 100),
                3 => value % 100,
                _ => value,
            }
        });
        store::<$integer, $integer>($db, keys, |key| *key);
    )+};
}

#[test]
fn integers_scan_in_numeric_order() {
    let (db, _) = memory(4096, 1 << 20);
    integers!(&db, u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);
    assert_sound(&db);
}

fn text(rng: &mut Rng) -> String {
    let parts = [
        "",
        "a",
        "b",
        "\0",
        "\u{7f}",
        "\u{80}",
        "\u{7ff}",
        "\u{ffff}",
        "\u{10ffff}",
    ];
    let len = rng.below(12);
    (0..len).map(|_| parts[rng.below(9) as usize]).collect()
}

#[test]
fn text_bytes_chars_and_units_scan_in_their_order() {
    let (db, _) = memory(4096, 1 << 20);
    store::<&str, String>(&db, many(2500, text), |key| key);
    store::<String, String>(&db, many(2500, text), Clone::clone);
    let bytes = |rng: &mut Rng| {
        let len = rng.below(9) as usize;
        rng.bytes(len)
    };
    store::<&[u8], Vec<u8>>(&db, many(2500, bytes), Vec::as_slice);
    let array = |rng: &mut Rng| <[u8; 5]>::try_from(rng.bytes(5)).unwrap();
    store::<[u8; 5], [u8; 5]>(&db, many(2500, array), |key| *key);
    let char = |rng: &mut Rng| char::from_u32(rng.below(0x11_0000) as u32).unwrap_or('x');
    store::<char, char>(&db, many(2500, char), |key| *key);
    store::<bool, bool>(&db, BTreeSet::from([false, true]), |key| *key);
    store::<(), ()>(&db, BTreeSet::from([()]), |()| ());
    assert_sound(&db);
}

#[test]
fn composites_scan_in_the_order_of_their_parts() {
    let (db, _) = memory(4096, 1 << 20);
    let small = |rng: &mut Rng| rng.below(30) as i16 - 15;
    store::<(i16, &str), (i16, String)>(&db, many(2500, |rng| (small(rng), text(rng))), |key| {
        (key.0, key.1.as_str())
    });
    store::<(&str, i16), (String, i16)>(&db, many(2500, |rng| (text(rng), small(rng))), |key| {
        (key.0.as_str(), key.1)
    });
    store::<(&str, &str), (String, String)>(&db, many(2500, |rng| (text(rng), text(rng))), |key| {
        (key.0.as_str(), key.1.as_str())
    });
    let option = |rng: &mut Rng| (rng.below(4) > 0).then(|| text(rng));
    store::<Option<&str>, Option<String>>(&db, many(2500, option), |key| key.as_deref());
    store::<(Option<&str>, u8), (Option<String>, u8)>(
        &db,
        many(2500, |rng| (option(rng), rng.below(9) as u8)),
        |key| (key.0.as_deref(), key.1),
    );
    store::<[i16; 3], [i16; 3]>(
        &db,
        many(2500, |rng| [small(rng), small(rng), small(rng)]),
        |key| *key,
    );
    store::<[&str; 2], [String; 2]>(&db, many(2500, |rng| [text(rng), text(rng)]), |key| {
        [key[0].as_str(), key[1].as_str()]
    });
    type Twelve = (
        u8,
        i8,
        u16,
        i16,
        u32,
        i32,
        u64,
        i64,
        bool,
        char,
        [u8; 2],
        (),
    );
    let twelve = |rng: &mut Rng| -> Twelve {
        let (a, b) = (rng.below(3), rng.below(3) as i64 - 1);
        let c = b;
        (
            a as u8,
            b as i8,
            1,
            c as i16,
            a as u32,
            2,
            a,
            b,
            a == 1,
            'z',
            [b as u8, 1],
            (),
        )
    };
    store::<Twelve, Twelve>(&db, many(200, twelve), |key| *key);
    assert_sound(&db);
}

fn value_round_trip<V: Value + 'static>(db: &Database, values: &[V::SelfType<'_>]) {
    let name = V::type_name().name().to_owned();
    let definition: TableDefinition<u32, V> = TableDefinition::new(&name);
    let txn = db.begin_write().unwrap();
    {
        let mut table = txn.open_table(definition).unwrap();
        for copy in 0..200_u32 {
            for (idx, value) in (0_u32..).zip(values) {
                table.insert(copy * 1000 + idx, value).unwrap();
            }
        }
    }
    txn.commit().unwrap();
    let table = db.begin_read().unwrap().open_table(definition).unwrap();
    for copy in 0..200_u32 {
        for (idx, value) in (0_u32..).zip(values) {
            let found = table.get(copy * 1000 + idx).unwrap().unwrap();
            assert_eq!(
                format!("{:?}", found.value()),
                format!("{value:?}"),
                "{name}"
            );
        }
    }
}

#[test]
fn values_of_every_type_come_back() {
    let (db, _) = memory(4096, 1 << 20);
    value_round_trip::<f64>(&db, &[0.0, -0.0, f64::MIN, f64::INFINITY, f64::NAN, 1.5]);
    value_round_trip::<f32>(&db, &[0.0, -0.0, f32::MAX, f32::NEG_INFINITY, 1e-40]);
    value_round_trip::<Vec<u64>>(&db, &[vec![], vec![1], vec![u64::MAX; 50]]);
    value_round_trip::<Vec<&str>>(&db, &[vec![], vec![""], vec!["", "a", "long text"]]);
    value_round_trip::<Vec<Vec<u8>>>(&db, &[vec![vec![]], vec![vec![1, 2], vec![]]]);
    value_round_trip::<Vec<Option<f64>>>(&db, &[vec![None, Some(2.5)], vec![]]);
    value_round_trip::<()>(&db, &[()]);
    value_round_trip::<&[u8; 4]>(&db, &[&[1, 2, 3, 4], &[0; 4]]);
    value_round_trip::<(Vec<u8>, Option<&str>, f32)>(
        &db,
        &[(vec![1], None, 1.0), (vec![], Some(""), -1.0)],
    );
    value_round_trip::<[Option<u16>; 3]>(&db, &[[None, Some(1), None]]);
    assert_sound(&db);
}

#[test]
fn a_mismatch_names_the_stored_types() {
    let (db, _) = memory(4096, 1 << 20);
    let txn = db.begin_write().unwrap();
    drop(
        txn.open_table(TableDefinition::<&str, u64>::new("t"))
            .unwrap(),
    );
    let wrong_value = TableDefinition::<&str, i64>::new("t");
    let error = txn.open_table(wrong_value).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("'t'") && text.contains("&str") && text.contains("u64"),
        "{text}"
    );
    let TableError::TableTypeMismatch { table, key, value } = error else {
        panic!("{error}");
    };
    assert_eq!(
        (table.as_str(), key.name(), value.name()),
        ("t", "&str", "u64")
    );
    txn.commit().unwrap();
    let read = db.begin_read().unwrap();
    for error in [
        read.open_table(TableDefinition::<&str, i64>::new("t"))
            .err(),
        read.open_table(TableDefinition::<&[u8], u64>::new("t"))
            .err(),
        read.open_table(TableDefinition::<Option<&str>, u64>::new("t"))
            .err(),
    ] {
        assert!(matches!(error, Some(TableError::TableTypeMismatch { .. })));
    }
    assert!(
        read.open_table(TableDefinition::<&str, u64>::new("t"))
            .is_ok()
    );
}
