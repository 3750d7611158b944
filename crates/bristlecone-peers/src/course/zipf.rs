//! Zipfian numbers: 0 is the most frequent, then 1, and so on.
//!
//! # Source
//! Gray, Sundaresan, Englert, Baclawski, Weinberger: "Quickly Generating Billion-Record Synthetic Databases", SIGMOD
//! 1994, section 3.2, as YCSB uses it (Cooper et al. 2010), with the same constant.

use fastrand::Rng;

/// Skew of YCSB.
const THETA: f64 = 0.99;

/// Draws numbers below a count, which may grow.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    count: u64,
    /// Sum of `1 / i^THETA` for i from 1 to `count`.
    zeta: f64,
}

impl Zipf {
    /// Numbers below `count`.
    pub(super) fn new(count: u64) -> Zipf {
        let mut zipf = Zipf {
            count: 0,
            zeta: 0.0,
        };
        zipf.grow(count);
        zipf
    }

    /// Numbers below `count`, which is not less than before.
    pub(super) fn grow(&mut self, count: u64) {
        for i in self.count + 1..=count {
            self.zeta += (i as f64).powf(-THETA);
        }
        self.count = count;
    }

    /// The next number.
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        let zeta_of_two = 1.0 + 0.5f64.powf(THETA);
        let draw = rng.f64();
        let scaled = draw * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < zeta_of_two {
            return 1;
        }
        let count = self.count as f64;
        let eta = (1.0 - (2.0 / count).powf(1.0 - THETA)) / (1.0 - zeta_of_two / self.zeta);
        let number = count * (eta * draw - eta + 1.0).powf(1.0 / (1.0 - THETA));
        (number as u64).min(self.count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_follow_the_law() {
        let zipf = Zipf::new(1000);
        let mut rng = Rng::with_seed(7);
        let mut seen = [0u32; 1000];
        for _ in 0..1_000_000 {
            seen[zipf.draw(&mut rng) as usize] += 1;
        }
        for place in [0, 1] {
            let expected = 1e6 / zipf.zeta / f64::from(place + 1).powf(THETA);
            let ratio = f64::from(seen[place as usize]) / expected;
            assert!((0.97..1.03).contains(&ratio), "{place}: {ratio}");
        }
        // Beyond the first two the method is an approximation.
        let tail: u32 = seen[100..].iter().sum();
        let expected: f64 = (101..=1000).map(|i| f64::from(i).powf(-THETA)).sum();
        let ratio = f64::from(tail) / (1e6 * expected / zipf.zeta);
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn growing_is_the_same_as_being_made_so() {
        let mut grown = Zipf::new(10);
        grown.grow(500);
        assert!((grown.zeta - Zipf::new(500).zeta).abs() < 1e-9);
    }
}
