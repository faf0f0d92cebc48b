//! How the learning rate runs over a phase, and when the phase may end early.

use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// How the learning rate changes over a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// `lr` throughout.
    Constant,
    /// From `lr` to zero along half a cosine.
    Cosine,
    /// Triangles between `lr_low` and `lr`, `period` steps each: the paper's.
    Cyclic,
    /// `lr`, halved when the mean loss of `period` steps has not fallen for `patience` periods: the authors' code.
    Plateau,
}

/// The numbers a schedule goes by.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// How it changes.
    pub schedule: Schedule,
    /// The largest rate.
    pub lr: f64,
    /// The smallest rate of [`Schedule::Cyclic`].
    pub lr_low: f64,
    /// Steps of a triangle, or of the mean by which a plateau is seen.
    pub period: u64,
    /// Periods without a fall that make a plateau.
    pub patience: u32,
    /// Steps of the phase.
    pub steps: u64,
}

/// A plateau is a mean loss that has not fallen by this share, which is above the noise of a mean of 50 steps.
const LEAST_FALL: f64 = 1e-2;

/// What must be remembered from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    sum: f64,
    count: u64,
    best: f64,
    stalled: u32,
    waited: u32,
    halvings: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Progress {
            sum: 0.0,
            count: 0,
            best: f64::INFINITY,
            stalled: 0,
            waited: 0,
            halvings: 0,
        }
    }
}

impl Progress {
    /// Takes in the loss of one step. Once a period is full, returns its mean.
    pub fn observe(&mut self, loss: f64, rates: &Rates) -> Option<f64> {
        self.sum += loss;
        self.count += 1;
        if self.count < rates.period {
            return None;
        }
        let mean = self.sum / self.count as f64;
        (self.sum, self.count) = (0.0, 0);
        if mean < self.best * (1.0 - LEAST_FALL) {
            (self.best, self.stalled, self.waited) = (mean, 0, 0);
        } else {
            self.stalled += 1;
            self.waited += 1;
            if self.waited >= rates.patience {
                self.waited = 0;
                self.halvings += 1;
            }
        }
        Some(mean)
    }

    /// The lowest mean loss of a period so far.
    #[must_use]
    pub fn best(&self) -> f64 {
        self.best
    }

    /// Periods since the mean loss last fell.
    #[must_use]
    pub fn stalled(&self) -> u32 {
        self.stalled
    }

    /// The rate of step `step`, counted from zero.
    pub fn rate(&self, step: u64, rates: &Rates) -> f64 {
        let Rates { lr, lr_low, .. } = *rates;
        match rates.schedule {
            Schedule::Constant => lr,
            Schedule::Cosine => {
                let done = step as f64 / rates.steps.max(1) as f64;
                0.5 * lr * (1.0 + libm::cos(PI * done))
            }
            Schedule::Cyclic => {
                let place = (step % rates.period) as f64 / rates.period as f64;
                lr_low + (lr - lr_low) * (1.0 - (2.0 * place - 1.0).abs())
            }
            Schedule::Plateau => lr * 0.5_f64.powi(self.halvings as i32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(schedule: Schedule) -> Rates {
        Rates {
            schedule,
            lr: 0.4,
            lr_low: 0.1,
            period: 10,
            patience: 2,
            steps: 100,
        }
    }

    #[test]
    fn a_cosine_begins_at_the_rate_and_ends_near_zero() {
        let rates = rates(Schedule::Cosine);
        let rate = |step| Progress::default().rate(step, &rates);
        assert_eq!(rate(0), 0.4);
        assert!((rate(50) - 0.2).abs() < 1e-12);
        assert!(rate(99) < 2e-4);
    }

    #[test]
    fn triangles_rise_and_fall_between_their_bounds() {
        let rates = rates(Schedule::Cyclic);
        let rate = |step| Progress::default().rate(step, &rates);
        assert_eq!((rate(0), rate(5), rate(10)), (0.1, 0.4, 0.1));
        assert!((rate(2) - rate(8)).abs() < 1e-12);
    }

    #[test]
    fn a_plateau_halves_the_rate_and_a_fall_does_not() {
        let rates = rates(Schedule::Plateau);
        let mut progress = Progress::default();
        for step in 0..30 {
            progress.observe(1.0 / f64::from(step + 1), &rates);
        }
        assert_eq!(progress.rate(30, &rates), 0.4);
        for _ in 0..30 {
            progress.observe(1.0, &rates);
        }
        assert_eq!(progress.rate(60, &rates), 0.2);
    }
}
