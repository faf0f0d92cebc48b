//! Images in shades of grey, such as exemplars or digits, each over its own range from black to white.

use super::canvas::{Canvas, Drawn, fit, text_width};
use super::colour::GREYS;
use super::grid::Grid;
use super::picture::{INK, PENCIL, Picture};
use crate::{Error, Result};
use ndarray::{ArrayView1, ArrayView2};
use plotters::prelude::RGBColor;
use plotters::style::text_anchor::HPos;

const NAME: &str = "tiles.png";
/// Pixels for all images, and at most for one.
const WIDTH: usize = 1500;
const LARGEST: usize = 160;
const MARGIN: usize = 16;
const GAP: usize = 8;
/// Below an image with a label.
const LABEL: usize = 34;
const LABEL_SIZE: f64 = 18.0;
/// Labels make room for themselves up to this width.
const WIDEST_LABEL: f64 = 160.0;
/// What is not finite is blue, for all greys are taken.
const NOT_FINITE: RGBColor = RGBColor(0x56, 0xb4, 0xe9);

/// The rows of `images` as images of `shape` (height, width), so many `columns` beside each other, with one of
/// `labels` below each, or none at all.
///
/// ```
/// use bispectral::report::tiles;
/// use ndarray::array;
///
/// let images = array![[0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]];
/// let picture = tiles::png(images.view(), (2, 2), 2, &["cross".into(), "bar".into()])?;
/// assert!(picture.starts_with(b"\x89PNG"));
/// # Ok::<(), bispectral::Error>(())
/// ```
///
/// # Errors
/// There is nothing to draw, rows are no images of this shape, there are labels for some only, or it is all too large.
pub fn png(
    images: ArrayView2<'_, f32>,
    shape: (usize, usize),
    columns: usize,
    labels: &[String],
) -> Result<Vec<u8>> {
    check(&images, shape, columns, labels)?;
    let grid = grid(shape, columns.min(images.nrows()), labels);
    let (width, height) = grid.size(images.nrows());
    let below = if labels.is_empty() { 0 } else { LABEL };
    // The slot of the last image is as wide as its label may be.
    let size = (
        width.saturating_add(grid.gap.0 + 2 * MARGIN - GAP),
        height.saturating_add(below + 2 * MARGIN),
    );
    Picture::new(NAME, size)?
        .draw(|canvas| draw(canvas, &grid, &images, labels))?
        .png()
}

fn check(
    images: &ArrayView2<'_, f32>,
    shape: (usize, usize),
    columns: usize,
    labels: &[String],
) -> Result<()> {
    let refused = |what: String, remedy: &str| Err(Error::new(NAME, what, remedy));
    let (count, pixels) = images.dim();
    if count == 0 || columns == 0 {
        return refused(
            format!("{count} images in {columns} columns"),
            "draw one or more",
        );
    }
    if pixels == 0 || shape.0.checked_mul(shape.1) != Some(pixels) {
        return refused(
            format!(
                "rows of {pixels} are no images of {} × {}",
                shape.0, shape.1
            ),
            "give their height and width",
        );
    }
    if !labels.is_empty() && labels.len() != count {
        return refused(
            format!("{} labels for {count} images", labels.len()),
            "give one for each, or none",
        );
    }
    Ok(())
}

fn grid(shape: (usize, usize), columns: usize, labels: &[String]) -> Grid {
    let (height, width) = shape;
    let widest = labels
        .iter()
        .map(|label| text_width(label, LABEL_SIZE))
        .fold(0.0, f64::max);
    let slot = widest.min(WIDEST_LABEL).ceil() as usize;
    let room = (WIDTH / columns).saturating_sub(GAP).max(slot).min(LARGEST);
    let cell = (room / height.max(width)).max(1);
    let below = if labels.is_empty() { GAP } else { LABEL };
    Grid {
        columns,
        shape,
        cell: (cell, cell),
        gap: (GAP + slot.saturating_sub(width.saturating_mul(cell)), below),
    }
}

fn draw(
    canvas: &Canvas<'_>,
    grid: &Grid,
    images: &ArrayView2<'_, f32>,
    labels: &[String],
) -> Drawn {
    let (width, height) = grid.image();
    // Half of what labels need more than images do.
    let aside = (grid.gap.0 - GAP) / 2;
    let origin = ((MARGIN + aside) as f64, MARGIN as f64);
    for (index, image) in images.rows().into_iter().enumerate() {
        let (right, down) = grid.corner(index);
        let corner = (origin.0 + right, origin.1 + down);
        // Else the rim of a white image would be lost.
        let rim = (corner.0 - 1.0, corner.1 - 1.0);
        canvas.frame(rim, ((width + 2) as f64, (height + 2) as f64), PENCIL)?;
        grid.paint(canvas, corner, greys(image))?;
        if let Some(label) = labels.get(index) {
            let at = (
                corner.0 + width as f64 / 2.0,
                corner.1 + height as f64 + LABEL as f64 * 0.45,
            );
            let room = (width + grid.gap.0 - GAP) as f64;
            let text = fit(label, LABEL_SIZE, room);
            canvas.text(at, HPos::Center, &text, LABEL_SIZE, INK)?;
        }
    }
    Ok(())
}

