//! The escapes that keep any bytes on one line of a TSV file.
//!
//! | written | stands for |
//! |---|---|
//! | `\t` `\n` `\r` `\\` | TAB, line feed, carriage return, backslash |
//! | `\xHH` | the byte HH: other control characters and bytes that are not UTF-8 |
//!
//! # Invariants
//! 1. `unescape(escape(x)) = x` for all bytes x.
//! 2. Escaped text is valid UTF-8 and holds no control character, so it can neither break a line nor steer a terminal.
//! 3. A backslash followed by anything else is an error, never passed through: else a typing mistake would change data.

use std::borrow::Cow;
use std::fmt;

use crate::hex;

/// Appends the escaped form of `bytes` to `out`.
pub(crate) fn escape_into(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes
        .iter()
        .all(|&byte| matches!(byte, b' '..=b'~') && byte != b'\\')
    {
        out.extend_from_slice(bytes);
        return;
    }
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            escape_char(c, out);
        }
        for &byte in chunk.invalid() {
            escape_byte(byte, out);
        }
    }
}

/// The escaped form of `bytes` as text.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    escape_into(bytes, &mut out);
    // Invariant (2) makes this lossless.
    String::from_utf8_lossy(&out).into_owned()
}

fn escape_char(c: char, out: &mut Vec<u8>) {
    let mut buf = [0; 4];
    let encoded = c.encode_utf8(&mut buf).as_bytes();
    match c {
        '\t' => out.extend_from_slice(b"\\t"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\\' => out.extend_from_slice(b"\\\\"),
        _ if c.is_control() => encoded.iter().for_each(|&byte| escape_byte(byte, out)),
        _ => out.extend_from_slice(encoded),
    }
}

fn escape_byte(byte: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\x");
    for nibble in [byte >> 4, byte & 15] {
        let mut buf = [0; 4];
        out.extend_from_slice(hex::digit(nibble).encode_utf8(&mut buf).as_bytes());
    }
}

/// A backslash that begins no escape.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct BadEscape {
    /// The backslash and what follows it, at most four bytes.
    text: Vec<u8>,
}

impl fmt::Display for BadEscape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.text.get(1..).unwrap_or_default();
        write!(
            f,
            "unknown escape \\{} (write \\\\ for a backslash; known are \\t \\n \\r \\\\ \\xHH)",
            escape(shown)
        )
    }
}

/// The bytes that escaped `text` stands for.
///
/// # Errors
/// The first backslash that begins no escape.
pub(crate) fn unescape(text: &[u8]) -> Result<Cow<'_, [u8]>, BadEscape> {
    if !text.contains(&b'\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        let (plain, escaped) = rest.split_at(at);
        out.extend_from_slice(plain);
        let (byte, after) = unescape_one(escaped).ok_or_else(|| bad_escape(escaped))?;
        out.push(byte);
        rest = after;
    }
    out.extend_from_slice(rest);
    Ok(Cow::Owned(out))
}

/// The byte of the escape at the start of `text`, and what follows it.
fn unescape_one(text: &[u8]) -> Option<(u8, &[u8])> {
    match text {
        [b'\\', b't', rest @ ..] => Some((b'\t', rest)),
        [b'\\', b'n', rest @ ..] => Some((b'\n', rest)),
        [b'\\', b'r', rest @ ..] => Some((b'\r', rest)),
        [b'\\', b'\\', rest @ ..] => Some((b'\\', rest)),
        [b'\\', b'x', high, low, rest @ ..] => Some((hex::pair_value(*high, *low)?, rest)),
        _ => None,
    }
}

#[cold]
fn bad_escape(text: &[u8]) -> BadEscape {
    let shown = if text.get(1) == Some(&b'x') { 4 } else { 2 };
    BadEscape {
        text: text.iter().copied().take(shown).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) {
        let text = escape(bytes);
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert_eq!(unescape(text.as_bytes()).as_deref(), Ok(bytes), "{text:?}");
    }

    #[test]
    fn every_byte_and_pair_survives() {
        for high in 0..=255 {
            round_trip(&[high]);
            for low in 0..=255 {
                round_trip(&[high, low]);
            }
        }
    }

    #[test]
    fn random_bytes_survive() {
        let mut rng = fastrand::Rng::with_seed(7);
        let pieces: [&[u8]; 10] = [
            b"\\",
            b"x",
            b"t",
            b"\t",
            b"\r\n",
            b"\xff",
            b"\xc2\x85",
            "\u{1f600}".as_bytes(),
            b"\xe2\x82",
            b"0a",
        ];
        for _ in 0..20_000 {
            let mut bytes = Vec::new();
            for _ in 0..rng.usize(0..12) {
                match rng.choice(pieces) {
                    Some(piece) if rng.bool() => bytes.extend_from_slice(piece),
                    _ => bytes.push(rng.u8(..)),
                }
            }
            round_trip(&bytes);
        }
    }

    #[test]
    fn random_text_is_decoded_or_refused() {
        let mut rng = fastrand::Rng::with_seed(8);
        for _ in 0..20_000 {
            let text: Vec<u8> = (0..rng.usize(0..10))
                .map(|_| *rng.choice(b"\\xtnr0fF\xff").unwrap_or(&b'x'))
                .collect();
            if let Ok(bytes) = unescape(&text) {
                round_trip(&bytes);
            }
        }
    }

    #[test]
    fn escapes_are_readable() {
        assert_eq!(escape(b"a\tb\\\n\r\0\xff"), r"a\tb\\\n\r\x00\xff");
        assert_eq!(escape("caf\u{e9}".as_bytes()), "caf\u{e9}");
    }

    #[test]
    fn unknown_escapes_are_named() {
        for (text, shown) in [
            (r"a\qb", r"\q"),
            ("\\", "\\ "),
            (r"\x4", r"\x4"),
            (r"\xzz1", r"\xzz"),
            (r"\X41", r"\X"),
        ] {
            let error = unescape(text.as_bytes()).expect_err(text).to_string();
            assert!(
                error.starts_with(&format!("unknown escape {shown}")),
                "{error}"
            );
        }
    }
}
