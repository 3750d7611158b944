//! A median and how far the figures lie apart.

/// Median, least and greatest of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Spread {
    /// The spread of the finite ones among `figures`; none if there are none.
    pub(super) fn of(figures: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = figures.into_iter().filter(|f| f.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Spread { median, min, max })
    }

    /// The three figures in the hand of `write`, the outer two left out where all are one.
    pub(super) fn write(&self, write: impl Fn(f64) -> String) -> String {
        let median = write(self.median);
        if self.min == self.max {
            median
        } else {
            format!("{median} ({}-{})", write(self.min), write(self.max))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let spread = Spread::of([4.0, 1.0, 2.0, 9.0]).expect("figures");
        assert_eq!((spread.median, spread.min, spread.max), (3.0, 1.0, 9.0));
    }

    #[test]
    fn one_figure_is_its_own_spread() {
        let spread = Spread::of([7.0]).expect("a figure");
        assert_eq!(spread.write(|f| f.to_string()), "7");
    }

    #[test]
    fn what_is_no_number_does_not_count() {
        assert_eq!(Spread::of([f64::NAN, f64::INFINITY]), None);
        assert_eq!(Spread::of([]), None);
    }
}
