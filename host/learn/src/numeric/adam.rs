//! Adam (Kingma and Ba 2015), on the real and imaginary parts as numbers of their own.

use serde::{Deserialize, Serialize};

const DECAY_OF_MEAN: f32 = 0.9;
const DECAY_OF_SQUARE: f32 = 0.999;
/// Keeps a parameter that never had a gradient where it is.
const FLOOR: f32 = 1e-8;

/// Running means of the gradient and of its square, element by element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    steps: u64,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Adam {
    /// For so many parameters.
    #[must_use]
    pub fn new(parameters: usize) -> Self {
        Adam {
            steps: 0,
            mean: vec![0.0; parameters],
            square: vec![0.0; parameters],
        }
    }

    /// How many parameters it was made for.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.mean.len().min(self.square.len())
    }

    /// One step against `gradient`.
    pub fn update<'a>(
        &mut self,
        parameters: impl Iterator<Item = &'a mut f32>,
        gradient: impl Iterator<Item = &'a f32>,
        rate: f64,
    ) {
        self.steps += 1;
        let steps = self.steps as f64;
        let unbias = |decay: f32| 1.0 - libm::pow(f64::from(decay), steps);
        let rate = (rate / unbias(DECAY_OF_MEAN)) as f32;
        let root = (1.0 / unbias(DECAY_OF_SQUARE).sqrt()) as f32;
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((parameter, gradient), (mean, square)) in parameters.zip(gradient).zip(moments) {
            *mean = DECAY_OF_MEAN * *mean + (1.0 - DECAY_OF_MEAN) * gradient;
            *square = DECAY_OF_SQUARE * *square + (1.0 - DECAY_OF_SQUARE) * gradient * gradient;
            *parameter -= rate * *mean / (square.sqrt() * root + FLOOR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate_whatever_the_gradient() {
        for gradient in [1e-3_f32, 1.0, -1e4] {
            let mut parameter = 0.0_f32;
            Adam::new(1).update([&mut parameter].into_iter(), [gradient].iter(), 0.01);
            assert!((parameter + 0.01 * gradient.signum()).abs() < 1e-6);
        }
    }

    #[test]
    fn a_parabola_is_descended() {
        let mut parameter = 3.0_f32;
        let mut adam = Adam::new(1);
        for _ in 0..2000 {
            let gradient = [2.0 * parameter];
            adam.update([&mut parameter].into_iter(), gradient.iter(), 0.01);
        }
        assert!(parameter.abs() < 1e-3);
    }
}
