//! The simulated disk does what it says: each fault, each barrier and each kind of power cut on a handful of bytes
//! whose fate is known. The random cuts are checked against what no disk may do.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, like the tests"
)]

use std::io::{ErrorKind, IoSlice};

use bristlecone::StorageBackend;
use bristlecone_sim::{
    Cut, ErrorCode, Fault, Operation, OperationClass, OperationKind, SimBackend, SimDisk, SyncLoss,
    is_crash,
};
use fastrand::Rng;

/// A disk whose durable file holds `text`.
fn disk_with(text: &[u8]) -> (SimDisk, SimBackend) {
    let disk = SimDisk::new(1);
    let backend = disk.backend();
    backend.write(0, text).unwrap();
    backend.sync_data().unwrap();
    (disk, backend)
}

fn left_by(disk: &SimDisk, cut: Cut) -> Vec<u8> {
    disk.image(cut, &mut Rng::with_seed(7)).bytes
}

fn read(backend: &SimBackend) -> Vec<u8> {
    let mut out = vec![0xFF; usize::try_from(backend.len().unwrap()).unwrap()];
    backend.read(0, &mut out).unwrap();
    out
}

#[test]
fn written_bytes_are_read_and_lost_until_synced() {
    let (disk, backend) = disk_with(b"abcd");
    backend.write(2, b"XYZ").unwrap();
    assert_eq!(read(&backend), b"abXYZ");
    assert_eq!(left_by(&disk, Cut::Nothing), b"abcd");
    assert_eq!(left_by(&disk, Cut::Everything), b"abXYZ");
    backend.sync_data().unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"abXYZ");
    assert_eq!(disk.pending_count(), 0);
}

#[test]
fn reads_past_the_end_and_absurd_offsets_are_errors() {
    let (_disk, backend) = disk_with(b"abcd");
    let mut out = [0; 3];
    for offset in [2, 4, u64::MAX] {
        assert_eq!(
            backend.read(offset, &mut out).unwrap_err().kind(),
            ErrorKind::UnexpectedEof
        );
    }
    for outcome in [
        backend.write(u64::MAX, b"x"),
        backend.write(1 << 40, b"x"),
        backend.set_len(1 << 40),
        backend.allocate(u64::MAX, 5),
    ] {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
    assert_eq!(read(&backend), b"abcd");
}

#[test]
fn range_barriers_keep_their_bytes_and_the_length_for_them() {
    let (disk, backend) = disk_with(b"abcd");
    backend.write(0, b"ABCDEFGH").unwrap();
    backend.sync_range(2, 4).unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"abCDEF");
    backend.sync_data().unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"ABCDEFGH");
}

#[test]
fn range_barriers_survive_an_earlier_cut_of_the_tail() {
    let (disk, backend) = disk_with(b"abcdefgh");
    backend.set_len(2).unwrap();
    backend.write(2, b"XY").unwrap();
    backend.sync_range(2, 2).unwrap();
    let mut rng = Rng::with_seed(3);
    for _ in 0..500 {
        let bytes = disk.power_cut(&mut rng).bytes;
        assert_eq!(&bytes[2..4], b"XY", "{bytes:?}");
    }
}

#[test]
fn cut_tails_read_as_zero_when_the_file_grows_again() {
    let (disk, backend) = disk_with(b"abcdefgh");
    backend.set_len(4).unwrap();
    backend.set_len(6).unwrap();
    assert_eq!(read(&backend), b"abcd\0\0");
    assert_eq!(left_by(&disk, Cut::Nothing), b"abcdefgh");
    assert_eq!(left_by(&disk, Cut::Prefix(1)), b"abcd");
    backend.sync_data().unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"abcd\0\0");
}

