//! Quantities along an orbit: panels of curves over one common axis, such as the phases of z above the change of β̄
//! while the input is translated.

use crate::axis::{Axis, Scale, Tick};
use crate::colour::CURVES;
use crate::drawing::{DrawingError, expect_length, expect_some};
use crate::number::{kept, list, short};
use crate::svg::{self, Anchor, LABEL_SIZE, NUMBER_SIZE, Picture, Point, px};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A chart's width, and the height of a frame.
const WIDTH: f64 = 732.0;
const HEIGHT: f64 = 230.0;
/// Right of the frames, where half of the last number has room.
const RIGHT: f64 = 16.0;
/// Above a frame for its title, and above the next for the legend's lines.
const PANEL_TITLE: f64 = 26.0;
const ENTRY: f64 = 22.0;
/// Between a frame and the title of the next, and below the last for numbers and what they are.
const BETWEEN: f64 = 18.0;
const FOOT: f64 = 38.0;
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
/// Marks of points, from their middles on: a disc, a square, a triangle and a diamond tell curves apart; the last stands
/// on the lower edge for a value that a logarithm has no place for.
const MARKS: [&str; 4] = [
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.6-3.6h7.2v7.2h-7.2z",
    "m0-4.8l4.6 8h-9.2z",
    "m0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2z",
];
const BELOW: &str = "l4.8-8h-9.6z";
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
                for list in [&curve.values].into_iter().chain(&curve.predicted) {
                    let what = format!("values of the curve {:?}", curve.label);
                    expect_length(&what, list.len(), self.x.len())?;
                    values += list.len();
                }
            }
        }
        expect_some("values", values, MOST_VALUES)
    }

    /// With grey lines at some x.
    pub(crate) fn picture(&self, dividers: &[f64]) -> Result<Picture, DrawingError> {
        self.check()?;
        let chart = self.as_kept();
        let x = Axis::around(Scale::Linear, chart.x.iter().copied());
        let lefts = chart.panels.iter().map(Panel::left);
        let left = lefts.fold(0.0, f64::max).ceil();
        let size = (WIDTH - left - RIGHT, HEIGHT);
        let x_ticks = spaced(&x, size.0);
        let panels = chart.panels.iter().map(|panel| {
            let head = panel.head(left, size.0);
            let y = panel.axis();
            let frame = Frame { left, size, x, y };
            let body = panel.draw(&frame, &x_ticks, &chart.x, dividers);
            Picture::column([head, Picture::new((WIDTH, HEIGHT), body)], 0.0)
        });
        let foot = html! {
            @for (place, number) in &x_ticks {
                (svg::number((left + place * size.0, 15.0), Anchor::Middle, number))
            }
            (svg::text((left + size.0 / 2.0, 38.0), Anchor::Middle, LABEL_SIZE, size.0, &chart.x_label))
        };
        let panels = Picture::column(panels, BETWEEN);
        let foot = Picture::new((WIDTH, FOOT), foot);
        Ok(Picture::column([panels, foot], 0.0).titled(&chart.title))
    }

    /// With the numbers that a page keeps.
    pub(crate) fn as_kept(&self) -> Self {
        let mut chart = self.clone();
        let curves = chart.panels.iter_mut().flat_map(|panel| &mut panel.curves);
        let values =
            curves.flat_map(|curve| [&mut curve.values].into_iter().chain(&mut curve.predicted));
        for list in values.chain([&mut chart.x]) {
            list.iter_mut().for_each(|value| *value = kept(*value));
        }
        chart
    }
}

/// As many ticks as have room for their numbers along an axis of this length.
fn spaced(axis: &Axis, length: f64) -> Vec<Tick> {
    let fits = |ticks: &Vec<Tick>| {
        ticks.windows(2).all(|pair| {
            let both = pair[0].1.clone() + &pair[1].1;
            let apart = (pair[1].0 - pair[0].0) * length;
            apart >= svg::width(&both, NUMBER_SIZE) / 2.0 + X_ROOM
        })
    };
    let mut choices = (2..=X_TICKS).rev().map(|most| axis.ticks(most));
    choices.find(fits).unwrap_or_default()
}

