//! An axis of a chart: its range, its ticks and what is written at them.

use crate::number::{PLAIN, minus, power_of_ten};
use serde::{Deserialize, Serialize};

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps are equally far apart.
    Linear,
    /// Equal factors are equally far apart. Zero and less have no place on it.
    Log,
    /// Angles in units of π from −1 to 1, where 1 and −1 are the same.
    Phase,
}

/// A range of values, or of their logarithms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    low: f64,
    high: f64,
}

/// Where along the axis, from 0 to 1, and what is written there.
pub(crate) type Tick = (f64, String);

/// Part of the range that stays free at both ends, so that marks at the ends are whole.
const ROOM: f64 = 0.04;
/// Farther from zero there is no axis, so that no range overflows.
const FARTHEST: f64 = 1e300;
/// What rounding may take the end of an axis beyond itself.
const BEYOND: f64 = 0.01;

impl Scale {
    /// The value by which distances along an axis are measured; not finite for what cannot be shown.
    pub(crate) fn measure(self, value: f64) -> f64 {
        match self {
            Scale::Log => value.log10(),
            // The same angle within −1 … 1.
            Scale::Phase if value.abs() > 1.0 => (value + 1.0).rem_euclid(2.0) - 1.0,
            _ => value,
        }
    }
}

impl Axis {
    /// The axis on which all of these values that can be shown have a place.
    pub(crate) fn around(scale: Scale, values: impl IntoIterator<Item = f64>) -> Self {
        let measures = values.into_iter().map(|value| scale.measure(value));
        let shown = measures.filter(|measure| measure.is_finite());
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            let value = value.clamp(-FARTHEST, FARTHEST);
            (low.min(value), high.max(value))
        });
        let (low, high) = match scale {
            Scale::Phase => widened(-1.0, 1.0),
            Scale::Log if low > high => (-1.0, 0.0),
            Scale::Linear if low > high => (0.0, 1.0),
            Scale::Linear => widened(low, high),
            // Whole decades, at least one.
            Scale::Log => (low.floor(), high.ceil().max(low.floor() + 1.0)),
        };
        Axis { scale, low, high }
    }

    /// The linear axis from zero to `high`, or to one where that is no end.
    pub(crate) fn from_zero(high: f64) -> Self {
        let real = high.is_finite() && high > 0.0;
        let (low, high) = (0.0, if real { high.min(FARTHEST) } else { 1.0 });
        let scale = Scale::Linear;
        Axis { scale, low, high }
    }

    /// Where a value is, 0 at the low end and 1 at the high; nothing for what cannot be shown.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        self.place_of_measure(self.scale.measure(value))
    }

    fn place_of_measure(&self, measure: f64) -> Option<f64> {
        let place = (measure - self.low) / (self.high - self.low);
        (-BEYOND..=1.0 + BEYOND).contains(&place).then_some(place)
    }

    /// At most about `most` ticks at round values.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        let least = (self.high - self.low) / most.max(2) as f64;
        let step = match self.scale {
            Scale::Phase => 0.5,
            Scale::Linear => round_step(least),
            Scale::Log => round_step(least).max(1.0),
        };
        // Counted from 0, which is the logarithm of 1, which is what most losses are compared with.
        let first = (self.low / step).ceil() * step;
        let steps = ((self.high - first) / step).floor() as i32;
        let measures = (0..=steps).map(|index| first + f64::from(index) * step);
        let tick = |measure: f64| {
            let text = match self.scale {
                Scale::Log => power_of_ten(measure as i32),
                _ => at_step(measure, step),
            };
            Some((self.place_of_measure(measure)?, text))
        };
        measures.filter_map(tick).collect()
    }
}

/// Room at both ends, and a range where there was but one value.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let (most, span) = (low.abs().max(high.abs()), high - low);
    let room = match most {
        0.0 => 1.0,
        // Of less than this, ticks would differ in digits a double hardly has.
        most if span <= most * 1e-9 => most / 2.0,
        _ => span * ROOM,
    };
    (low - room, high + room)
}

/// The next of 1, 2 and 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let mut steps = [1.0, 2.0, 5.0].map(|factor| factor * power).into_iter();
    // One step less than asked for by rounding only.
    let step = steps.find(|step| *step >= least * 0.999);
    step.unwrap_or(10.0 * power)
}

/// A multiple of `step` with the digits it needs.
fn at_step(value: f64, step: f64) -> String {
    if value.abs() < step / 2.0 {
        return "0".into();
    }
    if value.abs() < PLAIN.1 && step >= PLAIN.0 {
        let decimals = (-step.log10()).ceil().max(0.0) as usize;
        return minus(&format!("{value:.decimals$}"));
    }
    let digits = (value.abs().log10().floor() - step.log10().floor()).max(0.0) as usize;
    minus(&format!("{value:.digits$e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_and_have_the_digits_they_need() {
        let linear = |low, high| Axis::around(Scale::Linear, [low, high]);
        for (axis, most, expected) in [
            (linear(0.0, 15.0), 10, "0 2 4 6 8 10 12 14"),
            (linear(-0.1, 0.1), 5, "−0.10 −0.05 0 0.05 0.10"),
            (linear(1e9, 3e9), 3, "1e9 2e9 3e9"),
            (Axis::from_zero(1.47), 4, "0 0.5 1.0"),
            (Axis::around(Scale::Phase, []), 6, "−1.0 −0.5 0 0.5 1.0"),
            (
                Axis::around(Scale::Log, [2e-7, 0.5]),
                4,
                "10⁻⁶ 10⁻⁴ 10⁻² 10⁰",
            ),
        ] {
            let ticks = axis.ticks(most);
            let texts: Vec<&str> = ticks.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(texts.join(" "), expected);
        }
    }

    #[test]
    fn an_axis_ends_where_it_should() {
        let log = Axis::around(Scale::Log, [0.0, 2e-7, 0.5, f64::NAN]);
        assert_eq!((log.place(1e-7), log.place(1.0)), (Some(0.0), Some(1.0)));
        assert_eq!((log.place(0.0), log.place(-1.0)), (None, None));
        let linear = Axis::from_zero(1.47);
        assert_eq!(
            (linear.place(0.0), linear.place(1.47)),
            (Some(0.0), Some(1.0))
        );
        assert_eq!(Axis::from_zero(f64::NAN).place(1.0), Some(1.0));
    }

    proptest! {
        #[test]
        fn any_values_have_an_axis_with_few_ticks_inside_it(
            values in prop::collection::vec(prop::num::f64::ANY, 0..5),
        ) {
            for scale in [Scale::Linear, Scale::Log, Scale::Phase] {
                let axis = Axis::around(scale, values.iter().copied());
                let ticks = axis.ticks(6);
                prop_assert!((1..=8).contains(&ticks.len()), "{scale:?} {ticks:?}");
                for (place, _) in ticks {
                    prop_assert!((-BEYOND..=1.0 + BEYOND).contains(&place));
                }
                // Larger values are farther along.
                let mut shown = values.clone();
                shown.retain(|value| scale != Scale::Phase && axis.place(*value).is_some());
                shown.sort_by(f64::total_cmp);
                prop_assert!(shown.is_sorted_by_key(|value| axis.place(*value)));
            }
        }
    }
}
