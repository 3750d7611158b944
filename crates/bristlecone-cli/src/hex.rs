//! Hexadecimal form of keys and values, for `--hex` and the `_hex` fields of JSON lines.

/// `bytes` in lower-case hexadecimal.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for &byte in bytes {
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
    out
}

/// The bytes that `text` stands for; upper and lower case, an optional `0x` before.
///
/// # Errors
/// What is wrong with the text, as the end of a sentence.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let digits = text
        .strip_prefix(b"0x")
        .or_else(|| text.strip_prefix(b"0X"))
        .unwrap_or(text);
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err("odd number of hexadecimal digits");
    }
    pairs
        .map(|pair| match pair {
            [high, low] => pair_value(*high, *low),
            _ => None,
        })
        .collect::<Option<Vec<u8>>>()
        .ok_or("not a hexadecimal digit")
}

/// The byte of two digits, if both are digits.
pub(crate) fn pair_value(high: u8, low: u8) -> Option<u8> {
    Some(nibble(high)? << 4 | nibble(low)?)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// The digit of a number below 16.
pub(crate) fn digit(nibble: u8) -> char {
    char::from(if nibble < 10 {
        b'0' + nibble
    } else {
        b'a' + (nibble - 10)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(encode(&bytes).as_bytes()), Ok(bytes.clone()));
        assert_eq!(decode(encode(&bytes).to_uppercase().as_bytes()), Ok(bytes));
    }

    #[test]
    fn prefix_is_optional() {
        assert_eq!(decode(b"0x00ff"), Ok(vec![0, 255]));
        assert_eq!(decode(b""), Ok(vec![]));
    }

    #[test]
    fn bad_text_is_refused() {
        assert!(decode(b"abc").is_err());
        assert!(decode(b"0g").is_err());
        assert!(decode(b"+1").is_err());
    }
}
