//! The rows of W as images: red where a weight is positive, blue where it is negative.
//!
//! A row's phase is arbitrary, so each is turned first: such that Σ w_n² > 0, or its first coordinate, where that sum
//! is nearly zero.

use super::axis::number;
use super::canvas::{Canvas, Drawn, Pair};
use super::colour::{DIVERGING, UNKNOWN};
use super::grid::Grid;
use super::phase::turned;
use super::picture::{INK, Picture};
use crate::{Error, Result};
use ndarray::ArrayView2;
use num_complex::{Complex32, Complex64};
use plotters::prelude::RGBColor;
use plotters::style::text_anchor::HPos;

const NAME: &str = "filters.png";
/// Pixels a panel may be wide, two beside each other and one above the other.
const BESIDE: usize = 800;
const ABOVE: usize = 1640;
/// Panels wider than this many times their height stand one above the other.
const WIDE: usize = 3;
/// Between images, half a cell within these bounds.
const GAP: usize = 2;
const WIDEST_GAP: usize = 10;
/// Strips, the images of one row of pixels, are together about this high, and each within these bounds.
const STRIPS: usize = 760;
const STRIP: (usize, usize) = (4, 36);
const MARGIN: usize = 28;
const TITLE: usize = 44;
const TITLE_SIZE: f64 = 22.0;
/// Between panels, and for the colour bar with its numbers.
const BETWEEN: usize = 32;
const BAR: usize = 112;
/// The colour bar is as high as a panel, within these bounds.
const BAR_HEIGHT: (usize, usize) = (120, 420);

/// The rows of `w` that `order` names, in that order, each as an image of `shape` (height, width): their real parts
/// and their imaginary parts, with one scale for all. Rows for which there is no room are left out, and the titles
/// say so. Weights that are not finite are grey.
///
/// ```
/// use bispectral::report::filters;
/// use ndarray::array;
/// use num_complex::Complex32;
///
/// let i = Complex32::I;
/// let w = array![[1.0 + 0.0 * i, 1.0 + 0.0 * i], [1.0 + 0.0 * i, -1.0 + 0.0 * i]];
/// let picture = filters::png(w.view(), (1, 2), &[1, 0])?;
/// assert!(picture.starts_with(b"\x89PNG"));
/// # Ok::<(), bispectral::Error>(())
/// ```
///
/// # Errors
/// There is no row to draw or no such row, rows are no images of this shape, or one alone is too large.
pub fn png(
    w: ArrayView2<'_, Complex32>,
    shape: (usize, usize),
    order: &[usize],
) -> Result<Vec<u8>> {
    check(&w, shape, order)?;
    let layout = Layout::new(shape, order.len());
    let picture = Picture::new(NAME, layout.size())?;
    let rows: Vec<Vec<Complex64>> = order[..layout.shown]
        .iter()
        .map(|&row| turned(w.row(row)))
        .collect();
    picture
        .draw(|canvas| draw(canvas, &layout, &rows, order.len()))?
        .png()
}

fn check(w: &ArrayView2<'_, Complex32>, shape: (usize, usize), order: &[usize]) -> Result<()> {
    let refused = |what: String, remedy: &str| Err(Error::new(NAME, what, remedy));
    let (rows, inputs) = w.dim();
    if order.is_empty() {
        return refused("there are no rows to draw".into(), "name at least one");
    }
    if let Some(row) = order.iter().find(|row| **row >= rows) {
        return refused(
            format!("there is no row {row}"),
            &format!("name some of the {rows} there are"),
        );
    }
    if inputs == 0 || shape.0.checked_mul(shape.1) != Some(inputs) {
        return refused(
            format!(
                "rows of {inputs} are no images of {} × {}",
                shape.0, shape.1
            ),
            "give the height and width of an input",
        );
    }
    Ok(())
}

/// Between images whose cells are so large.
fn gap(cell: usize) -> usize {
    (cell / 2).clamp(GAP, WIDEST_GAP)
}

/// Where the panels and the images in them are.
struct Layout {
    grid: Grid,
    /// How many rows there is room for.
    shown: usize,
    /// Whether the imaginary parts are right of the real parts, else below.
    beside: bool,
}

impl Layout {
    fn new(shape: (usize, usize), count: usize) -> Self {
        let (height, width) = shape;
        if height == 1 {
            return Layout::strips(width, count);
        }
        let ratio = height as f64 / width as f64;
        let columns = ((count as f64 * ratio).sqrt().round() as usize).clamp(1, count);
        let grid = |columns: usize, room: usize| {
            let most = (room / columns / width).max(1);
            let fits = |cell: &usize| columns * (width * cell + gap(*cell)) <= room;
            let cell = (1..=most).rev().find(fits).unwrap_or(1);
            Grid {
                columns,
                shape,
                cell: (cell, cell),
                gap: (gap(cell), gap(cell)),
            }
        };
        let beside = grid(columns, BESIDE);
        let (across, down) = beside.size(count);
        if beside.cell.0 > 1 && across <= BESIDE && across <= WIDE * down {
            return Layout {
                grid: beside,
                shown: count,
                beside: true,
            };
        }
        let most = (ABOVE / (width + GAP)).max(1);
        let (columns, rows) = (columns.min(most), (ABOVE / (height + GAP)).max(1));
        Layout {
            grid: grid(columns, ABOVE),
            shown: count.min(columns * rows),
            beside: false,
        }
    }

