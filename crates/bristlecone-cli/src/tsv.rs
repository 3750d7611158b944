//! Records as lines of text: key, TAB, value.
//!
//! The first TAB ends the key; further TABs belong to the value. Both sides are escaped as `escape` says, or are
//! hexadecimal under `--hex`.

use std::borrow::Cow;

use crate::escape;
use crate::hex;

/// A record read from a line.
pub(crate) type Pair<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

/// Appends the line of a record, its end included.
pub(crate) fn write(key: &[u8], value: &[u8], as_hex: bool, out: &mut Vec<u8>) {
    if as_hex {
        out.extend_from_slice(hex::encode(key).as_bytes());
        out.push(b'\t');
        out.extend_from_slice(hex::encode(value).as_bytes());
    } else {
        escape::escape_into(key, out);
        out.push(b'\t');
        escape::escape_into(value, out);
    }
    out.push(b'\n');
}

/// The record of a line.
///
/// # Errors
/// What is wrong with the line.
pub(crate) fn parse(line: &[u8], as_hex: bool) -> Result<Pair<'_>, String> {
    let tab = line
        .iter()
        .position(|&byte| byte == b'\t')
        .ok_or("no TAB between key and value")?;
    let (key, rest) = line.split_at(tab);
    let value = rest.get(1..).unwrap_or_default();
    Ok((
        parse_side(key, as_hex, "key")?,
        parse_side(value, as_hex, "value")?,
    ))
}

fn parse_side<'a>(text: &'a [u8], as_hex: bool, side: &str) -> Result<Cow<'a, [u8]>, String> {
    if as_hex {
        hex::decode(text)
            .map(Cow::Owned)
            .map_err(|what| format!("{side}: {what}"))
    } else {
        escape::unescape(text).map_err(|error| format!("{side}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nasty_records_survive() {
        for (key, value) in [
            (&b""[..], &b""[..]),
            (b"a\tb", b"\r\n"),
            (b"\\", b"\xff\0"),
            (b"k", b"\\t\\\\"),
        ] {
            for as_hex in [false, true] {
                let mut line = Vec::new();
                write(key, value, as_hex, &mut line);
                assert_eq!(line.pop(), Some(b'\n'));
                let (got_key, got_value) = parse(&line, as_hex).expect("own line");
                assert_eq!((&*got_key, &*got_value), (key, value));
            }
        }
    }

    #[test]
    fn further_tabs_belong_to_the_value() {
        let (key, value) = parse(b"k\ta\tb", false).expect("line");
        assert_eq!((&*key, &*value), (&b"k"[..], &b"a\tb"[..]));
    }

    #[test]
    fn bad_lines_are_refused() {
        assert!(parse(b"no separator", false).is_err());
        assert!(
            parse(b"\\q\tv", false)
                .expect_err("escape")
                .starts_with("key: unknown escape")
        );
        assert!(
            parse(b"00\tz", true)
                .expect_err("hex")
                .starts_with("value: ")
        );
    }
}
