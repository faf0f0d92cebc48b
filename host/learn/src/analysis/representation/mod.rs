//! What signals are compared by: the bispectrum, the forms of couplings, and two kinds of features that forget more.
//!
//! Each is brought to unit length, f(x) = v(x)/‖v(x)‖, so that none changes with the length of x (the forms are of z/‖z‖
//! already); each knows the values
//! t_k = f(target k) that it is to take, and how ‖f(x) − t_k‖² changes with x.

mod bispectrum;
mod forms;
mod pooled;
mod power;

pub use bispectrum::Bispectrum;
pub use forms::Forms;
pub use pooled::Pooled;
pub use power::Power;

use crate::Result;

/// f, and the values it is to take.
pub trait Representation {
    /// N, the numbers of a signal.
    fn inputs(&self) -> usize;

    /// Real numbers that f has.
    fn features(&self) -> usize;

    /// How many targets there are.
    fn targets(&self) -> usize;

    /// ‖f(x_b) − t‖² for every signal of N numbers, where t is that of target `which[b]`; and its gradient by x_b, into
    /// `gradient`, which is laid out as `signals`.
    ///
    /// # Errors
    /// The slices do not fit each other, or a signal is not finite.
    fn approach(
        &mut self,
        signals: &[f32],
        which: &[usize],
        gradient: &mut [f32],
    ) -> Result<Vec<f64>>;
}

/// Brings `v` to unit length and returns its length; what is zero stays so.
fn normalise(v: &mut [f32]) -> f64 {
    let length = v.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
    let length = length.sqrt();
    if length > 0.0 {
        let scale = (1.0 / length) as f32;
        v.iter_mut().for_each(|v| *v *= scale);
    }
    length
}

/// With u = v/‖v‖: ‖u − t‖², and in place of u its gradient by v, (g − u⟨u, g⟩)/‖v‖ with g = 2(u − t).
fn pull(u: &mut [f32], length: f64, target: &[f32]) -> f64 {
    let (mut square, mut radial) = (0.0, 0.0);
    for (&u, &t) in u.iter().zip(target) {
        let d = f64::from(u) - f64::from(t);
        square += d * d;
        radial += 2.0 * d * f64::from(u);
    }
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    for (u, &t) in u.iter_mut().zip(target) {
        let g = 2.0 * (f64::from(*u) - f64::from(t));
        *u = ((g - f64::from(*u) * radial) * scale) as f32;
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use ndarray::Array2;
    use num_complex::Complex32;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    const SHAPE: (usize, usize) = (6, 4);
    const SIGNALS: usize = 30;

    fn random(rows: usize, seed: u64) -> Array2<f32> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        Array2::from_shape_simple_fn((rows, SHAPE.0 * SHAPE.1), || random.sample(StandardNormal))
    }

    /// One of each, with targets as many as signals.
    fn each() -> [Box<dyn Representation>; 3] {
        let targets = random(SIGNALS, 1);
        let w = Group::new([SHAPE.0, SHAPE.1]).unwrap().characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        [
            Box::new(Bispectrum::of_signals(&w.view(), &targets.view()).unwrap()),
            Box::new(Power::of_signals(&w.view(), &targets.view()).unwrap()),
            Box::new(Pooled::of_signals(SHAPE, 12, 5, &targets.view()).unwrap()),
        ]
    }

    fn squares(of: &mut dyn Representation, signals: &Array2<f32>) -> (Vec<f64>, Vec<f32>) {
        let which: Vec<usize> = (0..SIGNALS).collect();
        let signals: Vec<f32> = signals.iter().copied().collect();
        let mut gradient = vec![f32::NAN; signals.len()];
        let squares = of.approach(&signals, &which, &mut gradient).unwrap();
        (squares, gradient)
    }

    #[test]
    fn gradients_are_those_of_the_distances() {
        const STEP: f32 = 1e-2;
        let (signals, direction) = (random(SIGNALS, 2), random(SIGNALS, 3));
        for mut representation in each() {
            let of = representation.as_mut();
            let (_, gradient) = squares(of, &signals);
            let (above, _) = squares(of, &(&signals + &(&direction * STEP)));
            let (below, _) = squares(of, &(&signals - &(&direction * STEP)));
            let inputs = of.inputs();
            let slopes = gradient.chunks(inputs).zip(direction.rows());
            for ((slopes, direction), (above, below)) in slopes.zip(above.iter().zip(&below)) {
                let expected = (above - below) / f64::from(2.0 * STEP);
                let terms = slopes.iter().zip(direction);
                let found: f64 = terms.map(|(g, d)| f64::from(g * d)).sum();
                // Truncation, and kinks of the pooled one between; slopes are of about one.
                assert!((found - expected).abs() < 0.02, "{found} {expected}");
            }
        }
    }

    #[test]
    fn moved_and_scaled_targets_are_where_they_should_be() {
        let mut moved = random(SIGNALS, 1);
        for mut row in moved.rows_mut() {
            let (height, width) = SHAPE;
            let image = row.to_vec();
            for (pixel, x) in row.iter_mut().enumerate() {
                let from = (pixel / width + 2) % height * width + (pixel % width + 1) % width;
                *x = 3.0 * image[from];
            }
        }
        for mut representation in each() {
            let (squares, gradient) = squares(representation.as_mut(), &moved);
            // Squares of some hundred roundings of 2^-24.
            assert!(squares.iter().all(|square| *square < 1e-11), "{squares:?}");
            assert!(gradient.iter().all(|g| g.abs() < 1e-4));
        }
        for mut representation in each() {
            let (squares, gradient) =
                squares(representation.as_mut(), &Array2::zeros((SIGNALS, 24)));
            assert!(squares.iter().all(|square| (square - 1.0).abs() < 1e-5));
            assert!(gradient.iter().all(|&g| g == 0.0));
        }
    }

    #[test]
    fn targets_of_another_length_are_refused() {
        let targets = random(2, 1);
        let w = Array2::zeros((3, 5));
        assert!(Bispectrum::of_signals(&w.view(), &targets.view()).is_err());
        assert!(Power::of_signals(&w.view(), &targets.view()).is_err());
        for shape in [(5, 5), (0, 24), (usize::MAX, 2)] {
            assert!(Pooled::of_signals(shape, 3, 0, &targets.view()).is_err());
        }
    }
}
