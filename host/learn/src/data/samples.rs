//! What a sample must be before anything is learned from it: of a model's length, finite, and not constant.

use super::orbits::OrbitsError;
use bispectral_core::format::MAX_DIMENSION;
use ndarray::ArrayView2;

/// Refuses `samples` by the row.
///
/// # Errors
/// Which value or row.
pub fn check(samples: ArrayView2<'_, f32>) -> Result<(), OrbitsError> {
    check_length(samples.ncols())?;
    for (row, sample) in samples.rows().into_iter().enumerate() {
        if let Some(column) = sample.iter().position(|value| !value.is_finite()) {
            let value = sample[column];
            return Err(OrbitsError::NotFinite { row, column, value });
        }
        if sample.iter().all(|&value| value == sample[0]) {
            let inside_disk = false;
            return Err(OrbitsError::Constant { row, inside_disk });
        }
    }
    Ok(())
}

/// Refuses samples that no model takes, before there is memory for them.
///
/// # Errors
/// The length.
pub fn check_length(inputs: usize) -> Result<(), OrbitsError> {
    if (1..=usize::from(MAX_DIMENSION)).contains(&inputs) {
        return Ok(());
    }
    Err(OrbitsError::Length { inputs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, arr2};

    fn refusal(samples: &Array2<f32>) -> String {
        check(samples.view()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_finite_is_named_by_row_and_column() {
        let line = refusal(&arr2(&[[1.0, 2.0], [f32::NAN, 0.0]]));
        assert!(
            line.starts_with("samples: row 1: column 0 is NaN: "),
            "{line}"
        );
        let line = refusal(&arr2(&[[1.0, f32::NEG_INFINITY]]));
        assert!(
            line.starts_with("samples: row 0: column 1 is -inf: "),
            "{line}"
        );
    }

    #[test]
    fn constant_samples_are_named_by_row() {
        for constant in [0.0, 3.5] {
            let line = refusal(&arr2(&[[1.0, 2.0], [constant, constant]]));
            assert!(line.starts_with("samples: row 1 is constant: "), "{line}");
        }
        assert!(check(arr2(&[[0.0, 1e-30]]).view()).is_ok());
    }

    #[test]
    fn lengths_no_model_takes_are_refused() {
        for inputs in [0, usize::from(MAX_DIMENSION) + 1] {
            let line = refusal(&Array2::zeros((1, inputs)));
            assert!(
                line.starts_with(&format!("samples: samples of {inputs} values")),
                "{line}"
            );
        }
    }
}
