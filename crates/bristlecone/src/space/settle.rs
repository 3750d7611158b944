//! Settling: before a flip, the space map is brought up to what the session drew and freed, and its dirty pages are
//! written. The map's own pages are part of what it describes, so moving one may dirty another.

use super::Session;
use super::dead::Freed;
use super::map_tree::{MapStep, MapTree};
use super::state::{HEADER_UNITS, Settled, Space, State};
use crate::error::{Corruption, Result};
use crate::int;
use crate::page::map::MapRef;
use crate::probe;

impl Space {
    /// Brings the map up to the session's state and writes its dirty pages.
    ///
    /// # Errors
    /// `Corrupted` if the session freed what was not reachable; any write error. The map is then as it was.
    pub(crate) fn settle(&self, session: &mut Session) -> Result<Settled> {
        session.refresh_number();
        let map_before = self.state().map.clone();
        probe::operated_on_space(int::wide(map_before.place_count()));
        let mut applied = 0;
        self.settle_inner(session, &mut applied).inspect_err(|_| {
            self.unsettle(session, map_before, applied);
        })
    }

    /// `applied` counts the session's frees that have left the durable map.
    fn settle_inner(&self, session: &mut Session, applied: &mut usize) -> Result<Settled> {
        {
            let mut state = self.state();
            let State { durable, map, .. } = &mut *state;
            for (&id, &units) in session.born() {
                probe::operated_on_space(1);
                durable.insert(id, u64::from(units));
                map.touch(id, u64::from(units));
            }
            for freed in session.freed() {
                probe::operated_on_space(1);
                if freed.birth >= session.first() {
                    let corruption = Corruption::new("freed page is younger than its version");
                    return Err(corruption.page(freed.id.0).into());
                }
                if !durable.contains_all(freed.id.0, u64::from(freed.units)) {
                    // Two parents named one page, or a page outside the file.
                    let corruption = Corruption::new("freed page was not reachable");
                    return Err(corruption.page(freed.id.0).into());
                }
                durable.remove(freed.id.0, u64::from(freed.units));
                map.touch(freed.id.0, u64::from(freed.units));
                *applied += 1;
            }
        }
        self.rewrite_map(session, applied)?;
        let state = self.state();
        for write in state.map.encode(&state.durable) {
            self.disk.write(write.id.offset(), &write.bytes)?;
        }
        Ok(Settled {
            map: state.map.root(),
            units: state.durable.end().max(HEADER_UNITS),
        })
    }

    /// Moves every dirty map page to a fresh unit; each move may dirty further ones, of which there are only so many.
    fn rewrite_map(&self, session: &mut Session, applied: &mut usize) -> Result {
        let mut exact = true;
        loop {
            let mut given_up = {
                let mut state = self.state();
                let end = state.durable.end();
                state.map.fit(end, exact)
            };
            exact = false;
            let step = {
                let state = self.state();
                state.map.next_step(&state.durable)
            };
            match step {
                None if given_up.is_empty() && !self.pull_in_map_tail() => return Ok(()),
                None => {}
                Some(MapStep::Clear(place)) => given_up.extend(self.state().map.clear(place)),
                Some(MapStep::Move(place)) => {
                    let id = self.draw(1)?;
                    session.record_born(id, 1);
                    let mut state = self.state();
                    let State { durable, map, .. } = &mut *state;
                    durable.insert(id.0, 1);
                    map.touch(id.0, 1);
                    given_up.extend(map.relocate(place, id, session.number()));
                }
            }
            for page in given_up {
                self.give_up_map_page(session, page, applied)?;
            }
        }
    }

    /// Has a map page at the very end of the file move where there is room before it: nothing else would ever move it,
    /// and the file could not be cut.
    fn pull_in_map_tail(&self) -> bool {
        let mut state = self.state();
        let State {
            used, durable, map, ..
        } = &mut *state;
        let Some(last) = durable.end().checked_sub(1) else {
            return false;
        };
        used.find_absent(1) < last && map.disturb(last)
    }

    fn give_up_map_page(&self, session: &mut Session, page: MapRef, applied: &mut usize) -> Result {
        let mut state = self.state();
        let State {
            used, durable, map, ..
        } = &mut *state;
        if !durable.remove(page.id.0, 1) {
            let corruption = Corruption::new("page of the space map was freed before");
            return Err(corruption.page(page.id.0).into());
        }
        map.touch(page.id.0, 1);
        if session.forget_born(page.id) {
            // Drawn for this very map and not written yet.
            used.remove(page.id.0, 1);
            return Ok(());
        }
        session.record_freed(Freed {
            id: page.id,
            units: 1,
            birth: page.birth,
        });
        *applied += 1;
        Ok(())
    }

    fn unsettle(&self, session: &Session, map_before: MapTree, applied: usize) {
        let mut state = self.state();
        let State { durable, map, .. } = &mut *state;
        *map = map_before;
        for freed in &session.freed()[..applied] {
            durable.insert(freed.id.0, u64::from(freed.units));
            map.touch(freed.id.0, u64::from(freed.units));
        }
        for (&id, &units) in session.born() {
            durable.remove(id, u64::from(units));
            map.touch(id, u64::from(units));
        }
    }
}
