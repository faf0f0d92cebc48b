//! Quantities along an orbit: panels of curves over one common axis, such as the phases of z above the change of β̄
//! while the input is translated.

use crate::axis::{Axis, Scale, Tick};
use crate::colour::CURVES;
use crate::drawing::{DrawingError, expect_length, expect_some};
use crate::number::{kept, list, short};
use crate::svg::{self, Anchor, HEAD, LABEL_SIZE, MARGIN, NUMBER_SIZE, Picture, Point};
use crate::trace::{Frame, MARKS, Mark, path};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

/// A chart's width, and the height of a frame.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 230.0;
/// Right of the frames, where half of the last number has room.
const RIGHT: f64 = 30.0;
/// Above a frame for its title, and above the next for the legend's lines.
const PANEL_TITLE: f64 = 26.0;
const ENTRY: f64 = 22.0;
/// Between a frame and the title of the next, and below the last for numbers and what they are.
const BETWEEN: f64 = 18.0;
const FOOT: f64 = 52.0;
/// In the legend: the length of a line, what is beside it, and what its text may take.
const SAMPLE: f64 = 26.0;
const BESIDE: f64 = 7.0;
const APART: f64 = 20.0;
const WIDEST_ENTRY: f64 = 330.0;
/// Left of the numbers, for the label of the axis, and between numbers and frame.
const Y_LABEL: f64 = 24.0;
const AWAY: f64 = 8.0;
const Y_TICKS: usize = 6;
/// As many numbers as an eye takes in, and between two of them.
const X_TICKS: usize = 16;
const X_ROOM: f64 = 14.0;
/// Points have marks if there are fewer than these; else some have, if marks are needed.
const MARKED: usize = 40;
const SPARSE: usize = 12;
/// More panels or curves than this nobody would read; values are bounded for the page's sake.
const MOST_PANELS: usize = 16;
const MOST_CURVES: usize = 64;
const MOST_VALUES: usize = 1 << 17;

/// A measured quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// What the legend calls it.
    pub label: String,
    /// One value for each x; where one is not finite the line is interrupted.
    #[serde(deserialize_with = "list::numbers")]
    pub values: Vec<f64>,
    /// What it should be, drawn as a thin dashed line over it: one value for each x.
    #[serde(default, deserialize_with = "list::optional")]
    pub predicted: Option<Vec<f64>>,
}

/// Curves in one frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Above the frame.
    pub title: String,
    /// Left of it.
    pub y_label: String,
    /// How values become heights. On [`Scale::Log`] zeros are marks on the lower edge.
    pub scale: Scale,
    /// In the legend's order.
    pub curves: Vec<Curve>,
}

/// Panels one above the other.
///
/// ```
/// use bispectral_report::{Chart, Curve, Drawing, Panel, Scale};
///
/// let chart = Chart {
///     title: "A translation".into(),
///     x_label: "shift".into(),
///     x: vec![0.0, 1.0, 2.0],
///     panels: vec![Panel {
///         title: "phase".into(),
///         y_label: "arg z / π".into(),
///         scale: Scale::Phase,
///         curves: vec![Curve {
///             label: "row 1".into(),
///             values: vec![0.1, 0.61, -0.9],
///             predicted: Some(vec![0.1, 0.6, 1.1]),
///         }],
///     }],
/// };
/// assert!(Drawing::from(chart).svg().contains("<title>row 1 at 1: 0.61</title>"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// Above all panels.
    pub title: String,
    /// Below them.
    pub x_label: String,
    /// Where every curve has its values.
    #[serde(deserialize_with = "list::numbers")]
    pub x: Vec<f64>,
    /// From above.
    pub panels: Vec<Panel>,
}