#[test]
fn chosen_cuts_keep_what_they_name() {
    let (disk, backend) = disk_with(b"....");
    for (offset, text) in [(0, b"A"), (1, b"B"), (2, b"C")] {
        backend.write(offset, text).unwrap();
    }
    assert_eq!(disk.pending_count(), 3);
    assert_eq!(left_by(&disk, Cut::AllBut(1)), b"A.C.");
    assert_eq!(left_by(&disk, Cut::Only(1)), b".B..");
    assert_eq!(left_by(&disk, Cut::Prefix(0)), b"....");
    assert_eq!(left_by(&disk, Cut::Prefix(2)), b"AB..");
    assert_eq!(left_by(&disk, Cut::Prefix(9)), b"ABC.");
}

#[test]
fn random_cuts_tear_at_sectors_and_lose_lengths() {
    let (disk, backend) = disk_with(&[b'o'; 8192]);
    backend.write(100, &[b'n'; 8000]).unwrap();
    backend.write(8192, &[b'n'; 8192]).unwrap();
    let mut rng = Rng::with_seed(9);
    let (mut torn, mut lengths) = (0, std::collections::BTreeSet::new());
    for _ in 0..400 {
        let bytes = disk.power_cut(&mut rng).bytes;
        lengths.insert(bytes.len());
        assert!(bytes[..100].iter().all(|byte| *byte == b'o'));
        assert!(bytes.iter().skip(8192).all(|byte| [0, b'n'].contains(byte)));
        for sector in bytes[512..7680].chunks(512) {
            assert!(
                sector.iter().all(|byte| *byte == sector[0]),
                "a sector is old or whole"
            );
            assert!([b'o', b'n'].contains(&sector[0]));
        }
        let kept = bytes[512..7680]
            .chunks(512)
            .filter(|sector| sector[0] == b'n')
            .count();
        torn += usize::from(kept > 0 && kept < 14);
    }
    assert!(torn > 20, "{torn}");
    assert_eq!(
        lengths.into_iter().collect::<Vec<_>>(),
        [8192, 12288, 16384]
    );
}

#[test]
fn random_cuts_reorder_overlapping_writes() {
    let (disk, backend) = disk_with(b"o");
    backend.write(0, b"1").unwrap();
    backend.write(0, b"2").unwrap();
    let mut rng = Rng::with_seed(5);
    let seen: std::collections::BTreeSet<u8> = (0..200)
        .map(|_| disk.power_cut(&mut rng).bytes[0])
        .collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), b"12o");
}

#[test]
fn random_cuts_repeat_with_their_seed() {
    let (disk, backend) = disk_with(&[b'o'; 4096]);
    backend.write(0, &[b'n'; 9000]).unwrap();
    let images = |seed| {
        let mut rng = Rng::with_seed(seed);
        (0..20)
            .map(|_| disk.power_cut(&mut rng))
            .collect::<Vec<_>>()
    };
    assert_eq!(images(4), images(4));
    assert_ne!(images(4), images(5));
}

#[test]
fn files_vanish_until_a_barrier_covers_their_entry() {
    let disk = SimDisk::new(1);
    let backend = disk.backend();
    backend.write(0, b"abc").unwrap();
    backend.sync_range(0, 3).unwrap();
    let gone = disk.image(Cut::Nothing, &mut Rng::with_seed(1));
    assert!(!gone.has_entry && gone.bytes.is_empty());
    assert!(
        disk.image(Cut::Everything, &mut Rng::with_seed(1))
            .has_entry
    );
    let mut rng = Rng::with_seed(1);
    let kept = (0..100)
        .filter(|_| disk.power_cut(&mut rng).has_entry)
        .count();
    assert!((50..95).contains(&kept), "{kept}");
    backend.sync_data().unwrap();
    assert!(disk.image(Cut::Nothing, &mut Rng::with_seed(1)).has_entry);
}

#[test]
fn entries_can_wait_for_a_directory_sync() {
    let disk = SimDisk::new(1);
    disk.demand_directory_sync();
    let backend = disk.backend();
    backend.write(0, b"abc").unwrap();
    backend.sync_data().unwrap();
    assert!(!disk.image(Cut::Nothing, &mut Rng::with_seed(1)).has_entry);
    disk.sync_directory();
    assert_eq!(left_by(&disk, Cut::Nothing), b"abc");
}

