//! A circle that turns samples, from orbits alone: which angle each member stands at, which planes turn m times as fast, and
//! forms of few planes that do not turn.
//!
//! On a grid of pixels a rotation is nearly a group and not quite: no decomposition is exact, and what counts is which linear
//! forms of a sample turn best. With angles θ of the members x of orbits o, a complex form z = u·x of order m has
//! z ≈ c_o e^{imθ}, and the best of them solve one eigenproblem an order,
//!
//! > T_m v = λ S v,  T_m = mean over orbits of M Mᴴ,  M = mean of x e^{−imθ} over an orbit,  S = mean of x xᵀ.
//!
//! λ is the share of the variance of z that turns. The angles are not given: one plane of principal components that turns is
//! enough to begin with, and what all orders say together then corrects the angles.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `samples` | what are the samples in coordinates of equal variance? |
//! | `planes` | which forms turn m times as fast? |
//! | `angles` | at which angle does each member stand? |
//! | `products` | are the products whose orders add up the ones that do not turn? |
//! | `terms` | which products of two and three coefficients are invariants, and which of them are enough? |
//! | `network` | what are the invariants of a batch, the loss, and its gradient in the weights of the forms? |
//! | `refine` | with which weights do the invariants change least along orbits? |

mod angles;
mod network;
mod planes;
mod products;
mod refine;
mod samples;
mod terms;

pub use network::{Loss, Network, Separation};
pub use planes::Plane;
pub use products::Products;
pub use refine::{Refinement, refine};
pub use terms::{Choice, Terms};

use crate::Error;
use crate::data::orbits::Orbits;
use ndarray::Array2;
use samples::Samples;
use std::fmt;

/// What turns, and how far.
#[derive(Debug, Clone)]
pub struct Circle {
    planes: Vec<Plane>,
    /// Orthonormal rows for what no plane sees.
    rest: Array2<f64>,
    angles: Vec<Vec<f64>>,
}

impl Circle {
    /// The circle that moves `orbits`, whose angles nobody has given.
    ///
    /// # Errors
    /// Where no plane of the first principal components turns, or too little of the samples turns with it.
    pub fn of(orbits: &Orbits) -> Result<Self, NoCircle> {
        let samples = Samples::of(orbits).ok_or(NoCircle::Samples)?;
        let (angles, planes) = angles::learned(&samples)?;
        Ok(Circle {
            rest: planes::rest(&planes, samples.inputs()),
            planes,
            angles,
        })
    }

    /// By ascending order, and of one order those that turn best first.
    #[must_use]
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// Orthonormal rows that are orthogonal to all planes: with these, every change of a sample is seen.
    #[must_use]
    pub fn rest(&self) -> &Array2<f64> {
        &self.rest
    }

    /// The angle of every member of every orbit, in radians: from where, and in which direction, nobody can say.
    #[must_use]
    pub fn angles(&self) -> &[Vec<f64>] {
        &self.angles
    }
}

/// Why no circle was found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum NoCircle {
    /// Too few samples, or samples without variance.
    Samples,
    /// No two principal components have a sum of squares that stays the same along orbits.
    Seed {
        /// The relative deviation of the best.
        deviation: f64,
    },
    /// With the angles of the best plane too little turns.
    Planes {
        /// How many planes do.
        found: usize,
    },
}

impl fmt::Display for NoCircle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCircle::Samples => write!(f, "too few samples, or samples that do not vary"),
            NoCircle::Seed { deviation } => write!(
                f,
                "no plane turns: along orbits the best changes by {:.0} % of its size",
                100.0 * deviation
            ),
            NoCircle::Planes { found } => write!(
                f,
                "only {found} planes turn with the first: no circle moves these orbits"
            ),
        }
    }
}

impl std::error::Error for NoCircle {}

impl From<NoCircle> for Error {
    fn from(why: NoCircle) -> Self {
        Error::new("orbits", why.to_string(), "learn W from them instead")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::{Purpose, stream};
    use rand::RngExt;
    use rand_distr::StandardNormal;

    #[test]
    fn clouds_of_points_are_no_circle() {
        let mut random = stream(5, Purpose::Noise);
        let samples: Vec<f32> = (0..600 * 9)
            .map(|_| random.sample::<f64, _>(StandardNormal) as f32)
            .collect();
        let samples = Array2::from_shape_vec((600, 9), samples).unwrap();
        let labels: Vec<i64> = (0..600).map(|row| row / 30).collect();
        let refused = Circle::of(&Orbits::labelled(samples, &labels).unwrap()).unwrap_err();
        assert!(matches!(refused, NoCircle::Seed { .. }), "{refused}");
    }
}
