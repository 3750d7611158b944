//! Figures as people read them.

use crate::record::Unit;

/// A figure with its unit.
pub(super) fn figure(unit: Unit, value: f64) -> String {
    match unit {
        Unit::PerSecond => format!("{}/s", scaled(value)),
        Unit::Seconds => seconds(value),
        Unit::Bytes => bytes(value),
    }
}

/// A count of bytes.
pub(super) fn bytes(value: f64) -> String {
    format!("{}B", scaled(value))
}

/// A time.
pub(super) fn seconds(value: f64) -> String {
    match value {
        v if v >= 1.0 => format!("{} s", digits(v)),
        v if v >= 1e-3 => format!("{} ms", digits(v * 1e3)),
        v if v >= 1e-6 => format!("{} us", digits(v * 1e6)),
        v => format!("{} ns", digits(v * 1e9)),
    }
}

/// A number with k, M or G for thousands.
pub(super) fn scaled(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{}G", digits(v / 1e9)),
        v if v >= 1e6 => format!("{}M", digits(v / 1e6)),
        v if v >= 1e3 => format!("{}k", digits(v / 1e3)),
        v => digits(v),
    }
}

/// Three digits that count, or four places behind the point.
pub(super) fn digits(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.0995 => format!("{v:.2}"),
        v => format!("{v:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(figure(Unit::PerSecond, 1_234_567.0), "1.23M/s");
        assert_eq!(figure(Unit::PerSecond, 99.96), "100/s");
        assert_eq!(figure(Unit::Seconds, 0.000_456), "456 us");
        assert_eq!(figure(Unit::Seconds, 12.34), "12.3 s");
        assert_eq!(figure(Unit::Bytes, 12_345_678.0), "12.3MB");
        assert_eq!(digits(0.0), "0");
        assert_eq!(digits(0.002_37), "0.0024");
    }
}
