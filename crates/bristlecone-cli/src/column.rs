//! One side of a table, key or value: how its stored bytes are shown, checked, and read from an argument.

use std::borrow::Cow;

use crate::failure::{Failure, Outcome, one_line};
use crate::hex;
use crate::store::{self, KeyOrder, Kind, Shape, TableSchema};

/// One side of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    shape: Shape,
    kind: Kind,
    /// The order of a key; values are stored as they are encoded.
    order: Option<KeyOrder>,
    type_name: String,
}

impl Column {
    /// The key side of a table.
    pub(crate) fn key(schema: &TableSchema) -> Self {
        let shape = schema.key().shape.clone();
        Column {
            kind: Kind::of(&shape),
            shape,
            order: Some(schema.order()),
            type_name: store::key_type(schema),
        }
    }

    /// The value side of a table.
    pub(crate) fn value(schema: &TableSchema) -> Self {
        let shape = schema.value().shape.clone();
        Column {
            kind: Kind::of(&shape),
            shape,
            order: None,
            type_name: store::value_type(schema),
        }
    }

    /// Whether stored bytes are what the user stored: byte strings and text.
    pub(crate) fn is_verbatim(&self) -> bool {
        matches!(self.kind, Kind::Bytes | Kind::Text)
    }

    /// Whether bytes compared one by one order the stored keys.
    pub(crate) fn is_bytewise(&self) -> bool {
        self.order == Some(KeyOrder::Memcmp)
    }

    /// Demands that the engine can find keys without the program that made the table.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub(crate) fn require_order(&self) -> Outcome {
        if self.order == Some(KeyOrder::Foreign) {
            return Err(Failure::Usage(format!(
                "keys of type {} are ordered by their own program: only a scan of the whole table is possible",
                self.type_name
            )));
        }
        Ok(())
    }

    /// What to show for stored bytes: themselves if they are verbatim, else a readable form.
    pub(crate) fn shown<'a>(&self, stored: &'a [u8]) -> Cow<'a, [u8]> {
        if self.is_verbatim() {
            Cow::Borrowed(stored)
        } else {
            Cow::Owned(self.shape.show(&self.encoded(stored)).into_bytes())
        }
    }

    /// Whether `stored` is the stored form of a legal value of the type.
    pub(crate) fn accepts(&self, stored: &[u8]) -> bool {
        if self.shape.is_bytes() {
            return true;
        }
        let encoded = self.encoded(stored);
        self.shape.validate(&encoded) && *self.stored(&encoded) == *stored
    }

    /// The stored form of an argument.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it is not a value of the type, or the type can only be written with `--hex`.
    pub(crate) fn parse(&self, argument: &[u8], as_hex: bool) -> Outcome<Vec<u8>> {
        if as_hex {
            return from_hex(argument);
        }
        let text = std::str::from_utf8(argument);
        let encoded = match (self.kind, text) {
            (Kind::Bytes, _) => Some(argument.to_vec()),
            (Kind::Text, text) => text.ok().map(|text| text.as_bytes().to_vec()),
            (Kind::Unsigned { width }, Ok(text)) => unsigned(text, width),
            (Kind::Signed { width }, Ok(text)) => signed(text, width),
            (Kind::Other, _) => {
                return Err(Failure::Usage(format!(
                    "keys of type {} must be given in stored form, with --hex",
                    self.type_name
                )));
            }
            (_, Err(_)) => None,
        };
        match encoded.filter(|encoded| self.shape.validate(encoded)) {
            Some(encoded) => Ok(self.stored(&encoded).into_owned()),
            None => Err(Failure::Usage(format!(
                "{} is not a key of type {}",
                readable(argument),
                self.type_name
            ))),
        }
    }

    /// The first bytes of stored keys that an argument names; they need not be a key themselves.
    ///
    /// # Errors
    /// [`Failure::Usage`] if keys that begin alike are not neighbours in the table, or cannot be written so.
    pub(crate) fn parse_prefix(&self, argument: &[u8], as_hex: bool) -> Outcome<Vec<u8>> {
        if !self.is_bytewise() || !(self.is_verbatim() || as_hex) {
            return Err(Failure::Usage(format!(
                "--prefix is for keys that are bytes or text, not {}",
                self.type_name
            )));
        }
        if as_hex {
            from_hex(argument)
        } else {
            Ok(argument.to_vec())
        }
    }

    fn encoded<'a>(&self, stored: &'a [u8]) -> Cow<'a, [u8]> {
        match self.order {
            Some(order) => self.shape.from_stored(order, stored),
            None => Cow::Borrowed(stored),
        }
    }

    fn stored<'a>(&self, encoded: &'a [u8]) -> Cow<'a, [u8]> {
        match self.order {
            Some(order) => self.shape.to_stored(order, encoded),
            None => Cow::Borrowed(encoded),
        }
    }
}

