//! Quantities along an orbit: panels of curves over one common axis, such as the phases of z above the change of β̄
//! while the input is translated.

pub use super::axis::Scale;
use super::axis::{Axis, Tick};
use super::canvas::{Canvas, Drawn, Pair, fit};
use super::panel::{LABEL_SIZE, NUMBER_SIZE, PANEL_HEAD, TICK};
use super::picture::{INK, Picture};
use super::trace::Frame;
use crate::{Error, Result};
use plotters::style::text_anchor::HPos;

const NAME: &str = "curves.png";
/// A frame is this large, or higher where its legend is.
const FRAME: Pair = (860.0, 280.0);
/// Above all panels, and below them.
const HEAD: f64 = 60.0;
const FOOT: f64 = 80.0;
const MARGIN: f64 = 20.0;
const TITLE_SIZE: f64 = 25.0;
const X_TICKS: usize = 17;

/// A measured quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What the legend calls it.
    pub label: String,
    /// One value for each x; where one is not finite the line is interrupted.
    pub values: Vec<f64>,
    /// What it should be, drawn as a thin dashed line over it: one value for each x.
    pub predicted: Option<Vec<f64>>,
}

/// Curves in one frame.
#[derive(Debug, Clone, PartialEq)]
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
/// use bispectral::report::curves::{Chart, Curve, Panel, Scale};
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
/// assert!(chart.png()?.starts_with(b"\x89PNG"));
/// # Ok::<(), bispectral::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Above all panels.
    pub title: String,
    /// Below them.
    pub x_label: String,
    /// Where every curve has its values.
    pub x: Vec<f64>,
    /// From above.
    pub panels: Vec<Panel>,
}

impl Chart {
    /// The picture.
    ///
    /// # Errors
    /// There is no panel, a curve has another number of values than x, or there are too many curves to draw.
    pub fn png(&self) -> Result<Vec<u8>> {
        self.check()?;
        let layout = Layout::new(self);
        Picture::new(NAME, layout.size())?
            .draw(|canvas| self.draw(canvas, &layout))?
            .png()
    }

    fn check(&self) -> Result<()> {
        if self.panels.is_empty() {
            return Err(Error::new(NAME, "there are no panels", "give one or more"));
        }
        let curves = self.panels.iter().flat_map(|panel| &panel.curves);
        for curve in curves {
            let lengths = [Some(&curve.values), curve.predicted.as_ref()];
            for length in lengths.into_iter().flatten().map(Vec::len) {
                if length != self.x.len() {
                    return Err(Error::new(
                        NAME,
                        format!("{:?} has {length} values", curve.label),
                        format!("give {}, one for each x", self.x.len()),
                    ));
                }
            }
        }
        Ok(())
    }

    fn draw(&self, canvas: &Canvas<'_>, layout: &Layout) -> Drawn {
        let width = layout.size().0 as f64;
        let middle = layout.left + FRAME.0 / 2.0;
        canvas.heading((middle, HEAD / 2.0), width, &self.title, TITLE_SIZE)?;
        for (panel, frame) in self.panels.iter().zip(&layout.frames) {
            panel.draw(canvas, frame, &layout.x_ticks, &self.x)?;
        }
        let Some(last) = layout.frames.last() else {
            return Ok(());
        };
        let bottom = last.corner.1 + last.size.1;
        for (place, text) in &layout.x_ticks {
            let at = (layout.left + place * FRAME.0, bottom + TICK + 14.0);
            canvas.text(at, HPos::Center, text, NUMBER_SIZE, INK)?;
        }
        let label = fit(&self.x_label, LABEL_SIZE, FRAME.0);
        canvas.text(
            (middle, bottom + 54.0),
            HPos::Center,
            &label,
            LABEL_SIZE,
            INK,
        )
    }
}

/// The frames and the ticks they share.
struct Layout {
    left: f64,
    right: f64,
    frames: Vec<Frame>,
    x_ticks: Vec<Tick>,
}

impl Layout {
    fn new(chart: &Chart) -> Self {
        let x = Axis::around(Scale::Linear, chart.x.iter().copied());
        let widest =
            |width: &dyn Fn(&Panel) -> f64| chart.panels.iter().map(width).fold(0.0, f64::max);
        let left = (MARGIN + widest(&Panel::left)).ceil();
        let mut top = HEAD;
        let mut frames = Vec::new();
        for panel in &chart.panels {
            let size = (FRAME.0, FRAME.1.max(panel.legend_size().1));
            frames.push(Frame {
                corner: (left, top + PANEL_HEAD),
                size,
                x,
                y: panel.axis(),
                scale: panel.scale,
            });
            top += PANEL_HEAD + size.1;
        }
        Layout {
            left,
            right: left + FRAME.0 + widest(&|panel| panel.legend_size().0) + MARGIN,
            frames,
            x_ticks: x.ticks(X_TICKS),
        }
    }