impl Chart {
    fn check(&self) -> Result<(), DrawingError> {
        expect_some("panels", self.panels.len(), MOST_PANELS)?;
        let mut values = self.x.len();
        for panel in &self.panels {
            expect_some("curves", panel.curves.len(), MOST_CURVES)?;
            for curve in &panel.curves {
                for list in [Some(&curve.values), curve.predicted.as_ref()]
                    .into_iter()
                    .flatten()
                {
                    let what = format!("values of the curve {:?}", curve.label);
                    expect_length(&what, list.len(), self.x.len())?;
                    values += list.len();
                }
            }
        }
        expect_some("values", values, MOST_VALUES)
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        self.picture_with(&[])
    }

    /// With grey lines at these x.
    pub(crate) fn picture_with(&self, dividers: &[f64]) -> Result<Picture, DrawingError> {
        self.check()?;
        let chart = self.as_kept();
        let x = Axis::around(Scale::Linear, chart.x.iter().copied());
        let lefts = chart.panels.iter().map(Panel::left);
        let left = lefts.fold(0.0, f64::max).ceil() + MARGIN;
        let size = (WIDTH - left - RIGHT, HEIGHT);
        let x_ticks = spaced(&x, size.0);
        let mut top = if chart.title.is_empty() { MARGIN } else { HEAD };
        let mut panels = Vec::new();
        for panel in &chart.panels {
            let head = panel.head(left, size.0, top);
            let frame = Frame {
                corner: (left, head.1),
                size,
                x,
                y: panel.axis(),
            };
            top = head.1 + HEIGHT + BETWEEN;
            panels.push(html! { (head.0) (panel.draw(&frame, &x_ticks, &chart.x, dividers)) });
        }
        let bottom = top - BETWEEN;
        let body = html! {
            (svg::title(&chart.title, WIDTH))
            @for panel in &panels { (panel) }
            @for (place, number) in &x_ticks {
                @let at = (left + place * size.0, bottom + 15.0);
                (svg::text(at, Anchor::Middle, NUMBER_SIZE, f64::INFINITY, number))
            }
            (svg::text((left + size.0 / 2.0, bottom + 38.0), Anchor::Middle, LABEL_SIZE, size.0, &chart.x_label))
        };
        Ok(Picture {
            size: (WIDTH, bottom + FOOT),
            body,
        })
    }

    /// With the numbers that a page keeps.
    pub(crate) fn as_kept(&self) -> Self {
        let mut chart = self.clone();
        let curves = chart.panels.iter_mut().flat_map(|panel| &mut panel.curves);
        let values = curves.flat_map(|curve| [Some(&mut curve.values), curve.predicted.as_mut()]);
        for list in values.flatten().chain([&mut chart.x]) {
            list.iter_mut().for_each(|value| *value = kept(*value));
        }
        chart
    }
}

/// As many ticks as have room for their numbers along an axis of this length.
fn spaced(axis: &Axis, length: f64) -> Vec<Tick> {
    let fits = |ticks: &[Tick]| {
        ticks.windows(2).all(|pair| {
            let wide = pair
                .iter()
                .map(|(_, number)| svg::width(number, NUMBER_SIZE))
                .sum::<f64>();
            (pair[1].0 - pair[0].0) * length >= wide / 2.0 + X_ROOM
        })
    };
    let choices = (2..=X_TICKS).rev().map(|most| axis.ticks(most));
    choices
        .into_iter()
        .find(|ticks| fits(ticks))
        .unwrap_or_default()
}

