//! How a panel of curves is drawn: its axes, its curves, and its legend at the right, where it covers nothing.

use super::axis::{Axis, Scale, Tick};
use super::canvas::{Canvas, Drawn, Pair, fit, text_width};
use super::colour::CURVES;
use super::curves::Panel;
use super::picture::{FAINT, INK, PENCIL};
use super::trace::{Frame, MARKS, Mark};
use plotters::prelude::RGBColor;
use plotters::style::text_anchor::HPos;

/// Between a frame and the one above, for the title.
pub(super) const PANEL_HEAD: f64 = 48.0;
pub(super) const LABEL_SIZE: f64 = 19.0;
pub(super) const NUMBER_SIZE: f64 = 17.0;
/// Length of a tick mark, outside the frame.
pub(super) const TICK: f64 = 6.0;
const TITLE_SIZE: f64 = 21.0;
const Y_TICKS: usize = 6;
/// For the turned text left of the numbers, where in the picture it stands, and between numbers and tick marks.
const Y_LABEL: f64 = 40.0;
const Y_LABEL_MIDDLE: f64 = 30.0;
const AWAY: f64 = 4.0;
/// In the legend: its distance, the height of an entry, the length of its line, and what its text may take.
const LEGEND: f64 = 36.0;
const ENTRY: f64 = 28.0;
const SAMPLE: f64 = 44.0;
const BESIDE: f64 = 10.0;
const WIDEST_ENTRY: f64 = 380.0;
/// Points have marks if there are fewer than these; else some have, if marks are needed.
const MARKED: usize = 40;
const SPARSE: usize = 12;
/// How wide lines are.
const LINE: f64 = 2.2;
const DASHED: f64 = 1.5;

/// A line of the legend.
struct Entry {
    label: String,
    colour: RGBColor,
    kind: Kind,
}

enum Kind {
    Measured(Mark),
    Predicted,
    Zero,
}

/// Colour and mark of the curve with this number; pairs repeat late, because 7 and 4 have no common divisor.
fn look(index: usize) -> (RGBColor, Mark) {
    (CURVES[index % CURVES.len()], MARKS[index % MARKS.len()])
}

/// A prediction lies on its curve if it is right, so it is darker.
fn darker(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    RGBColor(red / 5 * 2, green / 5 * 2, blue / 5 * 2)
}

impl Panel {
    /// Draws the frame and what belongs to it; `x` and its ticks are those of all panels.
    pub(super) fn draw(
        &self,
        canvas: &Canvas<'_>,
        frame: &Frame,
        x_ticks: &[Tick],
        x: &[f64],
    ) -> Drawn {
        self.axes(canvas, frame, x_ticks)?;
        self.traces(canvas, frame, x)?;
        self.legend(canvas, frame, x)
    }

    /// What the numbers and the label left of the frame need.
    pub(super) fn left(&self) -> f64 {
        let ticks = self.axis().ticks(Y_TICKS);
        let widths = ticks.iter().map(|(_, text)| text_width(text, NUMBER_SIZE));
        Y_LABEL + widths.fold(0.0, f64::max) + AWAY + TICK
    }

    /// Width and height of what is right of the frame.
    pub(super) fn legend_size(&self) -> Pair {
        let entries = self.entries();
        let widths = entries
            .iter()
            .map(|entry| text_width(&entry.label, NUMBER_SIZE));
        let widest = widths.fold(0.0, f64::max).min(WIDEST_ENTRY);
        (
            LEGEND + SAMPLE + BESIDE + widest,
            entries.len() as f64 * ENTRY,
        )
    }

    pub(super) fn axis(&self) -> Axis {
        let predicted = self.curves.iter().flat_map(|curve| &curve.predicted);
        let measured = self.curves.iter().map(|curve| &curve.values);
        Axis::around(self.scale, measured.chain(predicted).flatten().copied())
    }

    fn entries(&self) -> Vec<Entry> {
        let measured = self.curves.iter().enumerate().map(|(index, curve)| {
            let (colour, mark) = look(index);
            Entry {
                label: curve.label.clone(),
                colour,
                kind: Kind::Measured(mark),
            }
        });
        let mut entries: Vec<Entry> = measured.collect();
        let mut add = |wanted: bool, label: &str, kind: Kind| {
            entries.extend(wanted.then(|| Entry {
                label: label.into(),
                colour: INK,
                kind,
            }));
        };
        let curves = || self.curves.iter();
        let predicted = curves().any(|curve| curve.predicted.is_some());
        add(predicted, "predicted", Kind::Predicted);
        let values = || curves().flat_map(|curve| &curve.values);
        let zeros = self.scale == Scale::Log && values().any(|value| *value <= 0.0);
        let less = values().any(|value| *value < 0.0);
        add(
            zeros,
            if less { "zero or less" } else { "zero" },
            Kind::Zero,
        );
        entries
    }

