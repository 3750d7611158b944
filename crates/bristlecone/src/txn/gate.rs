//! The writer's gate: one write transaction at a time, and a close that waits for the last one.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::checkpoint::Checkpoint;
use crate::error::Result;

#[derive(Debug, Default)]
struct State {
    busy: bool,
    /// The database was dropped while a writer was active: whoever leaves the gate closes it.
    close_on_leave: bool,
}

/// Admits one writer at a time to a database.
#[derive(Debug)]
pub(crate) struct Gate {
    checkpoint: Arc<Checkpoint>,
    state: Mutex<State>,
    left: Condvar,
}

/// Leave to write; leaving happens on drop.
#[derive(Debug)]
pub(crate) struct Pass {
    gate: Arc<Gate>,
}

impl Gate {
    /// The gate of a database.
    pub(crate) fn new(checkpoint: Arc<Checkpoint>) -> Arc<Gate> {
        Arc::new(Gate {
            checkpoint,
            state: Mutex::default(),
            left: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the gate to be free and enters.
    pub(crate) fn enter(self: &Arc<Gate>) -> Pass {
        let mut state = self.state();
        while state.busy {
            state = self
                .left
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.busy = true;
        Pass {
            gate: Arc::clone(self),
        }
    }

    /// Enters if the gate is free.
    pub(crate) fn try_enter(self: &Arc<Gate>) -> Option<Pass> {
        let mut state = self.state();
        if state.busy {
            return None;
        }
        state.busy = true;
        Some(Pass {
            gate: Arc::clone(self),
        })
    }

    /// Closes the database, or has the active writer close it when it leaves; returns whether it is closed.
    pub(crate) fn close(&self) -> Result<bool> {
        let mut state = self.state();
        if state.busy {
            state.close_on_leave = true;
            return Ok(false);
        }
        self.checkpoint.close()?;
        Ok(true)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        // The last thing of the transaction to go: a table that was leaked would else be charged for ever.
        self.gate.checkpoint.pager().budget().end_leases();
        let mut state = self.gate.state();
        state.busy = false;
        if state.close_on_leave {
            // Dropped with its last transaction: nobody is left to hear of an error, and every commit is durable.
            let _closed = self.gate.checkpoint.close();
        }
        drop(state);
        self.gate.left.notify_one();
    }
}
