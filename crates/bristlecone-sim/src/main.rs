//! Runs seeds of the simulator: `bristlecone-sim --seed 7`, `--seeds 0..100`, `--exhaustive --seeds 0..10`.

use std::ops::Range;
use std::process::ExitCode;

use bristlecone_sim::{
    Config, Finding, Summary, light_program, run_exhaustive, run_seed, seeded_program, shrink,
};

const USAGE: &str = "usage: bristlecone-sim (--seed N | --seeds A..B) [--ops N] [--crashes N] [--images N] \
                     [--recovery-crashes N] [--faults N] [--rots N] [--exhaustive | --shrink] [--trace]";

/// What the command line asks for.
struct Arguments {
    seeds: Range<u64>,
    config: Config,
    is_exhaustive: bool,
    is_shrink: bool,
    is_trace: bool,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(what) => {
            eprintln!("{what}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if arguments.is_trace {
        print_programs(&arguments);
    }
    if arguments.is_shrink {
        return print_shrunk(&arguments);
    }
    match run(&arguments) {
        Ok(summary) => report(&arguments, &summary),
        Err(finding) => {
            eprintln!("{finding}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<Summary, Finding> {
    let mut summary = Summary::default();
    for seed in arguments.seeds.clone() {
        let one = if arguments.is_exhaustive {
            run_exhaustive(seed, &arguments.config)?
        } else {
            run_seed(seed, &arguments.config)?
        };
        summary.add(&one);
        eprintln!("seed {seed}: {} images verified", one.runs.images_verified);
    }
    Ok(summary)
}

fn report(arguments: &Arguments, summary: &Summary) -> ExitCode {
    print!("{summary}");
    let missing = summary.missing();
    let Config {
        crashes,
        faults,
        rots,
        ..
    } = arguments.config;
    let is_whole = !arguments.is_exhaustive && crashes.min(faults).min(rots) > 0;
    let seed_count = arguments.seeds.end - arguments.seeds.start;
    // A few seeds cannot do everything; a large set that leaves something out tests less than it seems to.
    if is_whole && seed_count >= 20 && !missing.is_empty() {
        eprintln!("never happened: {}", missing.join(", "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Programs tried at most to make one finding small.
const SHRINK_ATTEMPTS: usize = 2000;

fn print_shrunk(arguments: &Arguments) -> ExitCode {
    for seed in arguments.seeds.clone() {
        if let Some((program, finding)) = shrink(seed, &arguments.config, SHRINK_ATTEMPTS) {
            for op in program {
                println!("{op:?},");
            }
            eprintln!("{finding}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn print_programs(arguments: &Arguments) {
    for seed in arguments.seeds.clone() {
        let program = match arguments.is_exhaustive {
            true => light_program(seed, &arguments.config),
            false => seeded_program(seed, &arguments.config),
        };
        for (idx, op) in program.iter().enumerate() {
            println!("{seed} {idx} {op:?}");
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        seeds: 0..0,
        config: Config::default(),
        is_exhaustive: false,
        is_shrink: false,
        is_trace: false,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--exhaustive" => arguments.is_exhaustive = true,
            "--shrink" => arguments.is_shrink = true,
            "--trace" => arguments.is_trace = true,
            "--seed" => {
                let seed = number(&word, words.next())?;
                arguments.seeds = seed..seed + 1;
            }
            "--seeds" => arguments.seeds = range(&word, words.next())?,
            "--ops" => arguments.config.op_count = Some(count(&word, words.next())?),
            "--crashes" => arguments.config.crashes = count(&word, words.next())?,
            "--images" => arguments.config.images = count(&word, words.next())?,
            "--recovery-crashes" => {
                arguments.config.recovery_crashes = count(&word, words.next())?;
            }
            "--rots" => arguments.config.rots = count(&word, words.next())?,
            "--faults" => arguments.config.faults = count(&word, words.next())?,
            _ => return Err(format!("unknown argument {word}")),
        }
    }
    if arguments.seeds.is_empty() {
        return Err("no seed given".to_owned());
    }
    Ok(arguments)
}

fn number(word: &str, value: Option<String>) -> Result<u64, String> {
    let value = value.ok_or_else(|| format!("{word} wants a number"))?;
    value
        .parse()
        .map_err(|_| format!("{word} wants a number, not {value}"))
}

fn count(word: &str, value: Option<String>) -> Result<usize, String> {
    usize::try_from(number(word, value)?).map_err(|_| format!("{word} is too large"))
}

fn range(word: &str, value: Option<String>) -> Result<Range<u64>, String> {
    let value = value.ok_or_else(|| format!("{word} wants a range A..B"))?;
    let (from, to) = value
        .split_once("..")
        .ok_or_else(|| format!("{word} wants a range A..B"))?;
    Ok(number(word, Some(from.to_owned()))?..number(word, Some(to.to_owned()))?)
}
