//! The process that `reopen` kills: it commits small transactions and acknowledges each, until it is killed.

use std::io::Write;

use anyhow::{Context, Result};

use super::Track;
use super::entries::put_all;
use super::reopen::COURSE;
use crate::engine::Durability;
use crate::heat::Heat;
use crate::meter::POLL;
use crate::worker::contender;

/// Puts of a transaction.
pub const PER_TXN: u64 = 100;

/// Transactions after which it gives up waiting to be killed.
const TXNS_MAX: u64 = 10_000_000;

/// Commits entries from number `first` on, and prints how many transactions are on the device.
///
/// It also ends when nobody reads what it prints.
pub fn write_until_killed(heat: &str, first: u64) -> Result<()> {
    let heat: Heat = serde_json::from_str(heat).context("reading the heat")?;
    let contender = contender(&heat.engine)?;
    let mut ignore = |_| Ok(());
    let mut track = Track::new(&heat, &contender, &COURSE, POLL, &mut ignore)?;
    track.open()?;
    let shape = track.shape;
    for txn in 0..TXNS_MAX {
        let begin = first + txn * PER_TXN;
        track.with(|engine| put_all(engine, shape, begin..begin + PER_TXN, Durability::Synced))?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", txn + 1).context("acknowledging")?;
        out.flush().context("acknowledging")?;
    }
    Ok(())
}