/// Class of the strokes and of the marks of the curve with this number, and its mark; combinations repeat late,
/// because 7 and 4 have no common divisor.
fn look(index: usize) -> (String, String, &'static str) {
    let colour = index % CURVES;
    (
        format!("curve c{colour}"),
        format!("m{colour}"),
        MARKS[index % MARKS.len()],
    )
}

/// A mark at a point, and what the point is.
fn mark(shape: &str, (x, y): Point, class: &str, tooltip: &str) -> Markup {
    html! { path class=(class) d={ "M" (px(x)) " " (px(y)) (shape) } { title { (tooltip) } } }
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
        Y_LABEL + svg::widest(ticks.iter().map(|(_, number)| number.as_str())) + AWAY
    }

    /// Samples of what is drawn, from their left ends on, and what they are.
    fn legend(&self) -> Vec<(Markup, &str)> {
        let middle = SAMPLE / 2.0;
        let line = |class: &str| svg::line(class, (0.0, 0.0), (SAMPLE, 0.0));
        let mut entries: Vec<(Markup, &str)> = Vec::new();
        for (index, Curve { label, values, .. }) in self.curves.iter().enumerate() {
            let (stroke, fill, shape) = look(index);
            let marked = self.stride(values.len()).is_some();
            let sample =
                html! { (line(&stroke)) @if marked { (mark(shape, (middle, 0.0), &fill, label)) } };
            entries.push((sample, label));
        }
        if self.curves.iter().any(|curve| curve.predicted.is_some()) {
            entries.push((line("predicted"), "predicted"));
        }
        let least = self.curves.iter().flat_map(|curve| &curve.values);
        let least = least.copied().fold(f64::INFINITY, f64::min);
        if self.scale == Scale::Log && least <= 0.0 {
            let label = if least < 0.0 { "zero or less" } else { "zero" };
            entries.push((mark(BELOW, (middle, 4.0), "m6", label), label));
        }
        entries
    }

    /// The title, and the legend in lines below it.
    fn head(&self, left: f64, room: f64) -> Picture {
        let titles = usize::from(!self.title.is_empty()) as f64;
        let (mut x, mut y) = (left, titles * PANEL_TITLE + ENTRY / 2.0);
        let mut legend = Vec::new();
        for (sample, label) in self.legend() {
            let wide = SAMPLE + BESIDE + svg::width(label, NUMBER_SIZE).min(WIDEST_ENTRY);
            if x > left && x + wide > left + room {
                (x, y) = (left, y + ENTRY);
            }
            legend.push((svg::moved((x, y)), sample, label));
            x += wide + APART;
        }
        let body = html! {
            (svg::text((left, PANEL_TITLE / 2.0), Anchor::Start, LABEL_SIZE + 1.0, room, &self.title))
            @for (place, sample, label) in &legend {
                g transform=(place) {
                    (sample)
                    (svg::text((SAMPLE + BESIDE, 0.0), Anchor::Start, NUMBER_SIZE, WIDEST_ENTRY, label))
                }
            }
        };
        Picture::new((WIDTH, y + ENTRY / 2.0 + 6.0), body)
    }

    fn draw(&self, frame: &Frame, x_ticks: &[Tick], x: &[f64], dividers: &[f64]) -> Markup {
        let (left, (width, height)) = (frame.left, frame.size);
        let upright = svg::moved((Y_LABEL / 2.0 - 4.0, height / 2.0)) + " rotate(-90)";
        html! {
            @for (place, _) in x_ticks {
                @let x = left + place * width;
                (svg::line("grid", (x, 0.0), (x, height)))
                (svg::line("tick", (x, height), (x, height + 5.0)))
            }
            @for (place, number) in frame.y.ticks(Y_TICKS) {
                @let y = (1.0 - place) * height;
                (svg::line("grid", (left, y), (left + width, y)))
                (svg::line("tick", (left - 5.0, y), (left, y)))
                (svg::number((left - AWAY, y), Anchor::End, &number))
            }
            @for place in dividers.iter().filter_map(|&at| frame.x.place(at)) {
                (svg::line("divider", (left + place * width, 0.0), (left + place * width, height)))
            }
            (svg::rectangle("frame", (left, 0.0), frame.size, ""))
            g transform=(upright) {
                (svg::text((0.0, 0.0), Anchor::Middle, LABEL_SIZE, height + PANEL_TITLE, &self.y_label))
            }
            @for (index, curve) in self.curves.iter().enumerate() { (self.draw_curve(frame, x, index, curve)) }
            @for predicted in self.curves.iter().filter_map(|curve| curve.predicted.as_ref()) {
                path.predicted d=(path(&frame.strokes(x, predicted))) {}
            }
        }
    }

    fn draw_curve(&self, frame: &Frame, x: &[f64], index: usize, curve: &Curve) -> Markup {
        let (stroke, fill, shape) = look(index);
        let stride = self.stride(x.len());
        let marked = |place: usize| stride.is_some_and(|stride| place.is_multiple_of(stride));
        html! {
            path class=(stroke) d=(path(&frame.strokes(x, &curve.values))) { title { (curve.summary()) } }
            @for (place, (&x, &y)) in x.iter().zip(&curve.values).enumerate() {
                @let tooltip = format!("{} at {}: {}", curve.label, short(x), short(y));
                @if let Some(at) = frame.below(x, y) { (mark(BELOW, at, &fill, &tooltip)) }
                @if let Some(at) = frame.at(x, y).filter(|_| marked(place)) { (mark(shape, at, &fill, &tooltip)) }
            }
        }
    }

    /// Every so many points have a mark: all of a few, none of many, but some where colours do not suffice.
    fn stride(&self, points: usize) -> Option<usize> {
        match points {
            0..MARKED => Some(1),
            _ => (self.curves.len() > CURVES).then_some(points / SPARSE),
        }
    }
}

