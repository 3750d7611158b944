//! The command `counters`: deterministic figures of what operations cost.
//!
//! A figure has a dotted name, such as `warm_get.shared_stores`. A [`Group`] computes figures that share their
//! preparation; the groups together make one JSON object, in an order that never changes. A figure of something that
//! the engine does not have is null.

mod bulk_load;
mod checkpoint;
mod commit;
mod compares;
mod distributions;
mod figures;
mod file_size;
mod random_insert;
mod selection;
mod space;
mod steady_batch;
mod warm_get;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

use figures::Figures;
use selection::Selection;

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compute only the figures of this name, or below it: `warm_get`, `compares_per_seek.dense`
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Figures that are computed together.
struct Group {
    /// Names of all its figures, in the order in which they are printed.
    names: fn() -> Vec<String>,
    /// Computes those of its figures that are selected; it may compute more, and what it leaves out is null.
    compute: fn(&Selection) -> Result<Figures>,
}

/// The groups, in the order in which they are printed.
const GROUPS: &[Group] = &[
    compares::GROUP,
    warm_get::GROUP,
    steady_batch::GROUP,
    commit::GROUP,
    checkpoint::GROUP,
    bulk_load::GROUP,
    random_insert::GROUP,
    space::GROUP,
    file_size::GROUP,
];

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let names: Vec<String> = GROUPS.iter().flat_map(|group| (group.names)()).collect();
    let selection = Selection::new(args.only.as_deref(), &names)?;
    let figures = compute(&selection)?;
    println!("{:#}", figures.to_json());
    Ok(ExitCode::SUCCESS)
}

/// Computes the selected figures, in the order of [`GROUPS`].
fn compute(selection: &Selection) -> Result<Figures> {
    let mut all = Figures::default();
    for group in GROUPS {
        let names = (group.names)();
        if !names.iter().any(|name| selection.has(name)) {
            continue;
        }
        let began = Instant::now();
        let found = (group.compute)(selection)?;
        eprintln!("{}: {:.1} s", names[0], began.elapsed().as_secs_f64());
        for name in names.iter().filter(|name| selection.has(name)) {
            all.set_value(name, found.get(name));
        }
    }
    Ok(all)
}