#[test]
fn disks_go_on_from_images() {
    let (disk, backend) = disk_with(b"abcd");
    backend.write(0, b"X").unwrap();
    let mut rng = Rng::with_seed(2);
    let reopened = SimDisk::from_image(&disk.image(Cut::Nothing, &mut rng), 2);
    assert_eq!(read(&reopened.backend()), b"abcd");
    assert_eq!(reopened.operation_count(), 0);
    let (durable, cached) = (disk.durable_bytes(), disk.cached_bytes());
    assert_eq!(
        (durable.as_slice(), cached.as_slice()),
        (&b"abcd"[..], &b"Xbcd"[..])
    );
    let copied = SimDisk::from_bytes(cached, 2);
    assert_eq!(left_by(&copied, Cut::Nothing), b"Xbcd");
}

#[test]
fn forks_go_their_own_way() {
    let (disk, backend) = disk_with(b"abcd");
    backend.write(0, b"X").unwrap();
    let fork = disk.fork();
    fork.backend().write(1, b"Y").unwrap();
    backend.sync_data().unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"Xbcd");
    assert_eq!(left_by(&fork, Cut::Nothing), b"abcd");
    assert_eq!(fork.cached_bytes(), b"XYcd");
}

#[test]
fn kills_keep_the_cache_and_refuse_old_backends() {
    let (disk, old) = disk_with(b"abcd");
    old.write(0, b"X").unwrap();
    disk.kill();
    for error in [
        old.len().unwrap_err(),
        old.read(0, &mut [0]).unwrap_err(),
        old.write(0, b"Y").unwrap_err(),
        old.sync_data().unwrap_err(),
        old.random(&mut [0]).unwrap_err(),
        old.close().unwrap_err(),
    ] {
        assert!(error.to_string().contains("killed"), "{error}");
    }
    assert_eq!(read(&disk.backend()), b"Xbcd");
    assert_eq!(left_by(&disk, Cut::Nothing), b"abcd");
    disk.backend().sync_data().unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"Xbcd");
}

#[test]
fn crashes_freeze_the_disk_before_the_nth_change() {
    let (disk, backend) = disk_with(b"abcd");
    assert_eq!(disk.operation_count(), 2);
    disk.crash_at(4);
    backend.write(0, b"X").unwrap();
    backend.read(0, &mut [0]).unwrap();
    assert!(!disk.has_crashed());
    assert!(is_crash(&backend.sync_data().unwrap_err()));
    assert!(disk.has_crashed());
    for error in [
        backend.read(0, &mut [0]).unwrap_err(),
        backend.write(0, b"Y").unwrap_err(),
        backend.set_len(0).unwrap_err(),
        backend.len().unwrap_err(),
    ] {
        assert!(is_crash(&error), "{error}");
    }
    assert_eq!(disk.operation_count(), 3);
    assert_eq!(disk.cached_bytes(), b"Xbcd");
    assert_eq!(left_by(&disk, Cut::Nothing), b"abcd");
    disk.kill();
    disk.backend().write(1, b"Z").unwrap();
    assert_eq!(disk.cached_bytes(), b"XZcd");
}

#[test]
fn errors_come_at_the_planned_call_with_their_kind() {
    let codes = [
        (ErrorCode::Enospc, ErrorKind::StorageFull),
        (ErrorCode::Edquot, ErrorKind::QuotaExceeded),
        (ErrorCode::Efbig, ErrorKind::FileTooLarge),
    ];
    for (code, kind) in codes {
        let (disk, backend) = disk_with(b"abcd");
        disk.fail_at(OperationClass::Write, 2, Fault::Fail(code));
        backend.write(0, b"X").unwrap();
        assert_eq!(backend.write(1, b"Y").unwrap_err().kind(), kind);
        backend.write(2, b"Z").unwrap();
        assert_eq!(read(&backend), b"XbZd");
        assert_eq!(disk.counters().faults, 1);
    }
    let (disk, backend) = disk_with(b"abcd");
    for (nth, class) in [
        OperationClass::Read,
        OperationClass::SetLen,
        OperationClass::Allocate,
    ]
    .into_iter()
    .enumerate()
    {
        disk.fail_at(class, 1, Fault::Fail(ErrorCode::Eio));
        let outcome = match nth {
            0 => backend.read(0, &mut [0]),
            1 => backend.set_len(2),
            _ => backend.allocate(0, 10),
        };
        outcome.unwrap_err();
        assert_eq!(read(&backend), b"abcd");
    }
}