    fn size(&self) -> (usize, usize) {
        let last = self.frames.last();
        let bottom = last.map_or(HEAD, |frame| frame.corner.1 + frame.size.1);
        (self.right.ceil() as usize, (bottom + FOOT).ceil() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::colour::CURVES;
    use super::super::picture::Seen;
    use super::*;

    fn curve(label: &str, values: &[f64]) -> Curve {
        Curve {
            label: label.into(),
            values: values.to_vec(),
            predicted: None,
        }
    }

    fn chart(scale: Scale, x: &[f64], curves: Vec<Curve>) -> Chart {
        Chart {
            title: "title".into(),
            x_label: "x".into(),
            x: x.to_vec(),
            panels: vec![Panel {
                title: "panel".into(),
                y_label: "y".into(),
                scale,
                curves,
            }],
        }
    }

    /// Rows of the picture, within the frame and right of `from` pixels in it, that have this colour.
    fn rows(
        seen: &Seen,
        layout: &Layout,
        colour: plotters::prelude::RGBColor,
        from: f64,
    ) -> Vec<usize> {
        let (left, right) = (layout.left + from, layout.left + FRAME.0);
        (0..seen.height)
            .filter(|&y| (left as usize..right as usize).any(|x| seen.at(x, y) == colour))
            .collect()
    }

    #[test]
    fn any_values_give_a_picture() {
        let odd = [
            f64::NAN,
            f64::INFINITY,
            -1.0,
            0.0,
            f64::MAX,
            f64::MIN,
            1e-320,
        ];
        for scale in [Scale::Linear, Scale::Log, Scale::Phase] {
            for values in [&odd[..], &[], &[3.0], &[2.0; 300]] {
                for x in [
                    values.to_vec(),
                    (0..values.len()).map(|x| x as f64).collect(),
                ] {
                    let mut both = vec![curve("a", values), curve("", values)];
                    both[0].predicted = Some(values.to_vec());
                    let bytes = chart(scale, &x, both).png().unwrap();
                    assert_eq!(&bytes[1..4], b"PNG");
                }
            }
            assert!(chart(scale, &[], vec![]).png().is_ok());
        }
    }

    #[test]
    fn a_wrong_number_of_values_is_refused_in_one_line() {
        let mut wrong = chart(Scale::Log, &[1.0, 2.0], vec![curve("β", &[1.0])]);
        let error = wrong.png().unwrap_err().to_string();
        assert_eq!(
            error,
            "curves.png: \"β\" has 1 values: give 2, one for each x"
        );
        wrong.panels[0].curves[0].values = vec![1.0, 2.0];
        assert!(wrong.png().is_ok());
        wrong.panels[0].curves[0].predicted = Some(vec![]);
        assert!(wrong.png().is_err());
        wrong.panels.clear();
        assert!(wrong.png().is_err());
    }

    #[test]
    fn too_many_curves_to_draw_are_refused() {
        let many = vec![curve("a", &[1.0]); 10_000];
        let error = chart(Scale::Linear, &[0.0], many).png().unwrap_err();
        assert!(error.to_string().contains("cannot be drawn"), "{error}");
    }

    #[test]
    fn a_larger_value_is_higher_up() {
        for scale in [Scale::Linear, Scale::Log, Scale::Phase] {
            let both = vec![curve("low", &[0.2; 50]), curve("high", &[0.9; 50])];
            let x: Vec<f64> = (0..50).map(f64::from).collect();
            let chart = chart(scale, &x, both);
            let (seen, layout) = (Seen::new(&chart.png().unwrap()), Layout::new(&chart));
            let low = rows(&seen, &layout, CURVES[0], 0.0);
            let high = rows(&seen, &layout, CURVES[1], 0.0);
            assert!(high.last().unwrap() < low.first().unwrap(), "{scale:?}");
            // A line, and nothing else in the frame has its colour.
            assert!((1..=3).contains(&low.len()), "{scale:?} {low:?}");
        }
    }

    #[test]
    fn a_prediction_is_drawn_over_its_curve_and_explained() {
        let mut one = chart(Scale::Linear, &[0.0, 1.0], vec![curve("a", &[0.0, 1.0])]);
        let without = Seen::new(&one.png().unwrap());
        one.panels[0].curves[0].predicted = Some(vec![0.0, 1.0]);
        let with = Seen::new(&one.png().unwrap());
        assert!(with.count(CURVES[0]) < without.count(CURVES[0]));
        assert!(with.count(INK) > without.count(INK));
        assert!(with.width > without.width, "the legend has a longer word");
    }

    #[test]
    fn few_points_have_marks_and_many_have_none() {
        let height = |points: usize| {
            let x: Vec<f64> = (0..points).map(|x| x as f64).collect();
            let flat = chart(Scale::Linear, &x, vec![curve("a", &vec![1.0; points])]);
            let (seen, layout) = (Seen::new(&flat.png().unwrap()), Layout::new(&flat));
            rows(&seen, &layout, CURVES[0], 0.0).len()
        };
        assert!(height(39) >= 7, "a mark is about ten pixels high");
        assert!(height(40) <= 3, "a line is two");
    }
}
