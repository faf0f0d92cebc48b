//! Numbers as people write them, and as pages keep them.

/// Numbers from here to there are written without an exponent.
pub(crate) const PLAIN: (f64, f64) = (1e-3, 1e5);
/// Significant digits of the numbers a page keeps. A pixel of a chart is three.
const KEPT: usize = 6;

/// Two digits and a power of ten: `4.2 × 10⁻¹²`.
///
/// ```
/// use bispectral_report::number::scientific;
///
/// assert_eq!(scientific(4.23e-12), "4.2 × 10⁻¹²");
/// assert_eq!(scientific(0.0), "0");
/// ```
#[must_use]
pub fn scientific(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let text = format!("{value:.1e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power = power_of_ten(power.parse().unwrap_or(0));
    format!("{} × {power}", minus(digits))
}

/// A share of one in percent.
///
/// ```
/// assert_eq!(bispectral_report::number::percent(0.9951), "99.5 %");
/// ```
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A number with three digits or fewer.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    let rounded = significant(value, 3);
    if value == 0.0 {
        "0".into()
    } else if !value.is_finite() {
        "no number".into()
    } else if (PLAIN.0..PLAIN.1).contains(&size) {
        minus(&rounded.to_string())
    } else {
        minus(&format!("{rounded:e}"))
    }
}

/// 10⁻³ for −3.
pub(crate) fn power_of_ten(power: i32) -> String {
    let power = power.to_string();
    let raised = power.chars().map(|letter| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(digit as u32 - '0' as u32 + '⁰' as u32).unwrap_or(digit),
    });
    "10".chars().chain(raised).collect()
}

/// A minus sign where the keyboard has a hyphen.
pub(crate) fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// `value` to so many digits; NaN where it is not finite.
pub(crate) fn significant(value: f64, digits: usize) -> f64 {
    let places = digits.saturating_sub(1);
    let rounded = format!("{value:.places$e}").parse::<f64>().ok();
    rounded
        .filter(|value| value.is_finite())
        .unwrap_or(f64::NAN)
}

/// `value` as a page keeps it: whoever draws rounds first, so that a page drawn before it was kept is the same as one
/// drawn after.
pub(crate) fn kept(value: f64) -> f64 {
    significant(value, KEPT)
}

/// Lists of numbers from JSON, which has `null` for those that are not finite: they are NaN again.
pub(crate) mod list {
    use serde::{Deserialize, Deserializer};

    pub(crate) fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let list = Vec::<Option<f64>>::deserialize(from)?;
        Ok(list
            .into_iter()
            .map(|value| value.unwrap_or(f64::NAN))
            .collect())
    }

    /// The same where there may be no list.
    pub(crate) fn optional<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<f64>>, D::Error> {
        #[derive(Deserialize)]
        struct List(#[serde(deserialize_with = "numbers")] Vec<f64>);
        Ok(Option::<List>::deserialize(from)?.map(|list| list.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_real_minus() {
        let all = [0.0625, -0.5, 0.0, 1234.0, 1.0 / 3.0, -2.5e-7, f64::NAN];
        let expected = "0.0625, −0.5, 0, 1230, 0.333, −2.5e−7, no number";
        assert_eq!(all.map(short).join(", "), expected);
        assert_eq!(power_of_ten(-130), "10⁻¹³⁰");
    }

    #[test]
    fn a_number_that_is_kept_is_kept_as_it_is() {
        for value in [0.0, -1.0 / 3.0, 1e300, 5e-324, f64::MIN] {
            assert_eq!(kept(kept(value)), kept(value));
        }
        assert!(kept(f64::MAX).is_nan() || kept(f64::MAX).is_finite());
        assert!(kept(f64::NEG_INFINITY).is_nan());
    }
}
