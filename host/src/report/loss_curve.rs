//! The losses of a run over its steps, on a logarithmic axis, as a PNG.

use super::canvas::{Canvas, Drawn, dots, font, text_width};
use super::colour::CURVES;
use super::picture::{FAINT, INK, PENCIL, Picture};
use crate::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use serde::Deserialize;
use std::ops::Range;

const SIZE: (usize, usize) = (1000, 580);
/// Values of this and below are not drawn: a logarithm has no zero.
const FLOOR: f64 = 1e-14;
const LINE: f64 = 2.0;
/// Above the curves, and where their names begin.
const HEAD: f64 = 92.0;
const LEFT: f64 = 102.0;
/// Where half of the last number has room.
const RIGHT: f64 = 36.0;
const LABEL_SIZE: f64 = 17.0;
const THIN: f64 = 1.0;

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

/// What a curve shows, in which colour, and how it is had.
type Curve = (&'static str, RGBColor, fn(&Point) -> f64);

const CURVES_OF_A_RUN: [Curve; 2] = [
    ("change along orbits", CURVES[0], |point| point.invariance),
    (
        "reconstruction, or rows from orthonormal",
        CURVES[1],
        |point| point.reconstruction,
    ),
];

/// A point of both curves, and whether a phase begins there.
struct Point {
    step: f64,
    invariance: f64,
    reconstruction: f64,
    begins: bool,
}

/// The picture of what `metrics` (lines of JSON) tells.
///
/// # Errors
/// The drawing fails, which only a fault of this program could cause.
pub fn png(metrics: &str) -> Result<Vec<u8>> {
    let points = points(metrics);
    Picture::new("loss.png", SIZE)?
        .draw(|canvas| draw(&points, canvas))?
        .png()
}

/// Steps counted through all phases.
fn points(metrics: &str) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let (mut part, mut before, mut last) = (None, 0, 0);
    for line in metrics
        .lines()
        .filter_map(|line| serde_json::from_str::<Line>(line).ok())
    {
        let begins = part.is_some_and(|part| part != (line.attempt, line.phase));
        if begins {
            before += last;
        }
        part = Some((line.attempt, line.phase));
        last = line.step;
        points.push(Point {
            step: (before + line.step) as f64,
            invariance: line.invariance.max(FLOOR),
            reconstruction: line.reconstruction.max(FLOOR),
            begins,
        });
    }
    points
}

/// Whole decades around all values.
fn decades(points: &[Point]) -> Range<f64> {
    // A phase without a reconstruction has zeros there, which are not drawn.
    let values = || {
        points
            .iter()
            .flat_map(|point| [point.invariance, point.reconstruction])
            .filter(|&value| value > FLOOR)
    };
    let lowest = values().fold(f64::INFINITY, f64::min).min(1.0);
    let highest = values().fold(0.0, f64::max).max(lowest * 10.0);
    10_f64.powf(lowest.log10().floor())..10_f64.powf(highest.log10().ceil())
}

fn draw(points: &[Point], canvas: &Canvas<'_>) -> Drawn {
    let steps = points.last().map_or(1.0, |point| point.step);
    let range = decades(points);
    let mut chart = ChartBuilder::on(canvas.root())
        .margin(dots(16.0))
        .margin_top(dots(HEAD))
        .margin_right(dots(RIGHT))
        .x_label_area_size(dots(48.0))
        .y_label_area_size(dots(84.0))
        .build_cartesian_2d(0.0..steps, range.clone().log_scale())?;
    chart
        .configure_mesh()
        .x_desc("step")
        .y_desc("mean loss of a batch")
        .label_style(font(15.0))
        .axis_desc_style(font(17.0))
        .set_all_tick_mark_size(dots(5.0))
        .axis_style(stroke(INK, THIN))
        .bold_line_style(stroke(FAINT, THIN))
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|step| format!("{step:.0}"))
        .y_label_formatter(&|loss| format!("{loss:.0e}"))
        .draw()?;
    for point in points.iter().filter(|point| point.begins) {
        let line = [(point.step, range.start), (point.step, range.end)];
        chart.draw_series(LineSeries::new(line, stroke(PENCIL, THIN)))?;
    }
    for (_, colour, value) in CURVES_OF_A_RUN {
        let at = |point: &Point| (point.step, value(point));
        for phase in points.chunk_by(|_, next| !next.begins) {
            let drawn = |point: &Point| value(point) > FLOOR;
            if let [point] = phase
                && drawn(point)
            {
                let dot = Circle::new(at(point), dots(1.5 * LINE), colour.filled());
                chart.draw_series([dot])?;
            }
            // One by one: the library's joints of a thick line are as long as its corners are sharp.
            let strokes = phase
                .windows(2)
                .filter(|ends| ends.iter().all(drawn))
                .map(|ends| PathElement::new([at(&ends[0]), at(&ends[1])], stroke(colour, LINE)));
            chart.draw_series(strokes)?;
        }
    }
    heading(canvas)
}

/// The title and what each colour is, above the curves, where nothing is hidden.
fn heading(canvas: &Canvas<'_>) -> Drawn {
    let width = SIZE.0 as f64;
    canvas.heading((width / 2.0, 28.0), width, "Losses of the run", 24.0)?;
    let mut x = LEFT;
    for (label, colour, _) in CURVES_OF_A_RUN {
        canvas.line(&[(x, 62.0), (x + 28.0, 62.0)], LINE, colour)?;
        canvas.text((x + 36.0, 62.0), HPos::Left, label, LABEL_SIZE, INK)?;
        x += 36.0 + text_width(label, LABEL_SIZE) + 40.0;
    }
    Ok(())
}

/// A line this many pixels wide.
fn stroke(colour: RGBColor, width: f64) -> ShapeStyle {
    colour.stroke_width(dots(width) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_metrics_can_be_drawn() {
        let line = |phase: usize, step: u64, loss: f64| {
            format!(
                "{{\"phase\":{phase},\"step\":{step},\"invariance\":{loss},\"reconstruction\":{}}}\n",
                loss * 3.0
            )
        };
        let two_phases =
            line(1, 10, 1.0) + &line(1, 20, 0.1) + &line(2, 10, 0.2) + &line(2, 20, 0.0);
        for metrics in ["", "not json\n", &line(1, 1, 0.0), &two_phases] {
            assert_eq!(&png(metrics).unwrap()[1..4], b"PNG");
        }
    }

    #[test]
    fn steps_are_counted_through_all_phases() {
        let metrics = "{\"phase\":1,\"step\":30,\"invariance\":1,\"reconstruction\":1}\n\
                       {\"phase\":2,\"step\":10,\"invariance\":1,\"reconstruction\":1}\n";
        let points = points(metrics);
        assert_eq!((points[0].step, points[1].step), (30.0, 40.0));
        assert!(!points[0].begins && points[1].begins);
    }
}