impl Curve {
    /// What a line says where its points do not: its name, its ends and its extremes.
    fn summary(&self) -> String {
        let label = &self.label;
        let mut finite = self.values.clone();
        finite.retain(|value| value.is_finite());
        let [Some(first), Some(last)] = [finite.first(), finite.last()].map(|end| end.copied())
        else {
            return label.clone();
        };
        finite.sort_by(f64::total_cmp);
        let [first, last, low, high] =
            [first, last, finite[0], finite[finite.len() - 1]].map(short);
        format!("{label}: first {first}, last {last}, least {low}, most {high}")
    }
}

/// A rectangle at the upper edge of a panel with its two axes.
struct Frame {
    left: f64,
    size: Point,
    x: Axis,
    y: Axis,
}

impl Frame {
    /// Where in the panel a point is.
    fn at(&self, x: f64, y: f64) -> Option<Point> {
        let (right, up) = (self.x.place(x)?, self.y.place(y)?);
        Some((self.left + right * self.size.0, (1.0 - up) * self.size.1))
    }

    /// Where a point that lies below a logarithmic axis is shown.
    fn below(&self, x: f64, y: f64) -> Option<Point> {
        let below = self.y.scale == Scale::Log && y <= 0.0;
        let right = self.x.place(x).filter(|_| below)?;
        Some((self.left + right * self.size.0, self.size.1))
    }

