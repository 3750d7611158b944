//! Measuring a process from within: clock, processor time, bytes given to write calls, flushes of the device, memory,
//! size on disk, and how long background work goes on.
//!
//! Figures that the system does not offer are absent rather than zero.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};

/// Time between two looks at whether background work goes on.
pub const POLL: Duration = Duration::from_millis(50);
/// So many looks in a row without any work mean that the engine is idle.
const QUIET_POLLS: u32 = 3;
/// Processor time between two looks that still counts as none: threads that wake up to find nothing to do.
const QUIET_CPU: Duration = Duration::from_millis(1);
/// Background work that has not ended after this long is taken for endless.
const SETTLE_LIMIT: Duration = Duration::from_secs(120);

/// Reads the counters of this process and of the device that holds one folder.
pub struct Meter {
    /// Statistics of the block device, if there is one.
    device: Option<PathBuf>,
    /// Time between two looks at whether background work goes on.
    poll: Duration,
}

/// The counters at one time.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    at: Instant,
    cpu: Duration,
    written_bytes: u64,
    flushes: Option<u64>,
}

/// What was spent between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Seconds of the clock.
    pub seconds: f64,
    /// Processor time of all threads of the process, in seconds.
    pub cpu_seconds: f64,
    /// Bytes given to write calls.
    pub written_bytes: u64,
    /// Flushes that the device completed, for whomever.
    pub flushes: Option<u64>,
}

impl Meter {
    /// A meter for a process that works in `dir`; `poll` is the time between two looks while it settles.
    pub fn of(dir: &Path, poll: Duration) -> Result<Meter> {
        let device = device_of(dir)?.map(|folder| folder.join("stat"));
        Ok(Meter { device, poll })
    }

    /// Reads all counters; the clock is read last, so that what follows starts now.
    pub fn start(&self) -> Result<Reading> {
        let (written_bytes, flushes) = (self.written_bytes()?, self.flushes());
        let cpu = cpu_time();
        Ok(Reading {
            at: Instant::now(),
            cpu,
            written_bytes,
            flushes,
        })
    }

    /// Reads all counters; the clock is read first, so that reading the others costs nothing.
    pub fn stop(&self) -> Result<Reading> {
        let (at, cpu) = (Instant::now(), cpu_time());
        Ok(Reading {
            at,
            cpu,
            written_bytes: self.written_bytes()?,
            flushes: self.flushes(),
        })
    }

    /// Waits until the process has stopped working by itself; returns what was spent from `end` until then.
    ///
    /// The looks that find nothing are not counted.
    pub fn settle(&self, end: &Reading) -> Result<Spent> {
        let mut stillness = Stillness::from(self.stop()?);
        while !stillness.is_idle() {
            thread::sleep(self.poll);
            stillness.look(self.stop()?);
            if end.until(&stillness.last).seconds > SETTLE_LIMIT.as_secs_f64() {
                eprintln!("still working {SETTLE_LIMIT:?} after the row: taken for endless");
                return Ok(end.until(&stillness.last));
            }
        }
        Ok(end.until(&stillness.since))
    }

    /// Bytes given to write calls by this process so far.
    fn written_bytes(&self) -> Result<u64> {
        let text = fs::read_to_string("/proc/self/io").context("reading /proc/self/io")?;
        field(&text, "wchar:").context("no wchar in /proc/self/io")
    }

    /// Flushes completed by the device so far.
    fn flushes(&self) -> Option<u64> {
        // Field 16 of the device's statistics (the kernel's documentation, "Block layer statistics").
        let text = fs::read_to_string(self.device.as_ref()?).ok()?;
        text.split_ascii_whitespace().nth(15)?.parse().ok()
    }
}

/// Decides from one look after the other when a process has stopped working.
struct Stillness {
    /// The last look that saw work.
    since: Reading,
    last: Reading,
    quiet_looks: u32,
}

impl Stillness {
    fn from(first: Reading) -> Stillness {
        Stillness {
            since: first,
            last: first,
            quiet_looks: 0,
        }
    }

    fn look(&mut self, seen: Reading) {
        if seen.busy_since(&self.last) {
            self.since = seen;
            self.quiet_looks = 0;
        } else {
            self.quiet_looks += 1;
        }
        self.last = seen;
    }

    fn is_idle(&self) -> bool {
        self.quiet_looks == QUIET_POLLS
    }
}

impl Reading {
    /// What was spent between this reading and a later one.
    pub fn until(&self, later: &Reading) -> Spent {
        Spent {
            seconds: later.at.duration_since(self.at).as_secs_f64(),
            cpu_seconds: later.cpu.saturating_sub(self.cpu).as_secs_f64(),
            written_bytes: later.written_bytes - self.written_bytes,
            flushes: later.flushes.zip(self.flushes).map(|(new, old)| new - old),
        }
    }