#[test]
fn lasting_faults_end_when_cleared() {
    let (disk, backend) = disk_with(b"abcd");
    disk.fail_from(OperationClass::Change, 1, Fault::Fail(ErrorCode::Eio));
    backend.write(0, b"X").unwrap_err();
    backend.set_len(0).unwrap_err();
    assert_eq!(read(&backend), b"abcd");
    disk.clear_faults();
    backend.write(0, b"X").unwrap();
}

#[test]
fn short_writes_store_a_prefix_and_fail() {
    let (disk, backend) = disk_with(b"abcd");
    let fault = Fault::Short {
        kept_bytes: 2,
        code: ErrorCode::Enospc,
    };
    disk.fail_at(OperationClass::Write, 1, fault);
    let parts = [IoSlice::new(b"W"), IoSlice::new(b"XYZ")];
    let error = backend.write_vectored(0, &parts).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(read(&backend), b"WXcd");
    disk.fail_at(OperationClass::Allocate, 1, fault);
    backend.allocate(0, 100).unwrap_err();
    assert_eq!(backend.len().unwrap(), 6);
    disk.fail_at(OperationClass::SetLen, 1, fault);
    backend.set_len(7).unwrap_err();
    assert_eq!(backend.len().unwrap(), 7);
}

#[test]
fn quotas_stop_growth_and_nothing_else() {
    let (disk, backend) = disk_with(b"abcd");
    disk.quota(Some(6));
    assert_eq!(
        backend.write(2, b"CDEFGH").unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    assert_eq!(read(&backend), b"abCDEF");
    assert_eq!(disk.counters().faults, 1);
    assert_eq!(
        backend.set_len(7).unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    assert_eq!(
        backend.allocate(6, 1).unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    backend.write(0, b"AB").unwrap();
    backend.allocate(0, 6).unwrap();
    backend.set_len(3).unwrap();
    backend.sync_data().unwrap();
    disk.quota(None);
    backend.allocate(0, 100).unwrap();
    assert_eq!(backend.len().unwrap(), 100);
}

#[test]
fn failed_barriers_drop_their_data_for_good() {
    let (disk, backend) = disk_with(b"abcd");
    backend.write(0, b"WX").unwrap();
    disk.fail_at(OperationClass::Barrier, 1, Fault::Fail(ErrorCode::Eio));
    backend.sync_data().unwrap_err();
    assert_eq!(
        read(&backend),
        b"WXcd",
        "reads go on returning what was dropped"
    );
    backend.sync_data().unwrap();
    assert_eq!(
        left_by(&disk, Cut::Nothing),
        b"abcd",
        "a later barrier does not bring it back"
    );
    backend.write(1, b"Y").unwrap();
    backend.sync_data().unwrap();
    assert_eq!(
        left_by(&disk, Cut::Nothing),
        b"aYcd",
        "writing it again does"
    );
    disk.evict_clean();
    assert_eq!(read(&backend), b"aYcd");
}

#[test]
fn calls_after_a_failed_barrier_are_counted_until_the_next_backend() {
    let (disk, backend) = disk_with(b"abcd");
    disk.fail_at(OperationClass::Barrier, 1, Fault::Fail(ErrorCode::Eio));
    backend.sync_data().unwrap_err();
    backend.read(0, &mut [0]).unwrap();
    assert_eq!(disk.counters().after_failed_barrier, 0);
    backend.write(0, b"X").unwrap();
    backend.sync_data().unwrap();
    assert_eq!(disk.counters().after_failed_barrier, 2);
    disk.backend().write(0, b"Y").unwrap();
    assert_eq!(disk.counters().after_failed_barrier, 2);
}

#[test]
fn failed_range_barriers_drop_their_range_alone() {
    let (disk, backend) = disk_with(b"abcd");
    backend.write(0, b"WXYZ").unwrap();
    disk.fail_at(OperationClass::Barrier, 1, Fault::Fail(ErrorCode::Eio));
    backend.sync_range(1, 2).unwrap_err();
    backend.sync_data().unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"WbcZ");
}

#[test]
fn failed_barriers_keep_lengths_for_the_next_one() {
    let (disk, backend) = disk_with(b"abcd");
    backend.write(2, b"XYZ").unwrap();
    disk.fail_at(OperationClass::Barrier, 1, Fault::Fail(ErrorCode::Eio));
    backend.sync_data().unwrap_err();
    backend.sync_data().unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"abcd\0");
}

#[test]
fn failed_barriers_may_store_some_sectors() {
    let disk = SimDisk::new(3);
    let backend = disk.backend();
    backend.write(0, &[b'o'; 16 * 512]).unwrap();
    backend.sync_data().unwrap();
    disk.set_sync_loss(SyncLoss::Sectors);
    backend.write(0, &[b'n'; 20 * 512]).unwrap();
    disk.fail_at(OperationClass::Barrier, 1, Fault::Fail(ErrorCode::Eio));
    backend.sync_data().unwrap_err();
    let left = left_by(&disk, Cut::Nothing);
    assert_eq!(left.len(), 16 * 512);
    let stored = left.chunks(512).filter(|sector| sector[0] == b'n').count();
    assert!((1..16).contains(&stored), "{stored}");
}

#[test]
fn ignored_barriers_make_nothing_durable() {
    let (disk, backend) = disk_with(b"abcd");
    disk.ignore_barriers();
    backend.write(0, b"XYZ").unwrap();
    backend.sync_data().unwrap();
    backend.sync_range(0, 3).unwrap();
    assert_eq!(left_by(&disk, Cut::Nothing), b"abcd");
    assert_eq!(disk.barrier_count(), 3);
}

#[test]
fn reads_return_flipped_bits_as_planned() {
    let (disk, backend) = disk_with(b"abcd");
    disk.fail_at(OperationClass::Read, 2, Fault::FlipBit(8));
    assert_eq!(read(&backend), b"abcd");
    assert_eq!(read(&backend), b"accd");
    assert_eq!(read(&backend), b"abcd");
    disk.flip_on_read(3, 0x20);
    assert_eq!(read(&backend), b"abcD");
    assert_eq!(disk.cached_bytes(), b"abcd");
    disk.clear_faults();
    assert_eq!(read(&backend), b"abcd");
}

#[test]
fn rotten_bytes_are_rotten_everywhere() {
    let (disk, backend) = disk_with(b"abcd");
    backend.write(4, b"e").unwrap();
    disk.corrupt(0, 0x20).unwrap();
    disk.corrupt(4, 0x20).unwrap();
    assert_eq!(read(&backend), b"AbcdE");
    assert_eq!(left_by(&disk, Cut::Nothing), b"Abcd");
    disk.corrupt(5, 1).unwrap_err();
}

#[test]
fn lost_and_misdirected_writes_are_acknowledged() {
    let (disk, backend) = disk_with(b"abcd");
    disk.fail_at(OperationClass::Write, 1, Fault::LoseWrite);
    backend.write(3, b"XY").unwrap();
    assert_eq!(read(&backend), b"abcd\0");
    disk.fail_at(OperationClass::Write, 1, Fault::Misdirect(0));
    backend.write(2, b"ZZ").unwrap();
    assert_eq!(read(&backend), b"ZZcd\0");
    disk.fail_at(OperationClass::Write, 1, Fault::Misdirect(u64::MAX));
    backend.write(0, b"Q").unwrap_err();
}

#[test]
fn faults_that_do_not_fit_a_call_are_plain_errors() {
    let (disk, backend) = disk_with(b"abcd");
    disk.fail_at(OperationClass::Any, 1, Fault::FlipBit(0));
    backend.write(0, b"X").unwrap_err();
    disk.fail_at(OperationClass::Any, 1, Fault::LoseWrite);
    backend.sync_data().unwrap_err();
    disk.fail_at(OperationClass::Any, 1, Fault::Misdirect(0));
    backend.read(0, &mut [0]).unwrap_err();
    assert_eq!(read(&backend), b"abcd");
}

#[test]
fn calls_are_counted_and_logged() {
    let (disk, backend) = disk_with(b"abcd");
    backend.read(1, &mut [0; 2]).unwrap();
    backend.set_len(9).unwrap();
    backend.allocate(3, 4).unwrap();
    backend.sync_range(1, 2).unwrap();
    backend.close().unwrap();
    backend.read(0, &mut [0]).unwrap_err();
    let counters = disk.counters();
    assert_eq!((counters.reads, counters.bytes_read), (1, 2));
    assert_eq!((counters.writes, counters.bytes_written), (1, 4));
    assert_eq!(counters.len_max, 9);
    assert_eq!((counters.syncs, counters.range_syncs), (1, 1));
    assert_eq!((counters.set_lens, counters.allocates), (1, 1));
    assert_eq!((counters.closes, counters.after_close), (1, 1));
    assert_eq!((disk.operation_count(), disk.barrier_count()), (5, 2));
    let log = disk.operations();
    assert_eq!(
        log[0],
        Operation {
            kind: OperationKind::Write,
            offset: 0,
            len: 4
        }
    );
    let kinds: Vec<_> = log.iter().map(|operation| operation.kind).collect();
    assert_eq!(
        kinds[1..],
        [
            OperationKind::Sync,
            OperationKind::Read,
            OperationKind::SetLen,
            OperationKind::Allocate,
            OperationKind::SyncRange,
        ]
    );
}

#[test]
fn random_bytes_repeat_with_the_seed() {
    let draw = |seed| {
        let mut out = [0; 16];
        SimDisk::new(seed).backend().random(&mut out).unwrap();
        out
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

/// Whatever is done between two barriers, a random cut never touches a byte that no pending operation covers, and
/// replaying everything gives what reads return.
#[test]
fn cuts_respect_what_is_durable_in_random_histories() {
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let disk = SimDisk::new(seed);
        let backend = disk.backend();
        for _ in 0..60 {
            let offset = rng.u64(..20_000);
            match rng.u8(..10) {
                0 => backend.set_len(rng.u64(..20_000)).unwrap(),
                1 => backend.allocate(offset, rng.u64(..4000)).unwrap(),
                2 => backend.sync_data().unwrap(),
                3 | 4 => {
                    let len = rng.u64(1..4000);
                    backend.sync_range(offset, len).unwrap();
                    check_range_is_durable(&disk, offset, len, &mut rng);
                }
                _ => {
                    let mut data = vec![0; rng.usize(1..3000)];
                    rng.fill(&mut data);
                    backend.write(offset, &data).unwrap();
                }
            }
            let cached = disk.cached_bytes();
            assert!(left_by(&disk, Cut::Everything) == cached, "seed {seed}");
            assert!(
                left_by(&disk, Cut::Prefix(usize::MAX)) == cached,
                "seed {seed}"
            );
        }
        let before = disk.cached_bytes();
        disk.evict_clean();
        let unchanged = disk.cached_bytes() == before;
        assert!(
            unchanged,
            "without a failed barrier nothing is clean; seed {seed}"
        );
    }
}

fn check_range_is_durable(disk: &SimDisk, offset: u64, len: u64, rng: &mut Rng) {
    let cached = disk.cached_bytes();
    let start = usize::try_from(offset).unwrap().min(cached.len());
    let end = usize::try_from(offset + len).unwrap().min(cached.len());
    for _ in 0..5 {
        let image = disk.power_cut(rng);
        assert!(!image.has_entry || image.bytes[start..end] == cached[start..end]);
    }
}
