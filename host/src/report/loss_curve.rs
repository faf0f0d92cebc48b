//! The losses of a run over its steps, on a logarithmic axis, as a PNG.

use crate::{Error, Result};
use plotters::prelude::*;
use plotters::style::register_font;
use serde::Deserialize;
use std::ops::Range;

const WIDTH: u32 = 1000;
const HEIGHT: u32 = 560;
const FONT: &str = "DejaVu Sans";
/// Values below are drawn here: a logarithm has no zero.
const FLOOR: f64 = 1e-14;
const INVARIANCE: RGBColor = RGBColor(0x1f, 0x5f, 0xb4);
const RECONSTRUCTION: RGBColor = RGBColor(0xd9, 0x6b, 0x0b);
const BOUNDARY: RGBColor = RGBColor(0x90, 0x90, 0x90);

/// The part of a line of `metrics.jsonl` that is drawn.
#[derive(Deserialize)]
struct Line {
    phase: usize,
    step: u64,
    invariance: f64,
    reconstruction: f64,
}

/// What a curve shows, in which colour, and how it is had.
type Curve = (&'static str, RGBColor, fn(&Point) -> f64);

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
    let mut pixels = vec![0xff; (WIDTH * HEIGHT * 3) as usize];
    draw(&points, &mut pixels).map_err(|what| Error::new("loss.png", what, "report this fault"))?;
    encode(&pixels).map_err(|error| Error::new("loss.png", error.to_string(), "report this fault"))
}

/// Steps counted through all phases.
fn points(metrics: &str) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let (mut phase, mut before, mut last) = (1, 0, 0);
    for line in metrics
        .lines()
        .filter_map(|line| serde_json::from_str::<Line>(line).ok())
    {
        let begins = line.phase != phase;
        if begins {
            (phase, before) = (line.phase, before + last);
        }
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
    let values = || {
        points
            .iter()
            .flat_map(|point| [point.invariance, point.reconstruction])
    };
    let lowest = values().fold(f64::INFINITY, f64::min).min(1.0);
    let highest = values().fold(0.0, f64::max).max(lowest * 10.0);
    10_f64.powf(lowest.log10().floor())..10_f64.powf(highest.log10().ceil())
}

fn draw(points: &[Point], pixels: &mut [u8]) -> std::result::Result<(), String> {
    // Registering again is harmless.
    let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let root = BitMapBackend::with_buffer(pixels, (WIDTH, HEIGHT)).into_drawing_area();
    root.fill(&WHITE).map_err(|error| wrong(&error))?;
    let steps = points.last().map_or(1.0, |point| point.step);
    let range = decades(points);
    let mut chart = ChartBuilder::on(&root)
        .caption("Losses of the run", (FONT, 24))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..steps, range.clone().log_scale())
        .map_err(|error| wrong(&error))?;
    chart
        .configure_mesh()
        .x_desc("step")
        .y_desc("mean loss of a batch")
        .label_style((FONT, 15))
        .axis_desc_style((FONT, 17))
        .x_label_formatter(&|step| format!("{step:.0}"))
        .y_label_formatter(&|loss| format!("{loss:.0e}"))
        .light_line_style(TRANSPARENT)
        .draw()
        .map_err(|error| wrong(&error))?;
    for point in points.iter().filter(|point| point.begins) {
        let line = [(point.step, range.start), (point.step, range.end)];
        chart
            .draw_series(LineSeries::new(line, &BOUNDARY))
            .map_err(|error| wrong(&error))?;
    }
    let curves: [Curve; 2] = [
        (
            "reconstruction, or rows from orthonormal",
            RECONSTRUCTION,
            |point| point.reconstruction,
        ),
        ("change along orbits", INVARIANCE, |point| point.invariance),
    ];
    for (label, colour, value) in curves {
        let line = points.iter().map(|point| (point.step, value(point)));
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(2)))
            .map_err(|error| wrong(&error))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.9))
        .border_style(BOUNDARY)
        .label_font((FONT, 15))
        .legend_area_size(30)
        .draw()
        .map_err(|error| wrong(&error))?;
    root.present().map_err(|error| wrong(&error))
}

fn encode(pixels: &[u8]) -> std::result::Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(bytes)
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
