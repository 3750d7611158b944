//! Which engines and rows a race is to run, from the words of its command line.

use std::fmt;

use anyhow::Result;

use crate::course::{Course, Variant, courses};
use crate::engine::{Contender, contenders};

/// A course in a variant, and which of its rows were asked for.
#[derive(Clone)]
pub struct Entrant {
    /// The course.
    pub course: Course,
    /// The variant.
    pub variant: Variant,
    /// Rows asked for; all if empty.
    pub only: Vec<String>,
}

/// A word of the command line that names nothing. It exits with code 2.
#[derive(Debug)]
pub struct Unknown(String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unknown {}

/// The engines of these names; all if none is named.
pub fn engines(names: &[String]) -> Result<Vec<Contender>> {
    let all = contenders();
    let known: Vec<_> = all.iter().map(|contender| contender.name).collect();
    for name in names {
        if !known.contains(&name.as_str()) {
            let known = known.join(", ");
            let text = format!("no engine is named {name}; this build has {known}");
            return Err(Unknown(text).into());
        }
    }
    let wanted =
        |contender: &Contender| names.is_empty() || names.iter().any(|name| name == contender.name);
    Ok(all.into_iter().filter(wanted).collect())
}

/// The courses that hold these rows (`course` or `course/row`; all if none is named), with their variants if asked for.
pub fn entrants(rows: &[String], vary: bool) -> Result<Vec<Entrant>> {
    let mut chosen: Vec<Entrant> = Vec::new();
    for course in courses() {
        if let Some(only) = rows_of(&course, rows) {
            let variants = if vary {
                course.variants
            } else {
                &[Variant::Plain]
            };
            chosen.extend(variants.iter().map(|&variant| Entrant {
                course,
                variant,
                only: only.clone(),
            }));
        }
    }
    match rows.iter().find(|word| !names_something(word)) {
        None => Ok(chosen),
        Some(word) => Err(Unknown(format!(
            "no row is named {word}; name a course or course/row:\n{}",
            names().join("\n")
        ))
        .into()),
    }
}

/// The rows of a course that are asked for (none means all); `None` if the course is not.
fn rows_of(course: &Course, words: &[String]) -> Option<Vec<String>> {
    if words.is_empty() || words.iter().any(|word| word == course.name) {
        return Some(Vec::new());
    }
    let prefix = format!("{}/", course.name);
    let rows: Vec<String> = words
        .iter()
        .filter_map(|word| word.strip_prefix(&prefix))
        .map(str::to_owned)
        .collect();
    (!rows.is_empty()).then_some(rows)
}

fn names_something(word: &str) -> bool {
    let (name, row) = word
        .split_once('/')
        .map_or((word, None), |(name, row)| (name, Some(row)));
    courses().iter().any(|course| {
        course.name == name
            && row.is_none_or(|row| (course.rows)(1).iter().any(|plan| plan.row == row))
    })
}

/// Every course, with its rows.
fn names() -> Vec<String> {
    courses()
        .iter()
        .map(|course| {
            let plans = (course.rows)(1);
            let rows: Vec<_> = plans.iter().map(|plan| plan.row).collect();
            format!("  {}: {}", course.name, rows.join(", "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_course_means_all_of_its_rows() {
        let chosen = entrants(&words(&["phases/len", "phases"]), false).unwrap();
        assert_eq!(chosen.len(), 1);
        assert!(chosen[0].only.is_empty());
    }

    #[test]
    fn single_rows_are_kept_apart_by_course() {
        let chosen = entrants(&words(&["phases/len", "phases_old_value/removals"]), false).unwrap();
        let only: Vec<_> = chosen.iter().map(|entrant| entrant.only.clone()).collect();
        assert_eq!(only, [["len"], ["removals"]]);
    }

    #[test]
    fn variants_come_when_asked_for() {
        let chosen = entrants(&words(&["phases"]), true).unwrap();
        assert_eq!(chosen.len(), Variant::ALL.len());
    }

    #[test]
    fn unknown_words_are_told_with_what_there_is() {
        let error = entrants(&words(&["phases/lenn"]), false).err().unwrap();
        assert!(error.to_string().contains("phases: bulk_load"), "{error}");
        let error = engines(&words(&["mongodb"])).err().unwrap();
        assert!(error.to_string().contains("bristlecone"), "{error}");
    }
}
