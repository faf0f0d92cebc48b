//! One curve in a frame: the strokes of its line and the marks of its points.

use super::axis::{Axis, Scale};
use super::canvas::{Canvas, Drawn, Pair};
use plotters::prelude::RGBColor;

/// Pixels from the middle of a mark to its rim.
const MARK: f64 = 5.0;

/// A rectangle of the picture with its two axes.
pub(super) struct Frame {
    pub(super) corner: Pair,
    pub(super) size: Pair,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) scale: Scale,
}

/// What shows a point.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    Disc,
    Square,
    Triangle,
    Diamond,
    /// Stands on the lower edge for a value that a logarithm has no place for.
    Below,
}

/// Those that tell curves apart.
pub(super) const MARKS: [Mark; 4] = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond];

impl Mark {
    pub(super) fn draw(self, canvas: &Canvas<'_>, (x, y): Pair, colour: RGBColor) -> Drawn {
        let corners: &[Pair] = match self {
            Mark::Disc => return canvas.disc((x, y), MARK, colour),
            Mark::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Mark::Triangle => &[(0.0, -1.2), (1.15, 0.8), (-1.15, 0.8)],
            Mark::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            Mark::Below => &[(0.0, 0.0), (1.2, -2.0), (-1.2, -2.0)],
        };
        let corners: Vec<Pair> = corners
            .iter()
            .map(|(right, down)| (x + right * MARK, y + down * MARK))
            .collect();
        canvas.polygon(&corners, colour)
    }
}

impl Frame {
    /// Where in the picture a point is.
    pub(super) fn at(&self, x: f64, y: f64) -> Option<Pair> {
        Some((
            self.corner.0 + self.x.place(x)? * self.size.0,
            self.corner.1 + (1.0 - self.y.place(self.wrapped(y))?) * self.size.1,
        ))
    }

    /// Where a point that lies below a logarithmic axis is shown.
    pub(super) fn below(&self, x: f64, y: f64) -> Option<Pair> {
        (self.scale == Scale::Log && y <= 0.0)
            .then(|| self.x.place(x))
            .flatten()
            .map(|x| (self.corner.0 + x * self.size.0, self.corner.1 + self.size.1))
    }

    /// The line through all points, interrupted where one cannot be shown.
    pub(super) fn strokes(&self, x: &[f64], y: &[f64]) -> Vec<Vec<Pair>> {
        let mut strokes = vec![Vec::new()];
        let mut before: Option<Pair> = None;
        for (&x, y) in x.iter().zip(y.iter().map(|y| self.wrapped(*y))) {
            let place = self.at(x, y);
            if place.is_none() {
                strokes.push(Vec::new());
            }
            if let Some((from, cut)) = before.and_then(|before| self.cut(before, (x, y))) {
                strokes
                    .last_mut()
                    .into_iter()
                    .for_each(|stroke| stroke.push(from));
                strokes.push(vec![cut]);
            }
            if let (Some(place), Some(stroke)) = (place, strokes.last_mut()) {
                stroke.push(place);
            }
            before = place.map(|_| (x, y));
        }
        strokes
    }

    /// Where a line leaves the range of phases and where it comes in again, if the way round is the shorter.
    fn cut(&self, from: Pair, to: Pair) -> Option<(Pair, Pair)> {
        let change = to.1 - from.1;
        if self.scale != Scale::Phase || change.is_nan() || change.abs() <= 1.0 {
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
        if self.scale == Scale::Phase && y.abs() > 1.0 {
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
            scale,
        }
    }

    #[test]
    fn a_line_is_interrupted_where_a_value_is_missing() {
        let y = [1.0, 2.0, f64::NAN, 1.5, f64::INFINITY];
        let frame = frame(Scale::Linear, &y);
        let lengths: Vec<usize> = frame
            .strokes(&[0.0, 0.2, 0.4, 0.6, 0.8], &y)
            .iter()
            .map(Vec::len)
            .collect();
        assert_eq!(lengths, [2, 1, 0]);
    }

    #[test]
    fn a_phase_that_passes_one_leaves_above_and_comes_in_below() {
        let frame = frame(Scale::Phase, &[]);
        // Halfway from 0.6 to 1.4, which is −0.6.
        for y in [[0.6, -0.6], [0.6, 1.4]] {
            let strokes = frame.strokes(&[0.0, 1.0], &y);
            assert_eq!(
                (strokes.len(), strokes[0].len(), strokes[1].len()),
                (2, 2, 2)
            );
            for (point, x, y) in [(strokes[0][1], 0.5, 1.0), (strokes[1][0], 0.5, -1.0)] {
                let expected = frame.at(x, y).unwrap();
                let far = (point.0 - expected.0).hypot(point.1 - expected.1);
                assert!(far < 1e-9, "{point:?}");
            }
        }
        let falling = frame.strokes(&[0.0, 1.0], &[-1.0, 1.0]);
        assert_eq!(falling.len(), 2);
    }

    #[test]
    fn zero_stands_on_the_lower_edge_of_a_logarithmic_axis() {
        let frame = frame(Scale::Log, &[0.0, 1.0]);
        assert_eq!(frame.at(0.0, 0.0), None);
        assert_eq!(frame.below(0.0, 0.0).unwrap().1, 100.0);
        assert_eq!(frame.below(0.0, 0.1), None);
    }
}
