//! What an array's shape means: rows of columns, or images, each of which is a row.

use super::Element;

/// Rows and columns of an array in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) dimensions: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Height and width, where a row is an image.
    pub(super) image: Option<(usize, usize)>,
}

impl Shape {
    /// Of an array of one or two dimensions, and of three where `images` may be; a single dimension is one row.
    ///
    /// The refusal says what is wrong and what to do about it.
    pub(super) fn new(shape: &[u64], images: bool) -> Result<Self, (String, &'static str)> {
        let wide = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let (rows, columns, image) = match *shape {
            [columns] => (1, wide(columns), None),
            [rows, columns] => (wide(rows), wide(columns), None),
            [rows, height, width] if images => {
                let (height, width) = (wide(height), wide(width));
                (
                    wide(rows),
                    height.saturating_mul(width),
                    Some((height, width)),
                )
            }
            _ => {
                let remedy = if images {
                    "save one of shape [samples, N], or [samples, height, width], such as X.reshape(len(X), -1)"
                } else {
                    "save one of shape [rows, columns], such as X.reshape(len(X), -1)"
                };
                return Err((
                    format!("the array has {} dimensions, {shape:?}", shape.len()),
                    remedy,
                ));
            }
        };
        if rows == 0 || columns == 0 {
            return Err((
                format!("the array is empty: its shape is {shape:?}"),
                "save one with at least one element",
            ));
        }
        Ok(Shape {
            dimensions: shape.len(),
            rows,
            columns,
            image,
        })
    }

    /// Refuses a file with `found` bytes of data where there should be more or fewer.
    pub(super) fn check_size(self, element: Element, found: u64) -> Result<(), String> {
        let (rows, columns) = (self.rows as u64, self.columns as u64);
        let needed = rows
            .checked_mul(columns)
            .and_then(|elements| elements.checked_mul(element.size() as u64));
        let claim = format!("{rows} × {columns} {element}");
        match needed {
            Some(needed) if needed == found => Ok(()),
            Some(needed) if needed < found => Err(format!(
                "{} bytes follow the data of {claim}",
                found - needed
            )),
            Some(needed) => Err(format!(
                "the data are truncated: {found} bytes where {claim} are {needed}"
            )),
            None => Err(format!("the data are truncated: {found} bytes of {claim}")),
        }
    }

    /// Which column is number `run` in Fortran order, where an image's rows change faster than its columns.
    pub(super) fn fortran_column(self, run: usize) -> usize {
        match self.image {
            Some((height, width)) => run % height * width + run / height,
            None => run,
        }
    }
}
