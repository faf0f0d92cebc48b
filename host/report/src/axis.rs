//! An axis of a chart: its range, its ticks and what is written at them.

use crate::number::{PLAIN, minus, power_of_ten, short};
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

/// A range of values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

/// Where along the axis, from 0 to 1, and what is written there.
pub(crate) type Tick = (f64, String);

/// Part of the range that stays free at both ends, so that marks at the ends are whole.
const ROOM: f64 = 0.04;
/// Farther from zero there is no axis, so that no range overflows.
const FARTHEST: f64 = 1e300;
/// The least power of ten whose decade has normal numbers only.
const LOWEST_DECADE: f64 = -307.0;
/// What rounding may take the end of an axis beyond itself.
const BEYOND: f64 = 0.01;

impl Axis {
    /// The axis on which all of these values that can be shown have a place.
    pub(crate) fn around(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let shown = values.filter(|value| match scale {
            Scale::Log => *value > 0.0 && value.is_finite(),
            _ => value.is_finite(),
        });
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            let value = value.clamp(-FARTHEST, FARTHEST);
            (low.min(value), high.max(value))
        });
        let (low, high) = match scale {
            Scale::Phase => widened(-1.0, 1.0),
            _ if low > high => (if scale == Scale::Log { 0.1 } else { 0.0 }, 1.0),
            Scale::Linear => widened(low, high),
            Scale::Log => decades(low, high),
        };
        Axis { scale, low, high }
    }

    /// The linear axis from zero to `high`, or to one where that is no end.
    pub(crate) fn from_zero(high: f64) -> Self {
        let real = high.is_finite() && high > 0.0;
        Axis {
            scale: Scale::Linear,
            low: 0.0,
            high: if real { high.min(FARTHEST) } else { 1.0 },
        }
    }

    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }

    /// Where a value is, 0 at the low end and 1 at the high; nothing for what cannot be shown.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Log => {
                (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
            }
            _ => (value - self.low) / (self.high - self.low),
        };
        (-BEYOND..=1.0 + BEYOND).contains(&place).then_some(place)
    }

    /// At most about `most` ticks at round values.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        let most = most.max(2) as f64;
        let values: Vec<(f64, String)> = match self.scale {
            Scale::Phase => [-1.0, -0.5, 0.0, 0.5, 1.0]
                .map(|value| (value, short(value)))
                .into(),
            Scale::Log => {
                let (first, last) = (self.low.log10().round(), self.high.log10().round());
                let step = ((last - first) / most).ceil().max(1.0);
                // Counted from 1, which is what most losses are compared with.
                let first = (first / step).ceil() * step;
                multiples(first, last, step)
                    .map(|power| (10_f64.powf(power), power_of_ten(power as i32)))
                    .collect()
            }
            Scale::Linear => {
                let step = round_step((self.high - self.low) / most);
                let first = (self.low / step).ceil() * step;
                multiples(first, self.high, step)
                    .map(|value| (value, at_step(value, step)))
                    .collect()
            }
        };
        values
            .into_iter()
            .filter_map(|(value, text)| Some((self.place(value)?, text)))
            .collect()
    }
}

fn multiples(first: f64, last: f64, step: f64) -> impl Iterator<Item = f64> {
    let steps = ((last - first) / step).floor() as i32;
    (0..=steps).map(move |index| first + f64::from(index) * step)
}

/// Room at both ends, and a range where there was but one value.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let most = low.abs().max(high.abs());
    let span = high - low;
    // Of less than this, ticks would differ in digits a double hardly has.
    let room = if span > most * 1e-9 {
        span * ROOM
    } else if most > 0.0 {
        most / 2.0
    } else {
        1.0
    };
    (low - room, high + room)
}

/// Whole decades around both, at least one.
fn decades(low: f64, high: f64) -> (f64, f64) {
    let low = low.log10().floor().max(LOWEST_DECADE);
    let high = high.log10().ceil().max(low + 1.0);
    (10_f64.powf(low), 10_f64.powf(high))
}

/// The next of 1, 2 and 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        // One step less than asked for by rounding only.
        .find(|step| *step >= least * 0.999)
        .unwrap_or(10.0 * power)
}

/// A multiple of `step` with the digits it needs.
fn at_step(value: f64, step: f64) -> String {
    let value = if value.abs() < step / 2.0 { 0.0 } else { value };
    let plain = value.abs() < PLAIN.1 && step >= PLAIN.0;
    if plain {
        let decimals = (-step.log10()).ceil().max(0.0) as usize;
        return minus(&format!("{value:.decimals$}"));
    }
    if value == 0.0 {
        return "0".into();
    }
    let digits = (value.abs().log10().floor() - step.log10().floor()).max(0.0) as usize;
    minus(&format!("{value:.digits$e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(axis: Axis, most: usize) -> Vec<String> {
        axis.ticks(most).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_of_a_linear_axis_are_round_and_have_the_digits_they_need() {
        let axis = Axis::around(Scale::Linear, [0.0, 15.0].into_iter());
        assert_eq!(texts(axis, 10), ["0", "2", "4", "6", "8", "10", "12", "14"]);
        let axis = Axis::around(Scale::Linear, [-0.1, 0.1].into_iter());
        assert_eq!(texts(axis, 5), ["−0.10", "−0.05", "0.00", "0.05", "0.10"]);
        let axis = Axis::around(Scale::Linear, [1e9, 3e9].into_iter());
        assert_eq!(texts(axis, 3), ["1e9", "2e9", "3e9"]);
    }

    #[test]
    fn an_axis_from_zero_ends_where_it_is_told() {
        let axis = Axis::from_zero(1.47);
        assert_eq!((axis.place(0.0), axis.place(1.47)), (Some(0.0), Some(1.0)));
        assert_eq!(texts(axis, 4), ["0.0", "0.5", "1.0"]);
        assert_eq!(Axis::from_zero(f64::NAN).place(1.0), Some(1.0));
    }

    #[test]
    fn a_logarithmic_axis_ends_at_whole_decades() {
        let axis = Axis::around(Scale::Log, [0.0, 2e-7, 0.5, f64::NAN].into_iter());
        assert_eq!((axis.place(1e-7), axis.place(1.0)), (Some(0.0), Some(1.0)));
        assert_eq!(axis.place(0.0), None);
        assert_eq!(texts(axis, 4), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
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
            }
        }
    }
}
