//! Loops that turn "some bytes were transferred" into "all of them, or an error".
//!
//! # Invariants
//! 1. A loop ends: each round moves at least one byte, meets a signal (`Interrupted`), or returns.
//! 2. Nothing moved is never success: reading it is `UnexpectedEof`, writing it `WriteZero`.

use std::io::{self, ErrorKind, IoSlice};

/// The most parts one vectored call takes on the systems we know (`IOV_MAX`).
pub(super) const PARTS_MAX: usize = 1024;

/// Fills `out` from `offset` on by as many calls of `read` as it takes.
pub(super) fn read_fully(
    mut offset: u64,
    mut out: &mut [u8],
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
) -> io::Result<()> {
    while !out.is_empty() {
        match read(offset, out) {
            Ok(0) => return Err(past_the_end(offset, out.len())),
            Ok(count) => {
                out = out.get_mut(count..).unwrap_or_default();
                offset = offset.saturating_add(to_u64(count));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all of `data` at `offset` by as many calls of `write` as it takes.
pub(super) fn write_fully(
    mut offset: u64,
    mut data: &[u8],
    mut write: impl FnMut(u64, &[u8]) -> io::Result<usize>,
) -> io::Result<()> {
    while !data.is_empty() {
        match write(offset, data) {
            Ok(0) => return Err(nothing_written(offset, data.len())),
            Ok(count) => {
                data = data.get(count..).unwrap_or_default();
                offset = offset.saturating_add(to_u64(count));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all `parts` one after the other from `offset` on; `write` sees at most [`PARTS_MAX`] of them at once
/// and never an empty list.
pub(super) fn write_parts(
    mut offset: u64,
    parts: &[IoSlice<'_>],
    mut write: impl FnMut(u64, &[IoSlice<'_>]) -> io::Result<usize>,
) -> io::Result<()> {
    for chunk in parts.chunks(PARTS_MAX) {
        let mut owned = chunk.to_vec();
        let mut left = owned.as_mut_slice();
        // Advancing by nothing drops the empty parts in front, which would otherwise look like a zero write.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            let wanted = left.iter().map(|part| part.len()).sum();
            match write(offset, left) {
                Ok(0) => return Err(nothing_written(offset, wanted)),
                Ok(count) => {
                    IoSlice::advance_slices(&mut left, count.min(wanted));
                    offset = offset.saturating_add(to_u64(count));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Calls `call` again for as long as a signal interrupts it.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// The error of a read that reaches past the end.
#[cold]
pub(super) fn past_the_end(offset: u64, wanted: usize) -> io::Error {
    io::Error::new(
        ErrorKind::UnexpectedEof,
        format!("the storage ends before the {wanted} bytes wanted at offset {offset}"),
    )
}

#[cold]
fn nothing_written(offset: u64, wanted: usize) -> io::Error {
    io::Error::new(
        ErrorKind::WriteZero,
        format!("the storage took none of the {wanted} bytes for offset {offset}"),
    )
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `write` against a vector that takes at most `step` bytes a call and is interrupted every other time.
    fn stuttering(
        target: &mut Vec<u8>,
        step: usize,
    ) -> impl FnMut(u64, &[u8]) -> io::Result<usize> {
        let mut calls = 0;
        move |offset, data| {
            calls += 1;
            if calls % 2 == 1 {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = step.min(data.len());
            assert_eq!(offset as usize, target.len());
            target.extend_from_slice(&data[..count]);
            Ok(count)
        }
    }

    #[test]
    fn short_and_interrupted_writes_are_completed() {
        for step in 1..=5 {
            let mut target = Vec::new();
            write_fully(0, b"bristlecone", stuttering(&mut target, step)).unwrap();
            assert_eq!(target, b"bristlecone");
        }
    }

    #[test]
    fn a_write_that_moves_nothing_is_an_error() {
        let mut rounds = 0;
        let error = write_fully(7, b"abc", |_, _| {
            rounds += 1;
            Ok(if rounds == 1 { 1 } else { 0 })
        })
        .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
        assert!(error.to_string().contains("offset 8"), "{error}");
        let parts = [IoSlice::new(b"abc")];
        let error = write_parts(0, &parts, |_, _| Ok(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
    }

    #[test]
    fn other_errors_end_the_loop() {
        let denied = || io::Error::from(ErrorKind::PermissionDenied);
        let kind = ErrorKind::PermissionDenied;
        let parts = [IoSlice::new(b"abc")];
        assert_eq!(
            write_fully(0, b"a", |_, _| Err(denied()))
                .unwrap_err()
                .kind(),
            kind
        );
        assert_eq!(
            write_parts(0, &parts, |_, _| Err(denied()))
                .unwrap_err()
                .kind(),
            kind
        );
        assert_eq!(
            read_fully(0, &mut [0], |_, _| Err(denied()))
                .unwrap_err()
                .kind(),
            kind
        );
        assert_eq!(
            uninterrupted(|| Err::<(), _>(denied())).unwrap_err().kind(),
            kind
        );
    }

    #[test]
    fn short_and_interrupted_reads_are_completed() {
        let source = b"bristlecone";
        let mut calls = 0;
        let mut out = [0; 9];
        read_fully(2, &mut out, |offset, out| {
            calls += 1;
            if calls == 2 {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = out.len().min(2);
            out[..count].copy_from_slice(&source[offset as usize..][..count]);
            Ok(count)
        })
        .unwrap();
        assert_eq!(&out, b"istlecone");
    }

    #[test]
    fn a_read_past_the_end_is_an_error() {
        let error = read_fully(4, &mut [0; 3], |_, _| Ok(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn vectored_writes_are_chunked_and_completed() {
        let bytes: Vec<u8> = (0..3000_u32).map(|number| number as u8).collect();
        let mut parts: Vec<IoSlice<'_>> = vec![IoSlice::new(b"")];
        for piece in bytes.chunks(1) {
            parts.push(IoSlice::new(piece));
            parts.push(IoSlice::new(b""));
        }
        let mut target = Vec::new();
        let mut calls = 0;
        write_parts(0, &parts, |offset, parts| {
            assert!(parts.len() <= PARTS_MAX && !parts.is_empty());
            assert_eq!(offset as usize, target.len());
            calls += 1;
            if calls % 3 == 0 {
                return Err(ErrorKind::Interrupted.into());
            }
            let all: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
            let count = all.len().min(200);
            target.extend_from_slice(&all[..count]);
            Ok(count)
        })
        .unwrap();
        assert_eq!(target, bytes);
    }

    #[test]
    fn interrupted_calls_are_repeated() {
        let mut rounds = 0;
        let value = uninterrupted(|| {
            rounds += 1;
            if rounds < 4 {
                Err(ErrorKind::Interrupted.into())
            } else {
                Ok(rounds)
            }
        });
        assert_eq!(value.unwrap(), 4);
    }
}
