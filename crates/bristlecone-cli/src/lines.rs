//! Input by lines, with the numbers that error messages need.
//!
//! A line ends with LF or CR LF; the last one may end with the input. One empty line at the very end is not a line.
//! Memory is that of the longest line.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::rc::Rc;

use crate::failure::{Failure, Outcome, Reason};

const BUFFER_BYTES: usize = 256 * 1024;

/// The lines of a file or of standard input.
pub(crate) struct Lines {
    source: Box<dyn BufRead>,
    name: Rc<str>,
    line: Vec<u8>,
    number: u64,
    bytes_read: u64,
    bytes_total: Option<u64>,
    peeked: bool,
}

impl Lines {
    /// Opens `path`, or standard input if it is `-`.
    ///
    /// # Errors
    /// [`Failure::Open`] for what cannot be read by lines.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        if path == Path::new("-") {
            let source = BufReader::with_capacity(BUFFER_BYTES, io::stdin());
            return Ok(Lines::new(Box::new(source), "standard input", None));
        }
        let name = path.display().to_string();
        let refuse = |reason: String| Failure::Open(format!("cannot open input {name}: {reason}"));
        let file = File::open(path).map_err(|error| refuse(Reason(&error).to_string()))?;
        let metadata = file
            .metadata()
            .map_err(|error| refuse(Reason(&error).to_string()))?;
        if metadata.is_dir() {
            return Err(refuse("is a directory".to_owned()));
        }
        let total = metadata.is_file().then_some(metadata.len());
        Ok(Lines::new(
            Box::new(BufReader::with_capacity(BUFFER_BYTES, file)),
            &name,
            total,
        ))
    }

    /// The lines of `source`, called `name` in messages.
    pub(crate) fn new(source: Box<dyn BufRead>, name: &str, bytes_total: Option<u64>) -> Self {
        Lines {
            source,
            name: name.into(),
            line: Vec::new(),
            number: 0,
            bytes_read: 0,
            bytes_total,
            peeked: false,
        }
    }

    /// The next line without its end, or nothing at the end of the input.
    pub(crate) fn next(&mut self) -> Outcome<Option<&[u8]>> {
        let found = if self.peeked {
            !self.line.is_empty()
        } else {
            self.read()?
        };
        self.peeked = false;
        Ok(found.then(|| content(&self.line)))
    }

    /// The line that [`Lines::next`] will return.
    pub(crate) fn peek(&mut self) -> Outcome<Option<&[u8]>> {
        if !self.peeked {
            self.read()?;
            self.peeked = true;
        }
        Ok((!self.line.is_empty()).then(|| content(&self.line)))
    }

    /// How many bytes were consumed.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Length of the input, where it has one.
    pub(crate) fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// Where the line stands that [`Lines::next`] will return.
    pub(crate) fn next_place(&self) -> Place {
        Place {
            name: Rc::clone(&self.name),
            number: self.number + u64::from(!self.peeked),
        }
    }

    /// Fills `line`, its end included; leaves it empty at the end of the input.
    fn read(&mut self) -> Outcome<bool> {
        self.line.clear();
        let got = self.fill()?;
        if got && content(&self.line).is_empty() && self.at_end()? {
            self.line.clear();
            return Ok(false);
        }
        Ok(got)
    }

    fn at_end(&mut self) -> Outcome<bool> {
        match self.source.fill_buf() {
            Ok(rest) => Ok(rest.is_empty()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn fill(&mut self) -> Outcome<bool> {
        let got = match self.source.read_until(b'\n', &mut self.line) {
            Ok(got) => got,
            Err(error) => return Err(self.failed(&error)),
        };
        self.bytes_read = self
            .bytes_read
            .saturating_add(u64::try_from(got).unwrap_or(u64::MAX));
        self.number += u64::from(got > 0);
        Ok(got > 0)
    }

    #[cold]
    fn failed(&self, error: &io::Error) -> Failure {
        Failure::Work(format!(
            "cannot read {} after line {}: {}",
            self.name,
            self.number,
            Reason(error)
        ))
    }
}

/// The place of a line, for messages.
pub(crate) struct Place {
    name: Rc<str>,
    number: u64,
}

impl Place {
    /// The failure of this line.
    #[cold]
    pub(crate) fn malformed(&self, what: impl Display) -> Failure {
        Failure::Work(format!("{}: line {}: {what}", self.name, self.number))
    }
}

/// `line` without LF or CR LF.
fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &'static [u8]) -> Lines {
        Lines::new(Box::new(input), "input", None)
    }

    fn all(input: &'static [u8]) -> Vec<Vec<u8>> {
        let mut lines = lines(input);
        std::iter::from_fn(|| lines.next().expect("in memory").map(<[u8]>::to_vec)).collect()
    }

    #[test]
    fn line_ends_are_not_content() {
        assert_eq!(all(b"a\tb\r\nc\td\ne\tf"), [b"a\tb", b"c\td", b"e\tf"]);
        assert_eq!(all(b"a\r\r\n"), [b"a\r"]);
    }

    #[test]
    fn only_the_last_empty_line_is_skipped() {
        assert_eq!(all(b""), [b""; 0]);
        assert_eq!(all(b"\n"), [b""; 0]);
        assert_eq!(all(b"a\n\r\n"), [b"a"]);
        assert_eq!(all(b"a\n\nb\n"), [&b"a"[..], b"", b"b"]);
    }

    #[test]
    fn peek_consumes_nothing() {
        let mut lines = lines(b"a\nb\n");
        assert_eq!(lines.peek().expect("line"), Some(&b"a"[..]));
        assert_eq!(lines.peek().expect("line"), Some(&b"a"[..]));
        assert_eq!(lines.next().expect("line"), Some(&b"a"[..]));
        assert_eq!(lines.next().expect("line"), Some(&b"b"[..]));
        assert_eq!(lines.peek().expect("end"), None);
        assert_eq!(lines.next().expect("end"), None);
    }

    #[test]
    fn messages_name_the_line() {
        let mut lines = lines(b"a\nb\n");
        assert_eq!(
            lines.next_place().malformed("bad").message(),
            Some("input: line 1: bad")
        );
        lines.next().expect("line");
        lines.peek().expect("line");
        assert_eq!(
            lines.next_place().malformed("bad").message(),
            Some("input: line 2: bad")
        );
    }
}
