//! An axis of a chart: its range, its ticks and what is written at them.

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

/// Where along the axis, from 0 to 1, and what is written there.
pub(super) type Tick = (f64, String);

/// Part of the range that stays free at both ends, so that marks at the ends are whole.
const ROOM: f64 = 0.04;
/// Farther from zero there is no axis, so that no range overflows.
const FARTHEST: f64 = 1e300;
/// Numbers from here to there are written without an exponent.
const PLAIN: (f64, f64) = (1e-3, 1e5);

impl Axis {
    /// The axis on which all of these values that can be shown have a place.
    pub(super) fn around(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
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
    pub(super) fn from_zero(high: f64) -> Self {
        let real = high.is_finite() && high > 0.0;
        Axis {
            scale: Scale::Linear,
            low: 0.0,
            high: if real { high.min(FARTHEST) } else { 1.0 },
        }
    }

    /// Where a value is, 0 at the low end and 1 at the high; nothing for what cannot be shown.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Log => {
                (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
            }
            _ => (value - self.low) / (self.high - self.low),
        };
        // Rounding may take an end a little beyond.
        place
            .is_finite()
            .then_some(place)
            .filter(|place| (-0.01..=1.01).contains(place))
    }

    /// At most about `most` ticks at round values.
    pub(super) fn ticks(&self, most: usize) -> Vec<Tick> {
        let most = most.max(2) as f64;
        let values: Vec<(f64, String)> = match self.scale {
            Scale::Phase => [-1.0, -0.5, 0.0, 0.5, 1.0]
                .map(|value| (value, number(value)))
                .into(),
            Scale::Log => {
                let (first, last) = (self.low.log10().round(), self.high.log10().round());
                let step = ((last - first) / most).ceil().max(1.0);
                // Counted from 1, which is what most losses are compared with.
                let first = (first / step).ceil() * step;
                let steps = ((last - first) / step) as i32;
                (0..=steps)
                    .map(|index| first + f64::from(index) * step)
                    .map(|power| (10_f64.powf(power), power_of_ten(power as i32)))
                    .collect()
            }
            Scale::Linear => {
                let step = round_step((self.high - self.low) / most);
                let first = (self.low / step).ceil() * step;
                let steps = ((self.high - first) / step).floor() as i32;
                (0..=steps)
                    .map(|index| first + f64::from(index) * step)
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
    // 1e-307 is still a normal number.
    let low = low.log10().floor().max(-307.0);
    let high = high.log10().ceil().max(low + 1.0);
    (10_f64.powf(low), 10_f64.powf(high))
}

/// The next of 1, 2 and 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= least * 0.999)
        .unwrap_or(10.0 * power)
}

/// A multiple of `step` with the digits it needs.
fn at_step(value: f64, step: f64) -> String {
    let value = if value.abs() < step / 2.0 { 0.0 } else { value };
    let plain = value.abs() < PLAIN.1 && step >= PLAIN.0;
    if plain || value == 0.0 {
        let decimals = if plain {
            (-step.log10()).ceil().max(0.0) as usize
        } else {
            0
        };
        return minus(&format!("{value:.decimals$}"));
    }
    let digits = (value.abs().log10().floor() - step.log10().floor()).max(0.0) as usize;
    minus(&format!("{value:.digits$e}"))
}

/// A number with three digits or fewer.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    if value == 0.0 {
        "0".into()
    } else if (PLAIN.0..PLAIN.1).contains(&size) {
        minus(&rounded.to_string())
    } else {
        minus(&format!("{rounded:e}"))
    }
}

/// 10⁻³ for −3.
pub(super) fn power_of_ten(power: i32) -> String {
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
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(axis.place(1e-7).unwrap(), 0.0);
        assert_eq!(axis.place(1.0).unwrap(), 1.0);
        assert_eq!(axis.place(0.0), None);
        assert_eq!(texts(axis, 4), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(power_of_ten(-130), "10⁻¹³⁰");
    }

    #[test]
    fn any_values_have_an_axis_with_few_ticks_inside_it() {
        let all = [
            vec![],
            vec![0.0],
            vec![5.0, 5.0],
            vec![1e20, 1e20 + 1e5],
            vec![f64::MAX, f64::MIN],
            vec![f64::MIN_POSITIVE / 4.0],
            vec![f64::NAN, f64::INFINITY],
            vec![1e-320, 1e-318],
            vec![-3e-9, 2e-9],
        ];
        for (scale, values) in [Scale::Linear, Scale::Log, Scale::Phase]
            .into_iter()
            .flat_map(|scale| all.iter().map(move |values| (scale, values)))
        {
            let axis = Axis::around(scale, values.iter().copied());
            let ticks = axis.ticks(6);
            assert!((1..=8).contains(&ticks.len()), "{scale:?} {values:?}");
            for (place, _) in ticks {
                assert!((-0.01..=1.01).contains(&place), "{scale:?} {values:?}");
            }
        }
    }

    #[test]
    fn numbers_have_three_digits_and_a_real_minus() {
        let all = [0.0625, -0.5, 0.0, 1234.0, 1.0 / 3.0, -2.5e-7];
        let texts = all.map(number);
        assert_eq!(texts, ["0.0625", "−0.5", "0", "1230", "0.333", "−2.5e−7"]);
    }
}