    /// The line through all points, interrupted where one cannot be shown.
    fn strokes(&self, x: &[f64], y: &[f64]) -> Vec<Vec<Point>> {
        let (mut strokes, mut stroke) = (Vec::new(), Vec::new());
        let mut before: Option<Point> = None;
        for (&x, &y) in x.iter().zip(y) {
            let place = self.at(x, y);
            let before_it = before.filter(|_| place.is_some());
            if let Some((from, to)) = before_it.and_then(|before| self.cut(before, (x, y))) {
                stroke.push(from);
                strokes.push(std::mem::replace(&mut stroke, vec![to]));
            }
            match place {
                Some(place) => stroke.push(place),
                None => strokes.push(std::mem::take(&mut stroke)),
            }
            before = place.map(|_| (x, y));
        }
        strokes.push(stroke);
        strokes.retain(|stroke| !stroke.is_empty());
        strokes
    }

    /// Where a line leaves the range of phases and where it comes in again, if the way round is the shorter.
    fn cut(&self, from: Point, to: Point) -> Option<(Point, Point)> {
        let [start, end] = [from.1, to.1].map(|phase| Scale::Phase.measure(phase));
        let change = end - start;
        if self.y.scale != Scale::Phase || change.abs() <= 1.0 {
            return None;
        }
        let edge = -change.signum();
        let part = (edge - start) / (change + 2.0 * edge);
        // Both at the cut: the way between is none.
        let part = if part.is_finite() { part } else { 0.0 };
        let x = from.0 + (to.0 - from.0) * part;
        Some((self.at(x, edge)?, self.at(x, -edge)?))
    }
}

