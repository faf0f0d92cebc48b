//! Equations M ψ = θ with whole M in unknowns that are turns (modulo 1): how many solutions, and one of them.
//!
//! The rows of M span a lattice, kept in echelon form by Euclid's algorithm. Where its rank is full, the equations
//! have as many solutions as its index in ℤ^g, the product of the diagonal; otherwise a continuum.

/// The equations so far.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    /// Row c begins in column c.
    rows: Vec<Option<Row>>,
}

#[derive(Debug, Clone)]
struct Row {
    coefficients: Vec<i128>,
    turns: f64,
}

impl Lattice {
    /// No equations in `unknowns` unknowns.
    pub(crate) fn new(unknowns: usize) -> Self {
        Lattice {
            rows: vec![None; unknowns],
        }
    }

    /// Adds Σ coefficients · ψ = `turns`; whether it says anything that those before do not. Where their coefficients
    /// have grown past 128 bits, it is left out.
    pub(crate) fn add(&mut self, coefficients: &[i128], turns: f64) -> bool {
        let mut row = Row {
            coefficients: coefficients.to_vec(),
            turns,
        };
        let mut rows = self.rows.clone();
        let mut news = false;
        for (column, before) in rows.iter_mut().enumerate() {
            if row.coefficients[column] == 0 {
                continue;
            }
            let Some(mut above) = before.clone() else {
                *before = Some(row);
                news = true;
                break;
            };
            let step = above.coefficients[column].abs();
            while row.coefficients[column] != 0 {
                let quotient = above.coefficients[column] / row.coefficients[column];
                let Some(remainder) = above.minus(quotient, &row) else {
                    return false;
                };
                above = std::mem::replace(&mut row, remainder);
            }
            // What was there first is kept where it is as good: callers begin with what they are surest of.
            if above.coefficients[column].abs() != step {
                news = true;
                *before = Some(above);
            }
        }
        if news {
            self.rows = rows;
            self.reduce();
        }
        news
    }

    /// Makes coefficients behind the first as small as those of the rows below: what is large loses digits.
    fn reduce(&mut self) {
        for column in 1..self.rows.len() {
            let (above, below) = self.rows.split_at_mut(column);
            let Some(Some(below)) = below.first() else {
                continue;
            };
            for row in above.iter_mut().flatten() {
                let quotient = row.coefficients[column].div_euclid(below.coefficients[column]);
                if quotient != 0
                    && let Some(smaller) = row.minus(quotient, below)
                {
                    *row = smaller;
                }
            }
        }
    }

    /// Unknowns that no equation holds.
    pub(crate) fn freedom(&self) -> usize {
        self.rows.iter().filter(|row| row.is_none()).count()
    }

    /// How many solutions there are in the directions that are held.
    pub(crate) fn solutions(&self) -> u128 {
        let rows = self.rows.iter().enumerate();
        rows.filter_map(|(column, row)| Some(row.as_ref()?.coefficients[column].unsigned_abs()))
            .fold(1, u128::saturating_mul)
    }

    /// A solution; unknowns that no equation holds are zero.
    pub(crate) fn solve(&self) -> Vec<f64> {
        let mut solution = vec![0.0; self.rows.len()];
        for (column, row) in self.rows.iter().enumerate().rev() {
            let Some(row) = row else { continue };
            let known = row.coefficients.iter().zip(&solution).skip(column + 1);
            let known: f64 = known.map(|(&m, psi)| m as f64 * psi).sum();
            let turns = (row.turns - known) / row.coefficients[column] as f64;
            solution[column] = turns - turns.round();
        }
        solution
    }
}

impl Row {
    fn minus(&self, quotient: i128, other: &Row) -> Option<Row> {
        let pairs = self.coefficients.iter().zip(&other.coefficients);
        let coefficients = pairs.map(|(a, b)| a.checked_sub(quotient.checked_mul(*b)?));
        let turns = self.turns - quotient as f64 * other.turns;
        Some(Row {
            coefficients: coefficients.collect::<Option<_>>()?,
            turns: turns - turns.round(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_solution_solves_every_equation(
            rows in prop::collection::vec(prop::collection::vec(-6_i128..=6, 3), 0..8),
            psi in [0..1024_u16, 0..1024, 0..1024],
        ) {
            // Whole 1024ths stay exact while equations are combined, whatever the quotients: these multiply a rounding error.
            let psi = psi.map(|part| f64::from(part) / 1024.0);
            let mut lattice = Lattice::new(3);
            let value = |row: &[i128], psi: &[f64]| row.iter().zip(psi).map(|(&m, psi)| m as f64 * psi).sum::<f64>();
            for row in &rows {
                lattice.add(row, value(row, &psi));
            }
            let found = lattice.solve();
            for row in &rows {
                let error = value(row, &found) - value(row, &psi);
                prop_assert!((error - error.round()).abs() < 1e-12, "{:?} {}", row, error);
            }
        }

        #[test]
        fn the_order_of_equations_does_not_matter(
            rows in prop::collection::vec(prop::collection::vec(-6_i128..=6, 3), 0..8).prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        ) {
            let [one, other] = [rows.0, rows.1].map(|rows| {
                let mut lattice = Lattice::new(3);
                rows.iter().for_each(|row| { lattice.add(row, 0.0); });
                lattice
            });
            prop_assert_eq!(one.freedom(), other.freedom());
            if one.freedom() == 0 {
                prop_assert_eq!(one.solutions(), other.solutions());
            }
        }
    }

    #[test]
    fn solutions_are_counted_and_what_says_nothing_new_is_told() {
        let mut lattice = Lattice::new(2);
        assert_eq!((lattice.freedom(), lattice.solutions()), (2, 1));
        assert!(lattice.add(&[4, 2], 0.5));
        assert!(lattice.add(&[0, 6], 0.0));
        assert_eq!((lattice.freedom(), lattice.solutions()), (0, 24));
        assert!(!lattice.add(&[4, 8], 0.5));
        assert!(lattice.add(&[6, 0], 0.0));
        assert!(24 % lattice.solutions() == 0 && lattice.solutions() < 24);
    }

    #[test]
    fn coefficients_past_128_bits_are_left_out() {
        let mut lattice = Lattice::new(2);
        lattice.add(&[3, i128::MAX], 0.0);
        assert!(!lattice.add(&[i128::MAX, i128::MIN + 1], 0.0));
        assert_eq!(lattice.freedom(), 1);
    }
}