    /// Images of one row of pixels: one below the other, and higher than a pixel is wide.
    fn strips(width: usize, count: usize) -> Self {
        let beside = width <= BESIDE / 2;
        let room = if beside { BESIDE } else { ABOVE };
        let shown = count.min(ABOVE / (STRIP.0 + GAP));
        let height = (STRIPS / shown).saturating_sub(GAP).clamp(STRIP.0, STRIP.1);
        Layout {
            grid: Grid {
                columns: 1,
                shape: (1, width),
                cell: ((room / width).max(1), height),
                gap: (GAP, GAP),
            },
            shown,
            beside,
        }
    }

    /// From the real parts to the imaginary parts.
    fn step(&self) -> (usize, usize) {
        let (width, height) = self.grid.size(self.shown);
        if self.beside {
            (width.saturating_add(BETWEEN), 0)
        } else {
            (0, height.saturating_add(TITLE))
        }
    }

    fn size(&self) -> (usize, usize) {
        let (width, height) = self.grid.size(self.shown);
        let (right, down) = self.step();
        let high = height.saturating_add(down).max(BAR_HEIGHT.0);
        (
            width.saturating_add(right + BETWEEN + BAR + MARGIN),
            high.saturating_add(TITLE + MARGIN),
        )
    }
}

fn draw(canvas: &Canvas<'_>, layout: &Layout, rows: &[Vec<Complex64>], all: usize) -> Drawn {
    let scale = scale(rows);
    let (right, down) = layout.step();
    let origin = (MARGIN as f64, TITLE as f64);
    let second = (origin.0 + right as f64, origin.1 + down as f64);
    let note = if rows.len() < all {
        format!(" of the first {} of {all} rows", rows.len())
    } else {
        String::new()
    };
    let real = rows
        .iter()
        .map(|row| colours(row, |weight| weight.re, scale));
    panel(canvas, layout, origin, &format!("real parts{note}"), real)?;
    let imaginary = rows
        .iter()
        .map(|row| colours(row, |weight| weight.im, scale));
    panel(
        canvas,
        layout,
        second,
        &format!("imaginary parts{note}"),
        imaginary,
    )?;
    let (width, height) = layout.grid.size(rows.len());
    let corner = (second.0 + (width + BETWEEN) as f64, origin.1);
    let height = height.clamp(BAR_HEIGHT.0, BAR_HEIGHT.1) as f64;
    let ticks = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|part| (part / 2.0 + 0.5, number(part * scale)));
    DIVERGING.bar(canvas, corner, height, &ticks)
}

fn panel(
    canvas: &Canvas<'_>,
    layout: &Layout,
    corner: Pair,
    title: &str,
    images: impl Iterator<Item = impl Iterator<Item = RGBColor>>,
) -> Drawn {
    let at = (corner.0, corner.1 - TITLE as f64 / 2.0 + 2.0);
    canvas.text(at, HPos::Left, title, TITLE_SIZE, INK)?;
    for (index, image) in images.enumerate() {
        let (right, down) = layout.grid.corner(index);
        let at = (corner.0 + right, corner.1 + down);
        layout.grid.paint(canvas, at, image)?;
    }
    Ok(())
}

/// A few weights that stand out, as those of a row that sees one pixel, must not make all others pale: this share of
/// them may be as strong as colours get.
const STRONGEST: f64 = 0.005;

/// The part of a weight for which the colours are strongest.
fn scale(rows: &[Vec<Complex64>]) -> f64 {
    let parts = rows
        .iter()
        .flatten()
        .flat_map(|weight| [weight.re.abs(), weight.im.abs()]);
    let mut parts: Vec<f64> = parts
        .filter(|part| part.is_finite() && *part > 0.0)
        .collect();
    parts.sort_by(|a, b| b.total_cmp(a));
    let place = (STRONGEST * parts.len() as f64) as usize;
    parts.get(place).copied().unwrap_or(1.0)
}