/// Strokes as the data of one path. A stroke of one point is a dot where line ends are round.
fn path(strokes: &[Vec<Point>]) -> String {
    let mut data = String::new();
    for stroke in strokes {
        for (index, (x, y)) in stroke.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            // Writing to a string does not fail.
            let _ = write!(data, "{command}{} {}", px(*x), px(*y));
        }
        data.push_str(if stroke.len() == 1 { "h0" } else { "" });
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use proptest::prelude::*;

    fn curve(label: &str, values: &[f64]) -> Curve {
        let (label, values, predicted) = (label.into(), values.to_vec(), None);
        Curve {
            label,
            values,
            predicted,
        }
    }

    fn chart(scale: Scale, x: &[f64], curves: Vec<Curve>) -> Chart {
        let (title, y_label) = ("panel".into(), "y".into());
        let panels = vec![Panel {
            title,
            y_label,
            scale,
            curves,
        }];
        let (title, x_label, x) = ("title".into(), "x".into(), x.to_vec());
        Chart {
            title,
            x_label,
            x,
            panels,
        }
    }

    fn svg(chart: &Chart) -> String {
        fixture::sound(chart.picture(&[]), 1 << 20)
    }

    proptest! {
        #[test]
        fn any_values_give_a_drawing_whose_numbers_are_finite(
            points in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 1..60),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            for scale in [Scale::Linear, Scale::Log, Scale::Phase] {
                let mut both = vec![curve("a", &y), curve("", &x)];
                both[0].predicted = Some(x.clone());
                let chart = chart(scale, &x, both);
                // The same once it was kept.
                let json = serde_json::to_string(&chart.as_kept()).unwrap();
                let again: Chart = serde_json::from_str(&json).unwrap();
                prop_assert_eq!(svg(&again), svg(&chart));
            }
        }
    }

    #[test]
    fn wrong_numbers_of_values_and_too_many_or_too_few_of_anything_are_refused() {
        let good = chart(Scale::Log, &[1.0, 2.0], vec![curve("β", &[1.0, 2.0])]);
        assert!(good.picture(&[]).is_ok());
        let wrong: [fn(&mut Chart); 7] = [
            |chart| chart.panels[0].curves[0].values.truncate(1),
            |chart| chart.panels[0].curves[0].predicted = Some(vec![]),
            |chart| chart.panels[0].curves = vec![curve("a", &[1.0, 2.0]); MOST_CURVES + 1],
            |chart| chart.panels[0].curves.clear(),
            |chart| chart.panels.clear(),
            |chart| chart.panels = vec![chart.panels[0].clone(); MOST_PANELS + 1],
            |chart| {
                chart.x = vec![0.0; MOST_VALUES];
                chart.panels[0].curves[0].values = vec![0.0; MOST_VALUES];
            },
        ];
        let errors = wrong.map(|wrong| {
            let mut chart = good.clone();
            wrong(&mut chart);
            chart.picture(&[]).err().unwrap().to_string()
        });
        let first = "there are 1 values of the curve \"β\" where 2 are needed";
        assert_eq!(errors[0], first);
        let empty = chart(Scale::Linear, &[], vec![curve("a", &[])]);
        assert!(empty.picture(&[]).is_err());
    }

    #[test]
    fn few_points_have_marks_with_their_values_and_many_have_none() {
        let drawn = |points: usize| {
            let x: Vec<f64> = (0..points).map(|x| x as f64).collect();
            let flat = vec![curve("a", &vec![1.5; points])];
            svg(&chart(Scale::Linear, &x, flat))
        };
        assert!(drawn(39).contains("<title>a at 38: 1.5</title>"));
        assert!(!drawn(40).contains("class=\"m0\""));
        assert!(drawn(40).contains("a: first 1.5, last 1.5"));
    }

    #[test]
    fn predictions_and_zeros_are_explained() {
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
        let axis = Axis::around(Scale::Linear, [0.0, 99_999.0]);
        for length in [200.0, 700.0] {
            let ticks = spaced(&axis, length);
            assert!(ticks.len() >= 2);
            let gap = (ticks[1].0 - ticks[0].0) * length;
            assert!(gap > svg::width(&ticks[1].1, NUMBER_SIZE), "{ticks:?}");
        }
    }

    fn frame(scale: Scale, y: &[f64]) -> Frame {
        Frame {
            left: 0.0,
            size: (100.0, 100.0),
            x: Axis::around(Scale::Linear, [0.0, 1.0]),
            y: Axis::around(scale, y.iter().copied()),
        }
    }

    #[test]
    fn a_line_is_interrupted_where_a_value_is_missing() {
        let y = [1.0, 2.0, f64::NAN, 1.5, f64::INFINITY];
        let strokes = frame(Scale::Linear, &y).strokes(&[0.0, 0.2, 0.4, 0.6, 0.8], &y);
        assert_eq!(strokes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        let [low, high] = [strokes[0][0].1, strokes[0][1].1];
        assert!(high < low, "a larger value is higher up");
        assert!(path(&strokes).ends_with("h0"), "a point alone is a dot");
    }

    #[test]
    fn a_phase_that_passes_one_leaves_above_and_comes_in_below() {
        let frame = frame(Scale::Phase, &[]);
        // Halfway from 0.6 to 1.4, which is −0.6.
        for y in [[0.6, -0.6], [0.6, 1.4]] {
            let strokes = frame.strokes(&[0.0, 1.0], &y);
            assert_eq!(strokes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
            for (point, y) in [(strokes[0][1], 1.0), (strokes[1][0], -1.0)] {
                let expected = frame.at(0.5, y).unwrap();
                // A few roundings of numbers up to 100.
                let apart = (point.0 - expected.0).hypot(point.1 - expected.1);
                assert!(apart < 1e-9, "{point:?}");
            }
        }
        assert_eq!(frame.strokes(&[0.0, 1.0], &[-1.0, 1.0]).len(), 2);
    }

    #[test]
    fn zero_stands_on_the_lower_edge_of_a_logarithmic_axis() {
        let frame = frame(Scale::Log, &[0.0, 1.0]);
        assert_eq!(frame.at(0.0, 0.0), None);
        assert_eq!(frame.below(0.0, 0.0).unwrap().1, 100.0);
        assert_eq!(frame.below(0.0, 0.1), None);
    }
}