/// A line of the legend.
enum Entry<'a> {
    Measured(usize, &'a str),
    Predicted,
    Zero(&'static str),
}

/// Class of the strokes and of the marks of the curve with this number, and its mark; combinations repeat late,
/// because 7 and 4 have no common divisor.
fn look(index: usize) -> (String, String, Mark) {
    let colour = index % CURVES;
    (
        format!("curve c{colour}"),
        format!("m{colour}"),
        MARKS[index % MARKS.len()],
    )
}

impl Panel {
    fn axis(&self) -> Axis {
        let predicted = self.curves.iter().flat_map(|curve| &curve.predicted);
        let measured = self.curves.iter().map(|curve| &curve.values);
        Axis::around(self.scale, measured.chain(predicted).flatten().copied())
    }

    /// What the numbers and the label left of the frame need.
    fn left(&self) -> f64 {
        let ticks = self.axis().ticks(Y_TICKS);
        let widths = ticks
            .iter()
            .map(|(_, number)| svg::width(number, NUMBER_SIZE));
        Y_LABEL + widths.fold(0.0, f64::max) + AWAY
    }

    fn entries(&self) -> Vec<Entry<'_>> {
        let curves = self.curves.iter().enumerate();
        let mut entries: Vec<Entry<'_>> = curves
            .map(|(index, curve)| Entry::Measured(index, &curve.label))
            .collect();
        if self.curves.iter().any(|curve| curve.predicted.is_some()) {
            entries.push(Entry::Predicted);
        }
        let values = || self.curves.iter().flat_map(|curve| &curve.values);
        if self.scale == Scale::Log && values().any(|value| *value <= 0.0) {
            let less = values().any(|value| *value < 0.0);
            entries.push(Entry::Zero(if less { "zero or less" } else { "zero" }));
        }
        entries
    }

    /// The title and the legend in lines below it, and where the frame begins.
    fn head(&self, left: f64, room: f64, top: f64) -> (Markup, f64) {
        let title = if self.title.is_empty() {
            0.0
        } else {
            PANEL_TITLE
        };
        let (mut x, mut y) = (left, top + title + ENTRY / 2.0);
        let mut legend = Vec::new();
        let marked = self
            .stride(self.curves.first().map_or(0, |curve| curve.values.len()))
            .is_some();
        for entry in self.entries() {
            let label = match entry {
                Entry::Measured(_, label) | Entry::Zero(label) => label,
                Entry::Predicted => "predicted",
            };
            let wide = svg::width(label, NUMBER_SIZE).min(WIDEST_ENTRY);
            if x > left && x + SAMPLE + BESIDE + wide > left + room {
                (x, y) = (left, y + ENTRY);
            }
            let (ends, middle) = ([(x, y), (x + SAMPLE, y)], (x + SAMPLE / 2.0, y));
            legend.push(html! {
                (entry.sample(ends, middle, marked))
                (svg::text((x + SAMPLE + BESIDE, y), Anchor::Start, NUMBER_SIZE, WIDEST_ENTRY, label))
            });
            x += SAMPLE + BESIDE + wide + APART;
        }
        let markup = html! {
            (svg::text((left, top + PANEL_TITLE / 2.0), Anchor::Start, LABEL_SIZE + 1.0, room, &self.title))
            @for entry in &legend { (entry) }
        };
        (markup, y + ENTRY / 2.0 + 6.0)
    }

    fn draw(&self, frame: &Frame, x_ticks: &[Tick], x: &[f64], dividers: &[f64]) -> Markup {
        let ((left, top), (width, height)) = (frame.corner, frame.size);
        let bottom = top + height;
        html! {
            @for (place, _) in x_ticks {
                @let x = left + place * width;
                (svg::line("grid", (x, top), (x, bottom)))
                (svg::line("tick", (x, bottom), (x, bottom + 5.0)))
            }
            @for (place, number) in frame.y.ticks(Y_TICKS) {
                @let y = top + (1.0 - place) * height;
                (svg::line("grid", (left, y), (left + width, y)))
                (svg::line("tick", (left - 5.0, y), (left, y)))
                (svg::text((left - AWAY, y), Anchor::End, NUMBER_SIZE, f64::INFINITY, &number))
            }
            @for place in dividers.iter().filter_map(|&at| frame.x.place(at)) {
                (svg::line("divider", (left + place * width, top), (left + place * width, bottom)))
            }
            (svg::frame((left, top), (width, height)))
            (svg::upright((MARGIN + Y_LABEL / 2.0 - 4.0, top + height / 2.0), LABEL_SIZE, height + PANEL_TITLE, &self.y_label))
            @for (index, curve) in self.curves.iter().enumerate() { (self.draw_curve(frame, x, index, curve)) }
            @for predicted in self.curves.iter().filter_map(|curve| curve.predicted.as_ref()) {
                path.predicted d=(path(&frame.strokes(x, predicted))) {}
            }
        }
    }

    fn draw_curve(&self, frame: &Frame, x: &[f64], index: usize, curve: &Curve) -> Markup {
        let (stroke, fill, mark) = look(index);
        let stride = self.stride(x.len());
        let points = || x.iter().zip(&curve.values).enumerate();
        let marked = |place: &usize| stride.is_some_and(|stride| place.is_multiple_of(stride));
        let says = |x: f64, y: f64| format!("{} at {}: {}", curve.label, short(x), short(y));
        html! {
            path class=(stroke) d=(path(&frame.strokes(x, &curve.values))) { title { (self.summary(curve)) } }
            @for (_, (&x, &y)) in points() {
                @if let Some(at) = frame.below(x, y) { (Mark::Below.draw(at, &fill, &says(x, y))) }
            }
            @for (_, (&x, &y)) in points().filter(|(place, _)| marked(place)) {
                @if let Some(at) = frame.at(x, y) { (mark.draw(at, &fill, &says(x, y))) }
            }
        }
    }

    /// What a line says where its points do not: its name, its ends and its extremes.
    fn summary(&self, curve: &Curve) -> String {
        let finite = || {
            curve
                .values
                .iter()
                .copied()
                .filter(|value| value.is_finite())
        };
        let (Some(first), Some(last)) = (finite().next(), finite().next_back()) else {
            return curve.label.clone();
        };
        let low = finite().fold(first, f64::min);
        let high = finite().fold(first, f64::max);
        let [first, last, low, high] = [first, last, low, high].map(short);
        format!(
            "{}: first {first}, last {last}, least {low}, most {high}",
            curve.label
        )
    }

    /// Every so many points have a mark: all of a few, none of many, but some where colours do not suffice.
    fn stride(&self, points: usize) -> Option<usize> {
        if points < MARKED {
            Some(1)
        } else if self.curves.len() > CURVES {
            Some(points / SPARSE)
        } else {
            None
        }
    }
}