fn colours(
    row: &[Complex64],
    part: impl Fn(&Complex64) -> f64,
    scale: f64,
) -> impl Iterator<Item = RGBColor> {
    row.iter().map(move |weight| {
        if weight.is_finite() {
            DIVERGING.at(part(weight) / scale / 2.0 + 0.5)
        } else {
            UNKNOWN
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::picture::Seen;
    use super::*;
    use crate::data::group::Group;
    use ndarray::{Array2, array};
    use plotters::prelude::WHITE;

    const POSITIVE: RGBColor = RGBColor(0xb2, 0x18, 0x2b);
    const NEGATIVE: RGBColor = RGBColor(0x21, 0x66, 0xac);
    const ZERO: RGBColor = RGBColor(0xf2, 0xf2, 0xf2);

    fn real(rows: Array2<f32>) -> Array2<Complex32> {
        rows.mapv(Complex32::from)
    }

    fn characters(group: &str) -> Array2<Complex32> {
        let characters = group.parse::<Group>().unwrap().characters();
        characters.mapv(|value| Complex32::new(value.re as f32, value.im as f32))
    }

    #[test]
    fn each_weight_has_the_colour_of_its_sign_in_its_place() {
        let w = real(array![[1.0, -1.0, 0.0, 1.0], [-1.0, 1.0, 1.0, 1.0]]);
        let seen = Seen::new(&png(w.view(), (2, 2), &[0, 1]).unwrap());
        let layout = Layout::new((2, 2), 2);
        let cell = layout.grid.cell.0;
        // The second row is turned so that its first weight is positive.
        let expected = [
            [POSITIVE, NEGATIVE, ZERO, POSITIVE],
            [POSITIVE, NEGATIVE, NEGATIVE, NEGATIVE],
        ];
        for (image, colours) in expected.into_iter().enumerate() {
            let (right, down) = layout.grid.corner(image);
            for (index, colour) in colours.into_iter().enumerate() {
                let x = MARGIN + right as usize + index % 2 * cell;
                let y = TITLE + down as usize + index / 2 * cell;
                for (x, y) in [(x, y), (x + cell - 1, y + cell - 1)] {
                    assert_eq!(seen.at(x, y), colour, "image {image}, weight {index}");
                    let (right, down) = layout.step();
                    assert_eq!(seen.at(x + right, y + down), ZERO, "imaginary");
                }
            }
        }
        assert_eq!(seen.at(MARGIN - 1, TITLE), WHITE);
        assert_eq!(seen.at(MARGIN + 2 * cell, TITLE), WHITE, "the gap");
    }

    #[test]
    fn the_order_is_that_of_the_caller() {
        let w = characters("Z4xZ4");
        let swapped = Array2::from_shape_fn((2, 16), |(row, n)| w[[[5, 3][row], n]]);
        let picture = png(w.view(), (4, 4), &[5, 3]).unwrap();
        assert_eq!(picture, png(swapped.view(), (4, 4), &[0, 1]).unwrap());
        assert_ne!(picture, png(w.view(), (4, 4), &[3, 5]).unwrap());
    }

    #[test]
    fn any_weights_give_a_picture_about_as_wide_as_a_page() {
        let odd = [f32::NAN, f32::INFINITY, f32::MAX, 1e-45, 0.0, -1.0];
        let fill = |rows: usize, inputs: usize| {
            Array2::from_shape_fn((rows, inputs), |(row, n)| {
                Complex32::new(odd[(row + n) % 6], odd[(row * n) % 6])
            })
        };
        for (rows, shape) in [
            (1, (1, 1)),
            (1, (3, 5)),
            (2, (1, 8)),
            (64, (1, 64)),
            (900, (1, 3)),
            (40, (7, 1)),
            (3, (4, 300)),
            (300, (16, 16)),
            (5000, (5, 5)),
            (2, (1, 1500)),
        ] {
            let w = fill(rows, shape.0 * shape.1);
            let order: Vec<usize> = (0..rows).collect();
            let seen = Seen::new(&png(w.view(), shape, &order).unwrap());
            let width = seen.width;
            assert!((1000..=1840).contains(&width), "{rows} {shape:?}: {width}");
        }
        let zero = Array2::zeros((2, 4));
        assert!(png(zero.view(), (2, 2), &[0, 1]).is_ok());
    }

    #[test]
    fn a_weight_that_is_no_number_is_grey() {
        let w = real(array![[f32::NAN, 1.0], [1.0, 1.0]]);
        let seen = Seen::new(&png(w.view(), (1, 2), &[0, 1]).unwrap());
        assert_eq!(seen.at(MARGIN, TITLE), UNKNOWN);
        assert_eq!(seen.at(MARGIN + BESIDE - 1, TITLE), POSITIVE);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_in_one_line() {
        let w = characters("Z6");
        let large = Array2::zeros((1, 1 << 22));
        for (w, shape, order) in [
            (&w, (2, 3), &[][..]),
            (&w, (2, 3), &[6]),
            (&w, (2, 2), &[0]),
            (&w, (0, 6), &[0]),
            (&w, (usize::MAX, 6), &[0]),
            (&Array2::zeros((3, 0)), (0, 0), &[0]),
            (&large, (1, 1 << 22), &[0]),
        ] {
            let error = png(w.view(), shape, order).unwrap_err().to_string();
            assert!(error.starts_with("filters.png: "), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
