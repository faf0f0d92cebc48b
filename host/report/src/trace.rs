//! One curve in a frame: the strokes of its line and the marks of its points.

use crate::axis::{Axis, Scale};
use crate::svg::{Point, px};
use maud::{Markup, html};
use std::fmt::Write;

/// From the middle of a mark to its rim.
const MARK: f64 = 4.0;

/// A rectangle of the drawing with its two axes.
pub(crate) struct Frame {
    pub(crate) corner: Point,
    pub(crate) size: Point,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

/// What shows a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Disc,
    Square,
    Triangle,
    Diamond,
    /// Stands on the lower edge for a value that a logarithm has no place for.
    Below,
}

/// Those that tell curves apart.
pub(crate) const MARKS: [Mark; 4] = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond];

impl Mark {
    /// The mark at a place, with what its point is.
    pub(crate) fn draw(self, (x, y): Point, class: &str, tooltip: &str) -> Markup {
        let corners: &[Point] = match self {
            Mark::Disc => {
                return html! { circle class=(class) cx=(px(x)) cy=(px(y)) r=(MARK) { title { (tooltip) } } };
            }
            Mark::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Mark::Triangle => &[(0.0, -1.2), (1.15, 0.8), (-1.15, 0.8)],
            Mark::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            Mark::Below => &[(0.0, 0.0), (1.2, -2.0), (-1.2, -2.0)],
        };
        let corners: Vec<Point> = corners
            .iter()
            .map(|(right, down)| (x + right * MARK, y + down * MARK))
            .collect();
        html! { path class=(class) d={ (path(&[corners])) "z" } { title { (tooltip) } } }
    }
}

/// Strokes as the data of one path. A stroke of one point is a dot where line ends are round.
pub(crate) fn path(strokes: &[Vec<Point>]) -> String {
    let mut data = String::new();
    for stroke in strokes {
        for (index, (x, y)) in stroke.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            // Writing to a string does not fail.
            let _ = write!(data, "{command}{} {}", px(*x), px(*y));
        }
        if stroke.len() == 1 {
            data.push_str("h0");
        }
    }
    data
}

impl Frame {
    /// Where in the drawing a point is.
    pub(crate) fn at(&self, x: f64, y: f64) -> Option<Point> {
        Some((
            self.corner.0 + self.x.place(x)? * self.size.0,
            self.corner.1 + (1.0 - self.y.place(self.wrapped(y))?) * self.size.1,
        ))
    }

    /// Where a point that lies below a logarithmic axis is shown.
    pub(crate) fn below(&self, x: f64, y: f64) -> Option<Point> {
        let below = self.y.scale() == Scale::Log && y <= 0.0;
        let x = below.then(|| self.x.place(x)).flatten()?;
        Some((self.corner.0 + x * self.size.0, self.corner.1 + self.size.1))
    }

    /// The line through all points, interrupted where one cannot be shown.
    pub(crate) fn strokes(&self, x: &[f64], y: &[f64]) -> Vec<Vec<Point>> {
        let mut strokes = Vec::new();
        let mut stroke = Vec::new();
        let mut before: Option<Point> = None;
        for (&x, y) in x.iter().zip(y.iter().map(|y| self.wrapped(*y))) {
            let place = self.at(x, y);
            if let Some((from, cut)) = before
                .filter(|_| place.is_some())
                .and_then(|before| self.cut(before, (x, y)))
            {
                stroke.push(from);
                strokes.push(std::mem::replace(&mut stroke, vec![cut]));
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
        let change = to.1 - from.1;
        if self.y.scale() != Scale::Phase || change.is_nan() || change.abs() <= 1.0 {
            return None;
        }
        let edge = -change.signum();
        let part = (edge - from.1) / (change + 2.0 * edge);
        // Both at the cut: the way between is none.
        let part = if part.is_finite() { part } else { 0.0 };
        let x = from.0 + (to.0 - from.0) * part;
        Some((self.at(x, edge)?, self.at(x, -edge)?))
    }

    /// Phases outside −1 … 1 are those of the same angle within.
    fn wrapped(&self, y: f64) -> f64 {
        if self.y.scale() == Scale::Phase && y.abs() > 1.0 {
            (y + 1.0).rem_euclid(2.0) - 1.0
        } else {
            y
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(scale: Scale, y: &[f64]) -> Frame {
        Frame {
            corner: (0.0, 0.0),
            size: (100.0, 100.0),
            x: Axis::around(Scale::Linear, [0.0, 1.0].into_iter()),
            y: Axis::around(scale, y.iter().copied()),
        }
    }

    #[test]
    fn a_line_is_interrupted_where_a_value_is_missing() {
        let y = [1.0, 2.0, f64::NAN, 1.5, f64::INFINITY];
        let strokes = frame(Scale::Linear, &y).strokes(&[0.0, 0.2, 0.4, 0.6, 0.8], &y);
        assert_eq!(strokes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert!(path(&strokes).ends_with("h0"), "a point alone is a dot");
    }

    #[test]
    fn a_phase_that_passes_one_leaves_above_and_comes_in_below() {
        let frame = frame(Scale::Phase, &[]);
        // Halfway from 0.6 to 1.4, which is −0.6.
        for y in [[0.6, -0.6], [0.6, 1.4]] {
            let strokes = frame.strokes(&[0.0, 1.0], &y);
            assert_eq!(strokes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
            for (point, x, y) in [(strokes[0][1], 0.5, 1.0), (strokes[1][0], 0.5, -1.0)] {
                let expected = frame.at(x, y).unwrap();
                // A few roundings of numbers up to 100.
                assert!(
                    (point.0 - expected.0).hypot(point.1 - expected.1) < 1e-9,
                    "{point:?}"
                );
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