fn from_hex(argument: &[u8]) -> Outcome<Vec<u8>> {
    hex::decode(argument).map_err(|what| Failure::Usage(format!("{}: {what}", readable(argument))))
}

/// An argument as a message shows it.
fn readable(argument: &[u8]) -> String {
    one_line(&String::from_utf8_lossy(argument))
}

/// The little-endian form, `width` bytes wide, of a decimal number without sign.
fn unsigned(text: &str, width: usize) -> Option<Vec<u8>> {
    let number: u128 = text.parse().ok()?;
    narrow(number.to_le_bytes(), width, 0)
}

/// The little-endian form, `width` bytes wide, of a decimal number.
fn signed(text: &str, width: usize) -> Option<Vec<u8>> {
    let number: i128 = text.parse().ok()?;
    let fill = if number < 0 { 0xff } else { 0 };
    let bytes = narrow(number.to_le_bytes(), width, fill)?;
    let sign_kept = bytes
        .last()
        .is_some_and(|&top| (top >= 0x80) == (number < 0));
    sign_kept.then_some(bytes)
}

/// The low `width` bytes, if all others are `fill`.
fn narrow(bytes: [u8; 16], width: usize, fill: u8) -> Option<Vec<u8>> {
    let (low, high) = bytes.split_at_checked(width)?;
    high.iter().all(|&byte| byte == fill).then(|| low.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bristlecone::{Key, Value};

    #[test]
    fn numbers_keep_to_their_width() {
        assert_eq!(unsigned("255", 1), Some(vec![255]));
        assert_eq!(unsigned("256", 1), None);
        assert_eq!(unsigned("258", 4), Some(vec![2, 1, 0, 0]));
        assert_eq!(unsigned("-1", 4), None);
        assert_eq!(unsigned(&u128::MAX.to_string(), 16), Some(vec![255; 16]));
        assert_eq!(signed("-128", 1), Some(vec![128]));
        assert_eq!(signed("128", 1), None);
        assert_eq!(signed("-129", 1), None);
        assert_eq!(signed("-2", 2), Some(vec![254, 255]));
        assert_eq!(signed("x", 2), None);
    }

    /// The columns of a table with these types.
    fn columns<K: Key, V: Value>() -> (Column, Column) {
        let schema = TableSchema::of::<K, V>();
        (Column::key(&schema), Column::value(&schema))
    }

    /// Parses `text` and shows the result.
    fn shown_again(column: &Column, text: &str) -> String {
        let stored = column.parse(text.as_bytes(), false).expect(text);
        assert!(column.accepts(&stored), "{text}");
        String::from_utf8(column.shown(&stored).into_owned()).expect("text")
    }

    #[test]
    fn keys_are_parsed_into_stored_form() {
        let (key, value) = columns::<i32, u64>();
        assert_eq!(
            key.parse(b"-1", false).ok(),
            Some(vec![0x7f, 255, 255, 255])
        );
        assert_eq!(
            value.parse(b"258", false).ok(),
            Some(vec![2, 1, 0, 0, 0, 0, 0, 0])
        );
        for text in ["0", "-1", "2147483647", "-2147483648"] {
            assert_eq!(shown_again(&key, text), text);
        }
        let (key, _) = columns::<u128, ()>();
        assert_eq!(
            shown_again(&key, &u128::MAX.to_string()),
            u128::MAX.to_string()
        );
        let (key, value) = columns::<&str, &[u8; 3]>();
        assert_eq!(shown_again(&key, "caf\u{e9}\n"), "caf\u{e9}\n");
        assert_eq!(shown_again(&value, "a\tb"), "a\tb");
    }

    #[test]
    fn other_arguments_are_refused() {
        let (key, value) = columns::<u8, &[u8; 3]>();
        for bad in ["256", "-1", "", "x", "1.0"] {
            assert!(
                matches!(key.parse(bad.as_bytes(), false), Err(Failure::Usage(_))),
                "{bad}"
            );
        }
        assert!(value.parse(b"four", false).is_err());
        assert!(key.parse(b"\xff", false).is_err());
        let (key, value) = columns::<&str, (u32, &str)>();
        assert!(key.parse(b"\xff", false).is_err());
        assert!(value.parse(b"(1, x)", false).is_err());
        assert!(value.parse(b"0100000078", true).is_ok());
    }

    #[test]
    fn only_legal_encodings_are_accepted() {
        let (key, value) = columns::<&str, bool>();
        assert!(key.accepts(b"text") && !key.accepts(b"\xff"));
        assert!(value.accepts(&[1]) && !value.accepts(&[2]) && !value.accepts(&[]));
        let (key, value) = columns::<u32, &[u8]>();
        assert!(key.accepts(&[0; 4]) && !key.accepts(&[0; 3]) && !key.accepts(&[0; 5]));
        assert!(value.accepts(b"\xff\0"));
    }
}
