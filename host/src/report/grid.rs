//! Images of one size in rows and columns, each of their pixels a crisp cell.

use super::canvas::{Canvas, Drawn, Pair};
use plotters::prelude::RGBColor;

/// How images are laid out.
pub(super) struct Grid {
    /// Images beside each other.
    pub(super) columns: usize,
    /// Height and width of an image in cells.
    pub(super) shape: (usize, usize),
    /// Width and height of a cell in pixels.
    pub(super) cell: (usize, usize),
    /// Free pixels right of an image and below it.
    pub(super) gap: (usize, usize),
}

impl Grid {
    /// Width and height of an image in pixels.
    pub(super) fn image(&self) -> (usize, usize) {
        let (height, width) = self.shape;
        (
            width.saturating_mul(self.cell.0),
            height.saturating_mul(self.cell.1),
        )
    }

    /// Width and height of `count` images, without the gaps after the last.
    pub(super) fn size(&self, count: usize) -> (usize, usize) {
        let (width, height) = self.image();
        let (columns, rows) = (self.columns.min(count), count.div_ceil(self.columns));
        let along = |images: usize, side: usize, gap: usize| {
            images
                .saturating_mul(side.saturating_add(gap))
                .saturating_sub(gap)
        };
        (
            along(columns, width, self.gap.0),
            along(rows, height, self.gap.1),
        )
    }

    /// The upper left corner of an image, from that of the grid.
    pub(super) fn corner(&self, index: usize) -> Pair {
        let (width, height) = self.image();
        let (row, column) = (index / self.columns, index % self.columns);
        (
            (column * (width + self.gap.0)) as f64,
            (row * (height + self.gap.1)) as f64,
        )
    }

    /// Draws an image at `corner`, cell after cell in row-major order.
    pub(super) fn paint(
        &self,
        canvas: &Canvas<'_>,
        corner: Pair,
        colours: impl IntoIterator<Item = RGBColor>,
    ) -> Drawn {
        let (width, height) = (self.cell.0 as f64, self.cell.1 as f64);
        for (index, colour) in colours.into_iter().enumerate() {
            let (row, column) = (index / self.shape.1, index % self.shape.1);
            let at = (
                corner.0 + column as f64 * width,
                corner.1 + row as f64 * height,
            );
            canvas.rectangle(at, (width, height), colour)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_placed_row_after_row_with_gaps_between() {
        let grid = Grid {
            columns: 3,
            shape: (2, 5),
            cell: (4, 6),
            gap: (1, 2),
        };
        assert_eq!(grid.image(), (20, 12));
        assert_eq!(grid.size(7), (62, 40));
        assert_eq!(grid.size(2), (41, 12));
        assert_eq!(grid.corner(0), (0.0, 0.0));
        assert_eq!(grid.corner(5), (42.0, 14.0));
    }
}
