//! Images of one size in rows and columns.

use crate::colour::Level;
use crate::levels::{cells, raster};
use crate::svg::{Point, px};
use maud::{Markup, html};

/// How images are laid out.
pub(crate) struct Grid {
    /// Height and width of an image in cells.
    pub(crate) shape: (usize, usize),
    /// Images beside each other.
    pub(crate) columns: usize,
    /// Width and height of a cell.
    pub(crate) cell: Point,
    /// Cells from an image to the next beside it.
    pub(crate) right: usize,
    /// From an image to the next below it.
    pub(crate) down: f64,
}

/// A cell's side that is a whole number where it is one or more, for sharp cells on any screen.
pub(crate) fn whole(side: f64) -> f64 {
    if side >= 1.0 { side.floor() } else { side }
}

impl Grid {
    /// Width and height of an image.
    pub(crate) fn image(&self) -> Point {
        let (height, width) = self.shape;
        (width as f64 * self.cell.0, height as f64 * self.cell.1)
    }

    /// Width and height of `count` images without what follows the last.
    pub(crate) fn size(&self, count: usize) -> Point {
        let (width, height) = self.image();
        let (columns, rows) = (self.columns.min(count), count.div_ceil(self.columns));
        let right = (columns.saturating_sub(1) * self.right) as f64 * self.cell.0;
        (
            right + width,
            rows.saturating_sub(1) as f64 * self.down + height,
        )
    }

    /// The upper left corner of an image, from that of the grid.
    pub(crate) fn corner(&self, index: usize) -> Point {
        let (row, column) = (index / self.columns, index % self.columns);
        (
            (column * self.right) as f64 * self.cell.0,
            row as f64 * self.down,
        )
    }

    /// Draws `count` images: the level of a cell is given for an image and a place in it, and the tooltip for an image.
    pub(crate) fn images(
        &self,
        (left, top): Point,
        count: usize,
        level: impl Fn(usize, usize) -> Option<Level>,
        tooltip: impl Fn(usize) -> String,
    ) -> Markup {
        let (height, width) = self.shape;
        let (across, along) = self.image();
        let row = |first: usize| {
            let columns = self.columns.min(count - first);
            let size = (height, columns * self.right);
            let body = raster(size, |row, column| {
                let (image, column) = (column / self.right, column % self.right);
                (column < width)
                    .then(|| level(first + image, row * width + column))
                    .flatten()
            });
            cells((left, top + self.corner(first).1), self.cell, &body)
        };
        html! {
            @for first in (0..count).step_by(self.columns) { (row(first)) }
            @for image in 0..count {
                @let corner = self.corner(image);
                rect.tile x=(px(left + corner.0)) y=(px(top + corner.1)) width=(px(across)) height=(px(along)) {
                    title { (tooltip(image)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_placed_row_after_row_with_gaps_between() {
        let grid = Grid {
            shape: (2, 5),
            columns: 3,
            cell: (4.0, 6.0),
            right: 6,
            down: 15.0,
        };
        assert_eq!(grid.image(), (20.0, 12.0));
        assert_eq!(grid.size(7), (68.0, 42.0));
        assert_eq!(grid.corner(5), (48.0, 15.0));
    }

    #[test]
    fn cells_of_neighbours_are_in_one_path_and_gaps_are_free() {
        let grid = Grid {
            shape: (1, 2),
            columns: 2,
            cell: (1.0, 1.0),
            right: 3,
            down: 2.0,
        };
        let level = |image: usize, place: usize| (image + place != 1).then(|| Level::grey(0));
        let markup = grid
            .images((0.0, 0.0), 2, level, |image| format!("image {image}"))
            .into_string();
        assert!(markup.contains("d=\"m0 0h1m3 0h1\""), "{markup}");
        assert!(markup.contains("<title>image 1</title>"));
    }
}
