//! What a sample must be before anything is learned from it: of a model's length, finite, and not constant.

use crate::{Error, Result};
use bispectral_core::format::MAX_DIMENSION;
use ndarray::ArrayView2;

/// Refuses `samples` by the row; `subject` is their file or what they are called.
pub(crate) fn check(subject: &str, samples: ArrayView2<'_, f32>) -> Result<()> {
    check_length(subject, samples.ncols())?;
    for (row, sample) in samples.rows().into_iter().enumerate() {
        if let Some(column) = sample.iter().position(|value| !value.is_finite()) {
            return Err(Error::new(
                subject,
                format!("row {row}: column {column} is {}", sample[column]),
                "replace the value or leave the sample out",
            ));
        }
        if sample.iter().all(|&value| value == sample[0]) {
            return Err(constant(subject, row, ""));
        }
    }
    Ok(())
}

/// The sample `row` says nothing about any symmetry; `place` is where, with a blank before it.
pub(crate) fn constant(subject: &str, row: usize, place: &str) -> Error {
    Error::new(
        subject,
        format!("row {row} is constant{place}"),
        "leave the sample out, every transformation leaves it as it is",
    )
}

/// Refuses samples that no model takes, before there is memory for them.
pub(crate) fn check_length(subject: &str, inputs: usize) -> Result<()> {
    if (1..=usize::from(MAX_DIMENSION)).contains(&inputs) {
        return Ok(());
    }
    Err(Error::new(
        subject,
        format!("samples of {inputs} values, a model takes 1 to {MAX_DIMENSION}"),
        "save one sample a row, shorter ones or smaller images",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, arr2};

    fn refusal(samples: &Array2<f32>) -> String {
        check("X.npy", samples.view()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_finite_is_named_by_row_and_column() {
        let line = refusal(&arr2(&[[1.0, 2.0], [f32::NAN, 0.0]]));
        assert!(
            line.starts_with("X.npy: row 1: column 0 is NaN: "),
            "{line}"
        );
        let line = refusal(&arr2(&[[1.0, f32::NEG_INFINITY]]));
        assert!(
            line.starts_with("X.npy: row 0: column 1 is -inf: "),
            "{line}"
        );
    }

    #[test]
    fn constant_samples_are_named_by_row() {
        for constant in [0.0, 3.5] {
            let line = refusal(&arr2(&[[1.0, 2.0], [constant, constant]]));
            assert!(line.starts_with("X.npy: row 1 is constant: "), "{line}");
        }
        assert!(check("X.npy", arr2(&[[0.0, 1e-30]]).view()).is_ok());
    }

    #[test]
    fn lengths_no_model_takes_are_refused() {
        for inputs in [0, usize::from(MAX_DIMENSION) + 1] {
            let line = refusal(&Array2::zeros((1, inputs)));
            assert!(
                line.starts_with(&format!("X.npy: samples of {inputs} values")),
                "{line}"
            );
        }
    }
}
