//! Whether samples are far from zero for what they do, as the codes of a converter are: then the constant coefficient swamps all
//! others.

use super::remark::Remark;

/// From here on, the mean of samples swamps their invariants: the constant coefficient's part of β̄ is that of its cube.
const SWAMPS: f64 = 4.0;

/// What is added up over samples.
#[derive(Debug, Clone, Default)]
pub struct Offset {
    samples: f64,
    means: f64,
    mean_squares: f64,
    variances: f64,
}

impl Offset {
    /// Of no samples yet.
    #[must_use]
    pub fn new() -> Self {
        Offset::default()
    }

    /// Adds one sample.
    pub fn add(&mut self, sample: impl ExactSizeIterator<Item = f64> + Clone) {
        let inputs = sample.len().max(1) as f64;
        let mean = sample.clone().sum::<f64>() / inputs;
        self.samples += 1.0;
        self.means += mean;
        self.mean_squares += mean * mean;
        self.variances += sample.map(|x| (x - mean).powi(2)).sum::<f64>() / inputs;
    }

    /// What is to be said of the samples of this file.
    #[must_use]
    pub fn remark(&self, file: &str) -> Option<Remark> {
        let swamps = self.mean_squares > SWAMPS.powi(2) * self.variances && self.variances > 0.0;
        swamps.then(|| Remark::Offset {
            file: file.into(),
            mean: self.means / self.samples,
            deviation: (self.variances / self.samples).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: &[[f64; 4]]) -> Option<Remark> {
        let mut offset = Offset::new();
        samples
            .iter()
            .for_each(|sample| offset.add(sample.iter().copied()));
        offset.remark("X.csv")
    }

    #[test]
    fn codes_of_a_converter_are_far_from_zero_and_their_deviations_are_not() {
        let swing = [[3.0, -2.0, 0.5, 1.0], [0.0, 4.0, -4.0, 1.0]];
        assert_eq!(of(&swing), None);
        let codes = swing.map(|sample| sample.map(|x| x + 2048.0));
        let line = of(&codes).unwrap().to_string();
        assert!(line.contains("the mean of the samples, 2048."), "{line}");
        // Nothing moves at all: that is another fault.
        assert_eq!(of(&[[7.0; 4]]), None);
    }
}
