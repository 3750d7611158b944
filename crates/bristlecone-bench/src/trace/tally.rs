//! Reading a trace: which stores between the markers were shared.
//!
//! A line of lackey's trace is `I  address,size` for an instruction, then ` L`, ` S` or ` M` for a load, a store or
//! both that it made. Atomic operations are ` M`, or a load and a store.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Context, Result};
use serde_json::Value;

/// What a trace has shown so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    layout: Option<Layout>,
    inside: bool,
    instruction: usize,
    own_stores: u64,
    /// Shared stores by the instruction that made them.
    shared: BTreeMap<usize, u64>,
    counted: Option<u64>,
}

/// Where things are in the traced process.
#[derive(Debug)]
struct Layout {
    begin: usize,
    end: usize,
    own: Range<usize>,
    executable: usize,
}

impl Tally {
    /// Takes one line; returns whether it was part of the trace or of the traced process's messages.
    pub(super) fn take(&mut self, line: &str) -> Result<bool> {
        if line.starts_with('{') {
            self.take_message(line)?;
            return Ok(true);
        }
        let Some((kind, address)) = event(line) else {
            return Ok(false);
        };
        match kind {
            Kind::Instruction => self.instruction = address,
            Kind::Store => self.take_store(address),
            Kind::Load => {}
        }
        Ok(true)
    }

    fn take_message(&mut self, line: &str) -> Result<()> {
        let message: Value = serde_json::from_str(line)?;
        if let Some(counted) = message["counted"].as_u64() {
            self.counted = Some(counted);
            return Ok(());
        }
        let at = |value: &Value| {
            let address = value.as_u64().context("an address is missing")?;
            Ok::<usize, anyhow::Error>(usize::try_from(address)?)
        };
        self.layout = Some(Layout {
            begin: at(&message["begin"])?,
            end: at(&message["end"])?,
            own: at(&message["own"][0])?..at(&message["own"][1])?,
            executable: at(&message["executable"])?,
        });
        Ok(())
    }

    fn take_store(&mut self, address: usize) {
        let Some(layout) = &self.layout else { return };
        if address == layout.begin {
            self.inside = true;
        } else if address == layout.end {
            self.inside = false;
        } else if self.inside && layout.own.contains(&address) {
            self.own_stores += 1;
        } else if self.inside {
            let offset = self.instruction.wrapping_sub(layout.executable);
            *self.shared.entry(offset).or_default() += 1;
        }
    }

    /// Shared stores between the markers.
    pub(super) fn shared_stores(&self) -> u64 {
        self.shared.values().sum()
    }

    /// Stores between the markers to the thread's own memory.
    pub(super) fn own_stores(&self) -> u64 {
        self.own_stores
    }

    /// What the engine counted; `None` if the process did not get so far.
    pub(super) fn counted(&self) -> Option<u64> {
        self.counted
    }

    /// Instructions that made shared stores, by offset in the executable, with how often they did.
    pub(super) fn instructions(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.shared.iter().map(|(offset, count)| (*offset, *count))
    }
}

enum Kind {
    Instruction,
    Load,
    Store,
}

fn event(line: &str) -> Option<(Kind, usize)> {
    let (kind, rest) = line.split_at_checked(3)?;
    let kind = match kind {
        "I  " => Kind::Instruction,
        " L " => Kind::Load,
        " S " | " M " => Kind::Store,
        _ => return None,
    };
    let (address, _size) = rest.split_once(',')?;
    Some((kind, usize::from_str_radix(address, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_between_the_markers_are_classed_by_address() {
        let trace = [
            "==7== Lackey, an example tool",
            " S 00000900,8",
            r#"{"begin":256,"end":264,"own":[4096,8192],"executable":65536}"#,
            " S 00000900,8",
            "I  00010010,3",
            " S 00000100,8",
            "I  00010020,4",
            " M 00000900,4",
            " L 00000900,4",
            " S 00001000,16",
            "I  00010030,4",
            " S 00002000,16",
            " S 00000108,8",
            " S 00000900,8",
            r#"{"counted":2}"#,
        ];
        let mut tally = Tally::default();
        let taken: Vec<bool> = trace
            .iter()
            .map(|line| tally.take(line).expect("well formed"))
            .collect();
        assert_eq!(taken.iter().filter(|taken| !**taken).count(), 1);
        assert_eq!((tally.shared_stores(), tally.own_stores()), (2, 1));
        assert_eq!(tally.counted(), Some(2));
        let instructions: Vec<_> = tally.instructions().collect();
        assert_eq!(instructions, [(0x20, 1), (0x30, 1)]);
    }

    #[test]
    fn a_broken_message_is_an_error() {
        assert!(Tally::default().take(r#"{"begin":"#).is_err());
        assert!(Tally::default().take(r#"{"begin":1}"#).is_err());
    }
}
