//! What signals are compared by: the bispectrum, and two things that forget more.
//!
//! Each is brought to unit length, f(x) = v(x)/‖v(x)‖, so that none changes with the length of x; each knows the values
//! t_k = f(target k) that it is to take, and how ‖f(x) − t_k‖² changes with x.

mod bispectrum;
mod pooled;
mod power;

pub use bispectrum::Bispectrum;
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
