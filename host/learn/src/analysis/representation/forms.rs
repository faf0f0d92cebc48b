//! The invariants of couplings as they are: forms of z / ‖z‖, which do not change with the length of x.

use super::Representation;
use crate::group::Couplings;
use crate::group::couplings::CouplingsError;
use crate::numeric::least_squares::least_squares;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

/// Levenberg's and Marquardt's steps at the end of an attack.
const STEPS: usize = 40;
/// Σ (t(x) − t)² that is as good as none.
const LEFT: f64 = 1e-10;

/// t(x) of couplings.
#[derive(Debug)]
pub struct Forms<'a> {
    couplings: &'a Couplings,
    targets: Array2<f64>,
}

impl<'a> Forms<'a> {
    /// Those of the signals in the rows of `targets` are to be had.
    ///
    /// # Errors
    /// The signals do not fit the couplings, or one has no invariants.
    pub fn of_signals(couplings: &'a Couplings, targets: &ArrayView2<'_, f32>) -> Result<Self> {
        let mut values = Array2::zeros((targets.nrows(), couplings.terms().len()));
        for (number, (x, mut row)) in targets
            .rows()
            .into_iter()
            .zip(values.rows_mut())
            .enumerate()
        {
            let x: Vec<f64> = x.iter().map(|&x| x.into()).collect();
            let t = couplings.invariants(&x).map_err(|error| {
                Error::new(
                    format!("target {number}"),
                    error.to_string(),
                    "leave it out",
                )
            })?;
            row.iter_mut().zip(t).for_each(|(to, t)| *to = t);
        }
        Ok(Forms {
            couplings,
            targets: values,
        })
    }

    /// Goes on from `x`, where a descent stopped, by Levenberg's and Marquardt's steps in the inputs of `support` (all of them
    /// where it is empty); ‖t(x) − t_target‖ where that ended. They go to the end of valleys that a gradient creeps along: weak
    /// coefficients change invariants little.
    pub(crate) fn finish(&self, x: &mut [f32], target: usize, support: &[bool]) -> f64 {
        let target = self.targets.row(target);
        let inside: Vec<usize> = (0..x.len())
            .filter(|&n| support.get(n).copied().unwrap_or(true))
            .collect();
        let start: Vec<f64> = x.iter().map(|&x| x.into()).collect();
        let whole = |part: &[f64]| {
            let mut whole = start.clone();
            inside
                .iter()
                .zip(part)
                .for_each(|(&n, &value)| whole[n] = value);
            whole
        };
        // A signal without invariants is as far away as can be.
        let residuals = |part: &[f64]| match self.couplings.invariants(&whole(part)) {
            Ok(t) => t.iter().zip(target).map(|(t, to)| t - to).collect(),
            Err(_) => vec![f64::INFINITY],
        };
        let jacobian = |part: &[f64]| {
            let found = self.couplings.jacobian(&whole(part));
            found.map_or(Array2::zeros((1, inside.len())), |found| {
                found.select(Axis(1), &inside)
            })
        };
        let part = inside.iter().map(|&n| start[n]).collect();
        let found = least_squares(part, LEFT, STEPS, residuals, jacobian);
        for (&n, &value) in inside.iter().zip(&found.at) {
            x[n] = value as f32;
        }
        found.residual.sqrt()
    }

    /// ‖t(x) − t_target‖² and its gradient; of a signal without invariants, ‖t_target‖² and none.
    fn approach_one(&self, x: &[f32], target: usize, gradient: &mut [f32]) -> Result<f64> {
        let target = self.targets.row(target);
        let x: Vec<f64> = x.iter().map(|&x| x.into()).collect();
        let t = match self.couplings.invariants(&x) {
            Ok(t) => t,
            Err(CouplingsError::Zero { .. }) => {
                gradient.fill(0.0);
                return Ok(target.iter().map(|t| t * t).sum());
            }
            Err(error) => return Err(error.into()),
        };
        let off: Vec<f64> = t.iter().zip(target).map(|(t, to)| t - to).collect();
        let slopes: Vec<f64> = off.iter().map(|off| 2.0 * off).collect();
        let found = self.couplings.gradient(&x, &slopes)?;
        (gradient.iter_mut().zip(found)).for_each(|(to, slope)| *to = slope as f32);
        Ok(off.iter().map(|off| off * off).sum())
    }
}

