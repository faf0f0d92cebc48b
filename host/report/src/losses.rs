//! The losses of a run over its steps, on a logarithmic axis.

use crate::axis::Scale;
use crate::chart::{Chart, Curve, Panel};
use crate::drawing::{DrawingError, expect_some};
use crate::number::{kept, list};
use crate::svg::Picture;
use serde::{Deserialize, Serialize};

/// Values of this and below are not drawn: a logarithm has no zero.
const FLOOR: f64 = 1e-14;
/// Points of a curve: about one a pixel of the drawing.
const MOST_POINTS: usize = 600;
/// Places where a phase begins; in between nobody could see a curve.
const MOST_PHASES: usize = 200;

/// How far the losses of a training fell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Losses {
    /// Where another phase or attempt begins.
    #[serde(deserialize_with = "list::numbers")]
    begins: Vec<f64>,
    /// Steps counted through all phases; none between two of them.
    #[serde(deserialize_with = "list::numbers")]
    steps: Vec<f64>,
    #[serde(deserialize_with = "list::numbers")]
    invariance: Vec<f64>,
    #[serde(deserialize_with = "list::numbers")]
    reconstruction: Vec<f64>,
}

/// The part of a line of `metrics.jsonl` that is drawn.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    attempt: u32,
    phase: usize,
    step: u64,
    invariance: f64,
    reconstruction: f64,
}

impl Losses {
    /// What `metrics` (one JSON object a line: `phase`, `step`, `invariance`, `reconstruction`, and `attempt` where
    /// there are several) tells. Other lines are left out, and so are points that would lie on one pixel.
    ///
    /// ```
    /// use bispectral_report::{Drawing, Losses};
    ///
    /// let metrics = "{\"phase\": 1, \"step\": 1, \"invariance\": 0.5, \"reconstruction\": 0.25}\n\
    ///                {\"phase\": 1, \"step\": 2, \"invariance\": 0.1, \"reconstruction\": 0.2}\n";
    /// let svg = Drawing::from(Losses::from_metrics(metrics)).svg();
    /// assert!(svg.contains("change along orbits: first 0.5, last 0.1"));
    /// ```
    ///
    /// # Errors
    /// No line tells of losses, or there are too many phases.
    pub fn from_metrics(metrics: &str) -> Result<Self, DrawingError> {
        let lines = metrics.lines().map(serde_json::from_str);
        let lines: Vec<Line> = lines.filter_map(Result::ok).collect();
        let phases = lines.chunk_by(|a, b| (a.attempt, a.phase) == (b.attempt, b.phase));
        let mut losses = Losses {
            begins: vec![],
            steps: vec![],
            invariance: vec![],
            reconstruction: vec![],
        };
        let mut before = 0_u64;
        for phase in phases {
            if before > 0 {
                losses.begins.push(before as f64);
                losses.push(f64::NAN, f64::NAN, f64::NAN);
            }
            let share = MOST_POINTS * phase.len() / lines.len();
            for line in thinned(phase, share) {
                let step = before.saturating_add(line.step) as f64;
                losses.push(step, line.invariance, line.reconstruction);
            }
            before = before.saturating_add(phase.last().map_or(0, |line| line.step));
        }
        losses.check()?;
        Ok(losses)
    }

    fn push(&mut self, step: f64, invariance: f64, reconstruction: f64) {
        let seen = |value: f64| kept(if value > FLOOR { value } else { f64::NAN });
        self.steps.push(kept(step));
        self.invariance.push(seen(invariance));
        self.reconstruction.push(seen(reconstruction));
    }

    fn check(&self) -> Result<(), DrawingError> {
        expect_some("losses", self.steps.len(), usize::MAX)?;
        let (what, found, most) = ("phases", self.begins.len(), MOST_PHASES);
        let many = DrawingError::TooMany { what, found, most };
        if found > most { Err(many) } else { Ok(()) }
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        self.check()?;
        let curve = |label: &str, values: &Vec<f64>| Curve {
            label: label.into(),
            values: values.clone(),
            predicted: None,
        };
        let rows = "reconstruction, or rows from orthonormal";
        let chart = Chart {
            title: "Losses of the run".into(),
            x_label: "step".into(),
            x: self.steps.clone(),
            panels: vec![Panel {
                title: String::new(),
                y_label: "mean loss of a batch".into(),
                scale: Scale::Log,
                curves: vec![
                    curve("change along orbits", &self.invariance),
                    curve(rows, &self.reconstruction),
                ],
            }],
        };
        chart.picture(&self.begins)
    }
}

/// About `most` of the lines at equal distances, the first and the last among them.
fn thinned(lines: &[Line], most: usize) -> impl Iterator<Item = &Line> {
    let last = lines.len().saturating_sub(1);
    let stride = lines.len().div_ceil(most.max(1)).max(1);
    let chosen = lines.iter().enumerate();
    chosen
        .filter(move |(place, _)| place.is_multiple_of(stride) || *place == last)
        .map(|(_, line)| line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn line(phase: usize, step: u64, loss: f64) -> String {
        format!(
            "{{\"phase\":{phase},\"step\":{step},\"invariance\":{loss},\"reconstruction\":{}}}\n",
            loss * 3.0
        )
    }

    #[test]
    fn steps_are_counted_through_all_phases_and_phases_are_apart() {
        let metrics = line(1, 30, 1.0) + "no json\n" + &line(2, 10, 0.0);
        let losses = Losses::from_metrics(&metrics).unwrap();
        assert_eq!((losses.steps[0], losses.steps[2]), (30.0, 40.0));
        assert!(losses.steps[1].is_nan() && losses.invariance[2].is_nan());
        assert_eq!(losses.begins, [30.0]);
        let svg = losses.picture().unwrap().file("t", "d");
        assert_eq!(svg.matches("<path class=\"divider\"").count(), 1);
        assert!(!svg.contains(">zero"), "zeros are left out");
    }

    #[test]
    fn any_metrics_are_drawn_or_refused() {
        let two = line(1, 10, 1.0) + &line(1, u64::MAX, 1e300);
        let two = two + &line(2, u64::MAX, 1e-320) + &line(2, 20, -1.0);
        for metrics in [line(1, 1, 0.0), two] {
            let losses = Losses::from_metrics(&metrics).unwrap();
            fixture::sound(losses.picture(), 1 << 20);
        }
        assert!(Losses::from_metrics("not json\n").is_err());
        let phases: String = (0..300).map(|phase| line(phase, 1, 1.0)).collect();
        assert!(Losses::from_metrics(&phases).is_err());
    }

    #[test]
    fn points_are_bounded_and_the_last_is_kept() {
        let lines = (1..=20_000).map(|step| line(1, step, 1.0 / step as f64));
        let losses = Losses::from_metrics(&lines.collect::<String>()).unwrap();
        assert!((MOST_POINTS / 2..=MOST_POINTS + 1).contains(&losses.steps.len()));
        assert_eq!(losses.steps.last(), Some(&20_000.0));
        assert!(serde_json::to_string(&losses).unwrap().len() < 40_000);
    }
}