    fn busy_since(&self, earlier: &Reading) -> bool {
        self.written_bytes != earlier.written_bytes || self.cpu - earlier.cpu > QUIET_CPU
    }
}

impl Spent {
    /// Adds what another stretch spent.
    pub fn add(&mut self, other: &Spent) {
        self.seconds += other.seconds;
        self.cpu_seconds += other.cpu_seconds;
        self.written_bytes += other.written_bytes;
        self.flushes = match (self.flushes, other.flushes) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
    }
}

/// Processor time of all threads of this process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The folder in `/sys` of the whole device that holds `dir`, if it lies on one.
fn device_of(dir: &Path) -> Result<Option<PathBuf>> {
    let device = fs::metadata(dir)
        .with_context(|| format!("looking at {}", dir.display()))?
        .dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let Ok(folder) = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")) else {
        return Ok(None);
    };
    // A partition's folder lies in that of its disk, which alone counts flushes.
    let of_disk = folder.join("partition").exists();
    Ok(if of_disk {
        folder.parent().map(Path::to_path_buf)
    } else {
        Some(folder)
    })
}

/// Memory of this process, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The most that was resident at any time, mapped files included.
    pub peak: u64,
    /// What is resident and belongs to no file.
    pub anonymous: u64,
}

/// Reads the memory of this process.
pub fn memory() -> Result<Memory> {
    let text = fs::read_to_string("/proc/self/status").context("reading /proc/self/status")?;
    let kibibytes =
        |name| field(&text, name).with_context(|| format!("no {name} in /proc/self/status"));
    Ok(Memory {
        peak: kibibytes("VmHWM:")? * 1024,
        anonymous: kibibytes("RssAnon:")? * 1024,
    })
}

/// The number behind a name at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Size of a folder's files, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Room taken on the device.
    pub allocated: u64,
    /// Sum of lengths.
    pub apparent: u64,
}

/// Measures all files under `dir`. A file that goes away meanwhile counts nothing.
pub fn size_of(dir: &Path) -> Result<Size> {
    let mut size = Size::default();
    for entry in fs::read_dir(dir).with_context(|| format!("listing {}", dir.display()))? {
        let entry = entry?;
        let meta = match entry.metadata() {
            Err(gone) if gone.kind() == ErrorKind::NotFound => continue,
            meta => meta?,
        };
        if meta.is_dir() {
            let inner = size_of(&entry.path())?;
            size.allocated += inner.allocated;
            size.apparent += inner.apparent;
        } else {
            size.allocated += meta.blocks() * 512;
            size.apparent += meta.len();
        }
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn written_bytes_and_time_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let meter = Meter::of(dir.path(), POLL).unwrap();
        let start = meter.start().unwrap();
        let mut file = fs::File::create(dir.path().join("file")).unwrap();
        file.write_all(&[7; 10_000]).unwrap();
        let spent = start.until(&meter.stop().unwrap());
        // Other tests of this process write as well.
        assert!(spent.written_bytes >= 10_000);
        assert!(spent.seconds > 0.0);
        assert_eq!(size_of(dir.path()).unwrap().apparent, 10_000);
    }

    #[test]
    fn settling_lasts_until_neither_bytes_nor_processor_time_move() {
        let begin = Instant::now();
        let look = |millis, cpu_millis, written_bytes| Reading {
            at: begin + Duration::from_millis(millis),
            cpu: Duration::from_millis(cpu_millis),
            written_bytes,
            flushes: None,
        };
        let end = look(0, 0, 0);
        let mut stillness = Stillness::from(look(1, 0, 0));
        // Quiet twice, a write, quiet twice, processor time alone, quiet at last: a little of it is no work.
        for (millis, cpu, bytes) in [
            (50, 0, 0),
            (100, 0, 0),
            (150, 0, 70),
            (200, 0, 70),
            (250, 1, 70),
            (300, 9, 70),
            (350, 9, 70),
            (400, 10, 70),
        ] {
            stillness.look(look(millis, cpu, bytes));
            assert!(!stillness.is_idle(), "idle at {millis}");
        }
        stillness.look(look(450, 10, 70));
        assert!(stillness.is_idle());
        let spent = end.until(&stillness.since);
        assert_eq!((spent.seconds, spent.written_bytes), (0.3, 70));
    }

    #[test]
    fn memory_is_read() {
        let memory = memory().unwrap();
        assert!(memory.peak > memory.anonymous / 2 && memory.anonymous > 0);
    }
}
