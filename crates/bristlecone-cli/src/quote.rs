//! Words as a shell takes them, for the commands that `load` proposes.

/// `word` so that a POSIX shell reads it as one word, or nothing if it holds what does not belong on a command line.
pub(crate) fn quote(word: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(word).ok()?;
    if text.is_empty() || text.chars().any(char::is_control) {
        return None;
    }
    if text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_./:,@%+=".contains(&byte))
    {
        return Some(text.to_owned());
    }
    Some(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_plain() {
        assert_eq!(quote(b"demo.db").as_deref(), Some("demo.db"));
    }

    #[test]
    fn others_are_quoted_or_refused() {
        assert_eq!(quote(b"a b").as_deref(), Some("'a b'"));
        assert_eq!(quote(b"it's").as_deref(), Some(r"'it'\''s'"));
        assert_eq!(quote(b"a\n"), None);
        assert_eq!(quote(b"\xff"), None);
        assert_eq!(quote(b""), None);
    }
}
