//! Which figures were asked for.

use anyhow::{Result, bail};

/// All figures, or those of one name and below it.
#[derive(Debug)]
pub(crate) struct Selection {
    only: Option<String>,
}

impl Selection {
    /// The figures of `only`, or all of them.
    ///
    /// # Errors
    /// If `only` names none of `names`.
    pub(crate) fn new(only: Option<&str>, names: &[String]) -> Result<Selection> {
        let selection = Selection {
            only: only.map(str::to_owned),
        };
        if names.iter().any(|name| selection.has(name)) {
            return Ok(selection);
        }
        let mut known: Vec<&str> = names.iter().map(|name| two_parts(name)).collect();
        known.dedup();
        bail!(
            "no figure is called {:?}; there are:\n  {}",
            only.unwrap_or_default(),
            known.join("\n  ")
        )
    }

    /// Whether the figure of this full name was asked for.
    pub(crate) fn has(&self, name: &str) -> bool {
        let Some(only) = &self.only else { return true };
        let rest = name.strip_prefix(only.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Whether any figure below this part of a name was asked for.
    pub(crate) fn has_any_below(&self, part: &str) -> bool {
        let Some(only) = &self.only else { return true };
        let rest = only.strip_prefix(part);
        self.has(part) || rest.is_some_and(|rest| rest.starts_with('.'))
    }
}

/// A name without what follows its second dot: enough to find one's way.
fn two_parts(name: &str) -> &str {
    match name.match_indices('.').nth(1) {
        Some((at, _)) => &name[..at],
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["warm_get.stores", "warm_get.lines", "warm_get_64.stores"]
            .map(str::to_owned)
            .to_vec()
    }

    #[test]
    fn a_name_selects_itself_and_what_lies_below() {
        let selection = Selection::new(Some("warm_get"), &names()).expect("there are such");
        let selected: Vec<bool> = names().iter().map(|name| selection.has(name)).collect();
        assert_eq!(selected, [true, true, false]);
        assert!(selection.has_any_below("warm_get"));
        assert!(!selection.has_any_below("warm_get_64"));
        let leaf = Selection::new(Some("warm_get.lines"), &names()).expect("there is one");
        assert!(leaf.has_any_below("warm_get") && !leaf.has("warm_get.stores"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        for unknown in ["", "warm", "warm_get.", "warm_get.lines.x"] {
            let error = Selection::new(Some(unknown), &names()).expect_err("there is none");
            assert!(error.to_string().contains("warm_get_64.stores"), "{error}");
        }
    }
}
