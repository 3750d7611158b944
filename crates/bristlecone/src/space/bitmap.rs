//! A bit per unit, and the search for the lowest free run.

use crate::int;
use crate::probe;

/// Sizes with a search hint of their own; larger runs share the last one.
const HINTS: usize = 17;

/// A set of units. Units past the words are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitMap {
    words: Vec<u64>,
    /// `hints[n - 1]`: no run of `n` absent units starts before it. The last entry speaks of runs of `HINTS` units.
    hints: [u64; HINTS],
}

impl UnitMap {
    /// The words, 64 units each, lowest bit first.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A set from its words.
    pub(crate) fn from_words(words: Vec<u64>) -> UnitMap {
        UnitMap {
            words,
            hints: [0; HINTS],
        }
    }

    /// Whether `unit` is in the set.
    pub(crate) fn contains(&self, unit: u64) -> bool {
        probe::operated_on_space(1);
        let word = usize::try_from(unit / 64)
            .ok()
            .and_then(|idx| self.words.get(idx));
        word.is_some_and(|word| word >> (unit % 64) & 1 == 1)
    }

    /// Calls `edit` with each word of the run and the mask of the run's bits in it.
    fn for_each_word(&mut self, start: u64, count: u64, mut edit: impl FnMut(&mut u64, u64)) {
        let end = start + count;
        let needed =
            usize::try_from(end.div_ceil(64)).expect("units of a file fit the address space");
        if self.words.len() < needed {
            probe::operated_on_space(int::wide(needed - self.words.len()));
            self.words.resize(needed, 0);
        }
        let mut at = start;
        while at < end {
            let bit = at % 64;
            let len = (64 - bit).min(end - at);
            let mask = if len == 64 {
                u64::MAX
            } else {
                ((1 << len) - 1) << bit
            };
            let idx = usize::try_from(at / 64).expect("checked above");
            probe::operated_on_space(2);
            edit(&mut self.words[idx], mask);
            at += len;
        }
    }

    /// Puts a run into the set; returns whether all of it was absent.
    pub(crate) fn insert(&mut self, start: u64, count: u64) -> bool {
        let mut absent = true;
        self.for_each_word(start, count, |word, mask| {
            absent &= *word & mask == 0;
            *word |= mask;
        });
        absent
    }

    /// Takes a run out of the set; returns whether all of it was present.
    pub(crate) fn remove(&mut self, start: u64, count: u64) -> bool {
        let mut present = true;
        self.for_each_word(start, count, |word, mask| {
            present &= *word & mask == mask;
            *word &= !mask;
        });
        probe::operated_on_space(2 * int::wide(HINTS));
        for (idx, hint) in (0_u64..).zip(self.hints.iter_mut()) {
            // A run that became free by this removal holds one of its units, so it starts at most `idx` units before.
            *hint = (*hint).min(start.saturating_sub(idx));
        }
        present
    }

    /// Whether all units of a run are in the set.
    pub(crate) fn contains_all(&self, start: u64, count: u64) -> bool {
        let Some(end) = start.checked_add(count) else {
            return false;
        };
        // Bounded by the words, so that a run named by a damaged page cannot keep this busy.
        if end > self.words.len() as u64 * 64 {
            return false;
        }
        (start..end).all(|unit| self.contains(unit))
    }

    /// Lowest start of `count` absent units; everything past the words is absent.
    pub(crate) fn find_absent(&mut self, count: u64) -> u64 {
        let size = usize::try_from(count.max(1))
            .unwrap_or(usize::MAX)
            .min(HINTS);
        probe::operated_on_space(2);
        let start = self.scan(self.hints[size - 1], count.min(HINTS as u64));
        self.hints[size - 1] = start;
        // Larger runs start at the first run of HINTS units at the earliest.
        if count > HINTS as u64 {
            self.scan(start, count)
        } else {
            start
        }
    }

    fn scan(&self, from: u64, count: u64) -> u64 {
        let mut run_start = from;
        let mut at = from;
        loop {
            probe::operated_on_space(1);
            let Some(&word) = usize::try_from(at / 64)
                .ok()
                .and_then(|idx| self.words.get(idx))
            else {
                return run_start;
            };
            let rest = word >> (at % 64);
            let left = 64 - at % 64;
            let absent = u64::from(rest.trailing_zeros()).min(left);
            if at + absent - run_start >= count {
                return run_start;
            }
            at += absent;
            if absent < left {
                at += u64::from((rest >> absent).trailing_ones()).min(left - absent);
                run_start = at;
            }
        }
    }

    /// One past the highest unit in the set.
    pub(crate) fn end(&self) -> u64 {
        let highest = self.words.iter().rposition(|&word| {
            probe::operated_on_space(1);
            word != 0
        });
        highest.map_or(0, |idx| {
            idx as u64 * 64 + 64 - u64::from(self.words[idx].leading_zeros())
        })
    }

    /// Units in the set.
    pub(crate) fn count(&self) -> u64 {
        probe::operated_on_space(int::wide(self.words.len()));
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// The units in which two sets differ, lowest first, at most `limit` of them.
    pub(crate) fn difference(&self, other: &UnitMap, limit: usize) -> Vec<u64> {
        let len = self.words.len().max(other.words.len());
        let word = |map: &UnitMap, idx: usize| map.words.get(idx).copied().unwrap_or(0);
        let mut found = Vec::new();
        for idx in 0..len {
            let mut differing = word(self, idx) ^ word(other, idx);
            while differing != 0 && found.len() < limit {
                found.push(idx as u64 * 64 + u64::from(differing.trailing_zeros()));
                differing &= differing - 1;
            }
        }
        found
    }
}