    fn axes(&self, canvas: &Canvas<'_>, frame: &Frame, x_ticks: &[Tick]) -> Drawn {
        let ((left, top), (width, height)) = (frame.corner, frame.size);
        let bottom = top + height;
        let title = fit(&self.title, TITLE_SIZE, width);
        canvas.text((left, top - 19.0), HPos::Left, &title, TITLE_SIZE, INK)?;
        for (place, _) in x_ticks {
            let x = (left + place * width).round();
            canvas.rectangle((x, top), (1.0, height), FAINT)?;
            canvas.rectangle((x, bottom), (1.0, TICK), INK)?;
        }
        for (place, text) in frame.y.ticks(Y_TICKS) {
            let y = (top + (1.0 - place) * height).round();
            canvas.rectangle((left, y), (width, 1.0), FAINT)?;
            canvas.rectangle((left - TICK, y), (TICK, 1.0), INK)?;
            let at = (left - TICK - AWAY, y + 0.5);
            canvas.text(at, HPos::Right, &text, NUMBER_SIZE, INK)?;
        }
        canvas.frame((left, top), (width + 1.0, height + 1.0), PENCIL)?;
        let label = fit(&self.y_label, LABEL_SIZE, height + PANEL_HEAD);
        canvas.upright((Y_LABEL_MIDDLE, top + height / 2.0), &label, LABEL_SIZE)
    }

    fn traces(&self, canvas: &Canvas<'_>, frame: &Frame, x: &[f64]) -> Drawn {
        let stride = self.stride(x.len());
        for (index, curve) in self.curves.iter().enumerate() {
            let (colour, mark) = look(index);
            for stroke in frame.strokes(x, &curve.values) {
                canvas.line(&stroke, LINE, colour)?;
            }
            for (place, (&x, &y)) in x.iter().zip(&curve.values).enumerate() {
                if let Some(at) = frame.below(x, y) {
                    Mark::Below.draw(canvas, at, colour)?;
                }
                let marked = stride.is_some_and(|stride| place.is_multiple_of(stride));
                if let Some(at) = frame.at(x, y).filter(|_| marked) {
                    mark.draw(canvas, at, colour)?;
                }
            }
        }
        for (index, curve) in self.curves.iter().enumerate() {
            for stroke in curve.predicted.iter().flat_map(|y| frame.strokes(x, y)) {
                canvas.dashes(&stroke, DASHED, darker(look(index).0))?;
            }
        }
        Ok(())
    }

    /// Every so many points have a mark: all of a few, none of many, but some where colours do not suffice.
    fn stride(&self, points: usize) -> Option<usize> {
        if points < MARKED {
            Some(1)
        } else if self.curves.len() > CURVES.len() {
            Some(points / SPARSE)
        } else {
            None
        }
    }

    fn legend(&self, canvas: &Canvas<'_>, frame: &Frame, x: &[f64]) -> Drawn {
        let left = frame.corner.0 + frame.size.0 + LEGEND;
        for (index, entry) in self.entries().into_iter().enumerate() {
            let y = frame.corner.1 + (index as f64 + 0.5) * ENTRY;
            let line = [(left, y), (left + SAMPLE, y)];
            let middle = (left + SAMPLE / 2.0, y);
            match entry.kind {
                Kind::Measured(mark) => {
                    canvas.line(&line, LINE, entry.colour)?;
                    if self.stride(x.len()).is_some() {
                        mark.draw(canvas, middle, entry.colour)?;
                    }
                }
                Kind::Predicted => canvas.dashes(&line, DASHED, entry.colour)?,
                Kind::Zero => Mark::Below.draw(canvas, (middle.0, y + 5.0), entry.colour)?,
            }
            let text = fit(&entry.label, NUMBER_SIZE, WIDEST_ENTRY);
            let at = (left + SAMPLE + BESIDE, y);
            canvas.text(at, HPos::Left, &text, NUMBER_SIZE, INK)?;
        }
        Ok(())
    }
}