impl Entry<'_> {
    fn sample(&self, ends: [Point; 2], middle: Point, marked: bool) -> Markup {
        match self {
            Entry::Measured(index, label) => {
                let (stroke, fill, mark) = look(*index);
                html! {
                    (svg::line(&stroke, ends[0], ends[1]))
                    @if marked { (mark.draw(middle, &fill, label)) }
                }
            }
            Entry::Predicted => svg::line("predicted", ends[0], ends[1]),
            Entry::Zero(label) => Mark::Below.draw((middle.0, middle.1 + 4.0), "m6", label),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::well_formed;
    use proptest::prelude::*;

    fn curve(label: &str, values: &[f64]) -> Curve {
        Curve {
            label: label.into(),
            values: values.to_vec(),
            predicted: None,
        }
    }

    fn chart(scale: Scale, x: &[f64], curves: Vec<Curve>) -> Chart {
        let panel = Panel {
            title: "panel".into(),
            y_label: "y".into(),
            scale,
            curves,
        };
        Chart {
            title: "title".into(),
            x_label: "x".into(),
            x: x.to_vec(),
            panels: vec![panel],
        }
    }

    fn svg(chart: &Chart) -> String {
        well_formed::sound(chart.picture(), 1 << 20)
    }

    proptest! {
        #[test]
        fn any_values_give_a_drawing_whose_numbers_are_finite(
            points in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..60),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            for scale in [Scale::Linear, Scale::Log, Scale::Phase] {
                let mut both = vec![curve("a", &y), curve("", &x)];
                both[0].predicted = Some(x.clone());
                let mut chart = chart(scale, &x, both);
                if x.is_empty() {
                    prop_assert!(chart.picture().is_err());
                    chart.panels[0].curves.clear();
                    prop_assert!(chart.picture().is_err());
                    continue;
                }
                let drawn = svg(&chart);
                // The same once it was kept.
                let json = serde_json::to_string(&chart.as_kept()).unwrap();
                let again: Chart = serde_json::from_str(&json).unwrap();
                prop_assert_eq!(svg(&again), drawn);
            }
        }
    }

    #[test]
    fn a_wrong_number_of_values_is_refused() {
        let mut wrong = chart(Scale::Log, &[1.0, 2.0], vec![curve("β", &[1.0])]);
        let error = wrong.picture().err().unwrap().to_string();
        assert_eq!(
            error,
            "there are 1 values of the curve \"β\" where 2 are needed"
        );
        wrong.panels[0].curves[0].values = vec![1.0, 2.0];
        assert!(wrong.picture().is_ok());
        wrong.panels[0].curves[0].predicted = Some(vec![]);
        assert!(wrong.picture().is_err());
        wrong.panels.clear();
        assert!(wrong.picture().is_err());
    }

    #[test]
    fn too_many_curves_or_values_are_refused() {
        let many = vec![curve("a", &[1.0]); MOST_CURVES + 1];
        assert!(chart(Scale::Linear, &[0.0], many).picture().is_err());
        let long = vec![0.0; MOST_VALUES];
        assert!(
            chart(Scale::Linear, &long, vec![curve("a", &long)])
                .picture()
                .is_err()
        );
    }

    #[test]
    fn a_larger_value_is_higher_up() {
        for scale in [Scale::Linear, Scale::Log, Scale::Phase] {
            let panel = &chart(
                scale,
                &[],
                vec![curve("low", &[0.2]), curve("high", &[0.9])],
            )
            .panels[0];
            let frame = Frame {
                corner: (0.0, 0.0),
                size: (1.0, 1.0),
                x: Axis::from_zero(1.0),
                y: panel.axis(),
            };
            assert!(
                frame.at(0.0, 0.9).unwrap().1 < frame.at(0.0, 0.2).unwrap().1,
                "{scale:?}"
            );
        }
    }

    #[test]
    fn few_points_have_marks_with_their_values_and_many_have_none() {
        let drawn = |points: usize| {
            let x: Vec<f64> = (0..points).map(|x| x as f64).collect();
            svg(&chart(
                Scale::Linear,
                &x,
                vec![curve("a", &vec![1.5; points])],
            ))
        };
        assert!(drawn(39).contains("<title>a at 38: 1.5</title>"));
        assert!(!drawn(40).contains("<circle"));
        assert!(drawn(40).contains("a: first 1.5, last 1.5"));
    }

    #[test]
    fn a_prediction_is_dashed_and_explained() {
        let mut one = chart(Scale::Log, &[0.0, 1.0], vec![curve("a", &[0.0, 1.0])]);
        assert!(!svg(&one).contains(">predicted</text>"));
        assert!(svg(&one).contains(">zero</text>"));
        one.panels[0].curves[0].predicted = Some(vec![0.5, 1.0]);
        let with = svg(&one);
        assert_eq!(with.matches("<path class=\"predicted\"").count(), 2);
        assert!(with.contains(">predicted</text>"));
    }

    #[test]
    fn numbers_below_an_axis_do_not_touch() {
        let axis = Axis::around(Scale::Linear, [0.0, 99_999.0].into_iter());
        for length in [200.0, 700.0] {
            let ticks = spaced(&axis, length);
            assert!(ticks.len() >= 2);
            let gap = (ticks[1].0 - ticks[0].0) * length;
            assert!(gap > svg::width(&ticks[1].1, NUMBER_SIZE), "{ticks:?}");
        }
    }
}
