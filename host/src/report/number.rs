//! Numbers as people write them.

use super::axis::power_of_ten;

/// Two digits and a power of ten: `4.2 × 10⁻¹²`.
///
/// ```
/// use bispectral::report::number::scientific;
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
    format!("{} × {power}", digits.replace('-', "−"))
}

/// A share of one as `99.5 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