fn greys(image: ArrayView1<'_, f32>) -> impl Iterator<Item = RGBColor> {
    let finite = || image.iter().filter(|value| value.is_finite());
    let low = f64::from(finite().copied().fold(f32::INFINITY, f32::min));
    let high = f64::from(finite().copied().fold(f32::NEG_INFINITY, f32::max));
    let shade = move |value: f32| {
        if !value.is_finite() {
            NOT_FINITE
        } else if high > low {
            GREYS.at((f64::from(value) - low) / (high - low))
        } else {
            GREYS.at(0.5)
        }
    };
    image.to_vec().into_iter().map(shade)
}

#[cfg(test)]
mod tests {
    use super::super::picture::Seen;
    use super::*;
    use ndarray::{Array2, array};
    use plotters::prelude::{BLACK, WHITE};

    #[test]
    fn each_image_runs_from_black_to_white_over_its_own_range() {
        let images = array![[0.0, 1.0, 0.25, 1.0], [-7.0, -5.0, -5.0, -7.0]];
        let seen = Seen::new(&png(images.view(), (2, 2), 5, &[]).unwrap());
        let grid = grid((2, 2), 2, &[]);
        let pixel = |image: usize, row: usize, column: usize| {
            let (right, down) = grid.corner(image);
            seen.at(
                MARGIN + right as usize + column * grid.cell.0,
                MARGIN + down as usize + row * grid.cell.1,
            )
        };
        assert_eq!((pixel(0, 0, 0), pixel(0, 0, 1)), (BLACK, WHITE));
        assert_eq!(pixel(0, 1, 0), RGBColor(0x40, 0x40, 0x40));
        assert_eq!((pixel(1, 0, 0), pixel(1, 0, 1)), (BLACK, WHITE));
        assert_eq!((pixel(1, 1, 0), pixel(1, 1, 1)), (WHITE, BLACK));
    }

    #[test]
    fn any_images_give_a_picture() {
        let odd = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, 0.0, 3.0];
        for (count, shape, columns) in [
            (1, (1, 1), 1),
            (1, (28, 28), 100),
            (300, (8, 8), 25),
            (7, (1, 900), 3),
            (5, (200, 3), 5),
        ] {
            let images = Array2::from_shape_fn((count, shape.0 * shape.1), |(image, pixel)| {
                odd[(image + pixel) % odd.len()]
            });
            let labels: Vec<String> = (0..count).map(|n| "m".repeat(n)).collect();
            for labels in [&[][..], &labels] {
                let bytes = png(images.view(), shape, columns, labels).unwrap();
                assert_eq!(&bytes[1..4], b"PNG");
            }
        }
    }

    #[test]
    fn labels_stay_inside_the_picture() {
        let images = Array2::zeros((3, 1));
        let labels = ["wwwwwwwwwwwwwwwwwwwwww", "w", "wwwwwwwwwwwwwwwwwwwwww"].map(String::from);
        let seen = Seen::new(&png(images.view(), (1, 1), 3, &labels).unwrap());
        for y in 0..seen.height {
            assert_eq!((seen.at(3, y), seen.at(seen.width - 4, y)), (WHITE, WHITE));
        }
    }

    #[test]
    fn what_is_no_image_is_refused_in_one_line() {
        let images = Array2::zeros((2, 6));
        let one = ["one".to_string()];
        for (images, shape, columns, labels) in [
            (&images, (2, 3), 0, &[][..]),
            (&images, (2, 2), 1, &[]),
            (&images, (usize::MAX, 2), 1, &[]),
            (&images, (2, 3), 2, &one),
            (&Array2::zeros((0, 6)), (2, 3), 1, &[]),
            (&Array2::zeros((2, 0)), (0, 3), 1, &[]),
            (&Array2::zeros((1, 1 << 24)), (1 << 12, 1 << 12), 1, &[]),
        ] {
            let error = png(images.view(), shape, columns, labels).unwrap_err();
            let error = error.to_string();
            assert!(error.starts_with("tiles.png: "), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
