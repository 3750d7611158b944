//! The figures that were accepted, and what may not get worse than they are.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::figures::Figures;

/// Where the accepted figures are kept, from the workspace's folder.
pub(super) const PATH: &str = "crates/bristlecone-bench/record/counters.json";

/// Reads the accepted figures.
pub(super) fn read(path: &Path) -> Result<Figures> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("no accepted figures at {}", path.display()))?;
    let json = serde_json::from_str(&text)
        .with_context(|| format!("{} is no record of figures", path.display()))?;
    Ok(Figures::from_json(&json))
}

/// Writes figures that are accepted from now on.
pub(super) fn write(path: &Path, figures: &Figures) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, format!("{:#}\n", figures.to_json()))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// What got worse: figures above the accepted ones, and figures that are gone. A figure that is new or lower is fine.
pub(super) fn findings(accepted: &Figures, figures: &Figures) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, figure) in figures.iter() {
        match (accepted.get(name).as_f64(), figure.as_f64()) {
            (Some(accepted), Some(figure)) if figure > accepted => {
                findings.push(format!("{name} is {figure}, accepted was {accepted}"));
            }
            (Some(accepted), None) => {
                findings.push(format!("{name} is gone, accepted was {accepted}"));
            }
            _ => {}
        }
    }
    findings
}

/// `figures`, and where they have no figure of that name at all, what was accepted before; in the order of `names`.
pub(super) fn merged(accepted: &Figures, figures: &Figures, names: &[String]) -> Figures {
    let mut merged = Figures::default();
    for name in names {
        let figure = if figures.iter().any(|(known, _)| known == name) {
            figures.get(name)
        } else {
            accepted.get(name)
        };
        merged.set_value(name, figure);
    }
    merged
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn figures(json: Value) -> Figures {
        Figures::from_json(&json)
    }

    #[test]
    fn higher_and_lost_figures_are_found_and_no_others() {
        let accepted = figures(
            json!({"same": 1, "higher": {"a": 1.5}, "lower": 3, "gone": 1, "none": null, "came": null}),
        );
        let now = figures(
            json!({"same": 1.0, "higher": {"a": 1.5001}, "lower": 2, "gone": null, "none": null, "came": 9, "new": 9}),
        );
        assert_eq!(
            findings(&accepted, &now),
            [
                "higher.a is 1.5001, accepted was 1.5",
                "gone is gone, accepted was 1"
            ]
        );
    }

    #[test]
    fn accepting_some_keeps_the_others() {
        let names = ["a.x", "a.y", "b"].map(str::to_owned);
        let accepted = figures(json!({"b": 5, "a": {"x": 1, "y": 2}, "unknown": 4}));
        let merged = merged(&accepted, &figures(json!({"a": {"y": null}})), &names);
        assert_eq!(
            merged.to_json().to_string(),
            r#"{"a":{"x":1,"y":null},"b":5}"#
        );
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("counters.json");
        assert!(read(&path).is_err());
        let written = figures(json!({"a": {"x": 0.25, "y": null}}));
        write(&path, &written).unwrap();
        assert_eq!(read(&path).unwrap(), written);
    }
}
