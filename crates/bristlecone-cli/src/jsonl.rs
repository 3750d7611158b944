//! Records as JSON lines: `{"key":"..","value":".."}`.
//!
//! A side that is not UTF-8 is written as `key_hex` or `value_hex` instead. Other fields are refused: a misspelt name
//! would else lose data silently.

use serde_json::{Map, Value};

use crate::hex;

/// The field of `bytes`: text if it is UTF-8 and `as_hex` is not asked for.
fn put_side(object: &mut Map<String, Value>, name: &str, bytes: &[u8], as_hex: bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) if !as_hex => object.insert(name.to_owned(), Value::from(text)),
        _ => object.insert(format!("{name}_hex"), Value::from(hex::encode(bytes))),
    };
}

/// Appends the line of a record, its end included.
pub(crate) fn write(
    key: &[u8],
    value: &[u8],
    key_as_hex: bool,
    value_as_hex: bool,
    out: &mut Vec<u8>,
) {
    let mut object = Map::new();
    put_side(&mut object, "key", key, key_as_hex);
    put_side(&mut object, "value", value, value_as_hex);
    out.extend_from_slice(Value::from(object).to_string().as_bytes());
    out.push(b'\n');
}

/// The object on a line.
///
/// # Errors
/// What is wrong with the line.
pub(crate) fn object(line: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("not a JSON object".to_owned()),
        Err(error) => {
            // The library's text ends in a place that counts lines from this line.
            let text = error.to_string();
            let what = text.split(" at line ").next().unwrap_or_default();
            Err(format!("not JSON: {what} at column {}", error.column()))
        }
    }
}

/// Takes key and value out of `object`.
///
/// # Errors
/// A missing, doubled, mistyped or unknown field.
pub(crate) fn take_pair(mut object: Map<String, Value>) -> Result<(Vec<u8>, Vec<u8>), String> {
    let key = take_side(&mut object, "key")?;
    let value = take_side(&mut object, "value")?;
    match object.keys().next() {
        Some(name) => Err(format!(
            "unknown field {:?} (known are key, key_hex, value, value_hex)",
            name
        )),
        None => Ok((key, value)),
    }
}

fn take_side(object: &mut Map<String, Value>, name: &str) -> Result<Vec<u8>, String> {
    let hex_name = format!("{name}_hex");
    match (object.remove(name), object.remove(&hex_name)) {
        (Some(Value::String(text)), None) => Ok(text.into_bytes()),
        (None, Some(Value::String(text))) => {
            hex::decode(text.as_bytes()).map_err(|what| format!("{hex_name}: {what}"))
        }
        (Some(_), Some(_)) => Err(format!("both {name} and {hex_name}")),
        (None, None) => Err(format!("neither {name} nor {hex_name}")),
        (Some(_), None) => Err(format!("{name} is not a string")),
        (None, Some(_)) => Err(format!("{hex_name} is not a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
        take_pair(object(line)?)
    }

    #[test]
    fn nasty_records_survive() {
        for (key, value) in [
            (&b""[..], &b""[..]),
            (b"a\"b", b"\r\n\0"),
            (b"\\", b"\xff\0"),
            ("\u{1f600}".as_bytes(), b"v"),
        ] {
            for as_hex in [false, true] {
                let mut line = Vec::new();
                write(key, value, as_hex, false, &mut line);
                assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
                assert_eq!(parse(&line), Ok((key.to_vec(), value.to_vec())));
            }
        }
    }

    #[test]
    fn text_is_shown_as_text() {
        let mut line = Vec::new();
        write(b"k", b"\xff", false, false, &mut line);
        assert_eq!(line, b"{\"key\":\"k\",\"value_hex\":\"ff\"}\n");
    }

    #[test]
    fn bad_lines_are_refused() {
        let cases: [(&str, &str); 9] = [
            ("", "not JSON: EOF while parsing a value at column 0"),
            ("[1]", "not a JSON object"),
            (r#"{"key":"k"}"#, "neither value nor value_hex"),
            (r#"{"key":1,"value":"v"}"#, "key is not a string"),
            (
                r#"{"key":"k","key_hex":"00","value":"v"}"#,
                "both key and key_hex",
            ),
            (
                r#"{"key":"k","value_hex":"0"}"#,
                "value_hex: odd number of hexadecimal digits",
            ),
            (
                r#"{"key":"k","value":"v","ttl":"1"}"#,
                "unknown field \"ttl\"",
            ),
            (
                r#"{"key":"k","value":"v"} x"#,
                "not JSON: trailing characters at column 25",
            ),
            (r#"{"key":"k""#, "not JSON: EOF while parsing an object"),
        ];
        for (line, what) in cases {
            let error = parse(line.as_bytes()).expect_err(line);
            assert!(error.starts_with(what), "{line}: {error}");
        }
    }
}