impl Representation for Forms<'_> {
    fn inputs(&self) -> usize {
        self.couplings.inputs()
    }

    fn features(&self) -> usize {
        self.couplings.terms().len()
    }

    fn targets(&self) -> usize {
        self.targets.nrows()
    }

    fn approach(
        &mut self,
        signals: &[f32],
        which: &[usize],
        gradient: &mut [f32],
    ) -> Result<Vec<f64>> {
        let inputs = self.inputs();
        let fits = signals.len() == which.len() * inputs && gradient.len() == signals.len();
        if !fits || which.iter().any(|&target| target >= self.targets()) {
            return Err(CouplingsError::Length {
                what: "numbers of signals",
                needed: which.len() * inputs,
                found: signals.len(),
            }
            .into());
        }
        let this = &*self;
        (signals.par_chunks_exact(inputs))
            .zip(gradient.par_chunks_exact_mut(inputs))
            .zip(which)
            .map(|((x, gradient), &target)| this.approach_one(x, target, gradient))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::couplings::{Entry, Tensor, Term};
    use ndarray::array;

    /// Two numbers that may change places.
    fn couplings() -> Couplings {
        let sum = Tensor::new(&[1], vec![Entry::new(&[0], 1.0).unwrap()]).unwrap();
        let square = Tensor::new(&[1, 1], vec![Entry::new(&[0, 0], 1.0).unwrap()]).unwrap();
        let term = |tensor, offsets: &[usize]| Term {
            tensor,
            offsets: offsets.to_vec(),
        };
        let terms = vec![term(0, &[0]), term(1, &[1, 1])];
        Couplings::new(array![[1.0, 1.0], [1.0, -1.0]], vec![sum, square], terms).unwrap()
    }

    #[test]
    fn steps_of_least_squares_end_at_the_target_and_leave_what_is_outside_the_support() {
        let couplings = couplings();
        let targets = array![[3.0, 1.0]];
        let forms = Forms::of_signals(&couplings, &targets.view()).unwrap();
        let mut x = [2.0, 4.5];
        assert!(forms.finish(&mut x, 0, &[]) < 1e-5);
        // Its numbers have changed places; the length is free.
        assert!((x[1] / x[0] - 3.0).abs() < 1e-4, "{x:?}");
        let mut x = [2.0, 4.5];
        assert!(forms.finish(&mut x, 0, &[true, false]) < 1e-5);
        assert_eq!(x[1], 4.5);
        assert!((x[0] - 1.5).abs() < 1e-3, "{x:?}");
    }

    #[test]
    fn a_moved_target_is_reached_and_the_gradient_is_that_of_the_distance() {
        let couplings = couplings();
        let targets = array![[3.0, 1.0]];
        let mut forms = Forms::of_signals(&couplings, &targets.view()).unwrap();
        let mut at = |x: [f32; 2]| {
            let mut gradient = [f32::NAN; 2];
            let square = forms.approach(&x, &[0], &mut gradient).unwrap()[0];
            (square, gradient)
        };
        assert!(at([2.0, 6.0]).0 < 1e-14);
        let (_, gradient) = at([1.0, 0.25]);
        let step = 1e-2;
        let difference = at([1.0 + step, 0.25]).0 - at([1.0 - step, 0.25]).0;
        // Third derivatives of about one, times step².
        assert!((difference / f64::from(2.0 * step) - f64::from(gradient[0])).abs() < 1e-3);
        let (square, gradient) = at([0.0, 0.0]);
        assert!(square > 0.5 && gradient == [0.0; 2]);
        let mut short = [0.0; 1];
        assert!(forms.approach(&[1.0, 2.0], &[0], &mut short).is_err());
        assert!(Forms::of_signals(&couplings, &array![[0.0, 0.0]].view()).is_err());
    }
}
