//! A signal on its way through its orbit: z turns by the irreps' phases, β̄ stays where it is.

use crate::{Error, Result};
use bispectral_core::{Complex32, Model};
use ndarray::ArrayView2;
use rayon::prelude::*;

/// What a model makes of a signal at every place, the first of which is where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// z at every place.
    pub coefficients: Vec<Vec<Complex32>>,
    /// ‖β̄ − β̄₀‖ at every place.
    pub invariants: Vec<f64>,
    /// ‖x − x₀‖ / ‖x₀‖ at every place.
    pub signal: Vec<f64>,
}

/// Follows the signals in the rows of `places`.
///
/// # Errors
/// A signal has no invariants, or another length than the model's inputs.
pub fn follow(model: &Model<'_>, places: &ArrayView2<'_, f32>) -> Result<Motion> {
    let refused = |place: usize, error: bispectral_core::Error| {
        Error::new(format!("place {place}"), error.to_string(), "leave it out")
    };
    let at: Vec<(Vec<Complex32>, Vec<Complex32>)> = (0..places.nrows())
        .into_par_iter()
        .map(|place| {
            let x = places.row(place).to_vec();
            let z = model
                .coefficients_vec(&x)
                .map_err(|error| refused(place, error))?;
            let invariants = model.invariants_vec(&x);
            Ok((z, invariants.map_err(|error| refused(place, error))?))
        })
        .collect::<Result<_>>()?;
    let distance = |a: &[Complex32], b: &[Complex32]| {
        let terms = a.iter().zip(b).map(|(a, b)| f64::from((a - b).norm_sqr()));
        terms.sum::<f64>().sqrt()
    };
    let first = places.row(0);
    let length = |difference: &dyn Fn(usize) -> f32| {
        let squares = (0..places.ncols()).map(|n| f64::from(difference(n)).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let whole = length(&|n| first[n]);
    Ok(Motion {
        invariants: at.iter().map(|(_, b)| distance(b, &at[0].1)).collect(),
        signal: places
            .rows()
            .into_iter()
            .map(|x| length(&|n| x[n] - first[n]) / whole)
            .collect(),
        coefficients: at.into_iter().map(|(z, _)| z).collect(),
    })
}
