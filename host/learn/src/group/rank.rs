//! The rank of derivatives, one by one: which forms say what others do not.

use ndarray::Array1;

/// Directions that are linearly independent.
#[derive(Debug, Default)]
pub(super) struct Rank {
    rows: Vec<Array1<f64>>,
}

impl Rank {
    /// What is left of a vector when the others are taken from it, at least: less is rounding.
    const INDEPENDENT: f64 = 1e-6;

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Whether a vector is none of those that the others span; it joins them then.
    pub(super) fn add(&mut self, mut vector: Array1<f64>) -> bool {
        let whole = vector.dot(&vector).sqrt();
        if whole < 1e-9 {
            return false;
        }
        for _ in 0..2 {
            for row in &self.rows {
                let inner = row.dot(&vector);
                vector.scaled_add(-inner, row);
            }
        }
        let length = vector.dot(&vector).sqrt();
        let grows = length > Self::INDEPENDENT * whole;
        if grows {
            self.rows.push(vector / length);
        }
        grows
    }
}
