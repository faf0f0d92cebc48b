//! Structure `combined`: for every pair the K coefficients of which z_ij is made, by least squares.
//!
//! What has to be small is the error of z_ij on signals, E|(W_i ⊙ W_j − Σ_k c_k D_k) x|² = ‖(…) C^½‖² with
//! C = E x xᵀ; the D are the stored rows and their conjugates, because z of a conjugate row is conj z for real x.

mod dictionary;
#[cfg(test)]
mod tests;

use crate::data::orbits::Orbits;
use crate::{Error, Result};
use bispectral_core::Complex32;
use bispectral_core::format::{self, MAX_DIMENSION, Row, Structure};
use dictionary::{Dictionary, Term, double};
use faer::{Mat, c64};
use ndarray::ArrayView2;
use rayon::prelude::*;

/// The largest real or imaginary part of a coefficient, in steps.
const LARGEST: f64 = i16::MAX as f64;

/// What is to be combined from what.
#[derive(Debug, Clone, Copy)]
pub struct Products<'a> {
    /// W, whose products W_i ⊙ W_j are wanted.
    pub w: ArrayView2<'a, Complex32>,
    /// The rows that the device computes z with: W folded, or rounded to its encoding.
    pub stored: ArrayView2<'a, Complex32>,
    /// The pairs (i, j), in their order.
    pub pairs: &'a [(usize, usize)],
    /// K: rows that a product is made of.
    pub terms: u8,
    /// Signals on which the error counts; all directions alike where there are none.
    pub signals: Option<&'a Orbits>,
}

/// The section of a model that has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Combined {
    /// K.
    pub terms: u8,
    /// One step of a coefficient.
    pub scale: f32,
    /// K for each pair.
    pub coefficients: Vec<format::Term>,
    /// Root of Σ E|error of z_ij|² / Σ E|z_ij|² over all pairs, before the coefficients were rounded.
    pub error: f64,
}

impl Combined {
    /// The structure of the model they belong to, whose rows are stored as the table `rows` says.
    #[must_use]
    pub fn structure<'a>(&'a self, rows: &'a [Row]) -> Structure<'a> {
        Structure::Combined {
            rows: rows.into(),
            terms: self.terms,
            scale: self.scale,
            coefficients: (&self.coefficients).into(),
        }
    }
}

/// The table of rows that are all stored.
///
/// ```
/// let rows = bispectral_learn::model::combined::all_stored(3);
/// assert_eq!((rows.len(), rows[2].stored, rows[2].conjugated), (3, 2, false));
/// ```
#[must_use]
pub fn all_stored(rows: u16) -> Vec<Row> {
    let row = |stored| Row {
        stored,
        conjugated: false,
    };
    (0..rows).map(row).collect()
}

impl Products<'_> {
    /// The best K of each pair.
    ///
    /// ```
    /// use bispectral_learn::data::group::Group;
    /// use bispectral_learn::model::combined::Products;
    /// use bispectral_core::Complex32;
    ///
    /// // Products of characters are characters: one term each, and no error.
    /// let w = "Z6".parse::<Group>()?.characters().map(|w| Complex32::new(w.re as f32, w.im as f32));
    /// let pairs: Vec<_> = bispectral_core::pairs(6).collect();
    /// let products = Products { w: w.view(), stored: w.view(), pairs: &pairs, terms: 1, signals: None };
    /// assert!(products.combine()?.error < 1e-6);
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    ///
    /// # Errors
    /// K is zero, there are no rows or more than a model stores, a pair is none of W, or the lengths of rows differ.
    pub fn combine(&self) -> Result<Combined> {
        self.check()?;
        let dictionary = Dictionary::new(self);
        let mut rows = vec![Vec::new(); self.w.nrows()];
        for (at, &(i, j)) in self.pairs.iter().enumerate() {
            rows[i].push((at, j));
        }
        let found: Vec<Vec<Choice>> = rows
            .par_iter()
            .enumerate()
            .map(|(i, partners)| self.row(&dictionary, i, partners))
            .collect();
        let mut choices: Vec<Choice> = found.into_iter().flatten().collect();
        choices.sort_by_key(|choice| choice.at);
        Ok(self.written(&choices))
    }

    fn check(&self) -> Result<()> {
        let refused = |what: String, remedy| Err(Error::new("combined products", what, remedy));
        let (rows, inputs) = self.w.dim();
        if self.terms == 0 {
            return refused("no terms".into(), "take 1 to 255");
        }
        if self.stored.ncols() != inputs || self.signals.is_some_and(|s| s.inputs() != inputs) {
            return refused("W and signals differ in length".into(), "give one length");
        }
        if self.stored.nrows() == 0 || self.stored.nrows() > MAX_DIMENSION.into() {
            let what = format!("{} stored rows", self.stored.nrows());
            return refused(what, "store 1 to 8192");
        }
        let last = self.pairs.iter().map(|&(i, j)| i.max(j)).max();
        if last.is_some_and(|last| last >= rows) {
            return refused(format!("a pair beyond {rows} rows"), "take rows of W");
        }
        Ok(())
    }

    /// The choices of the pairs (i, j), `partners` being their places and j.
    fn row(&self, dictionary: &Dictionary, i: usize, partners: &[(usize, usize)]) -> Vec<Choice> {
        let inputs = self.w.ncols();
        let product = |n: usize, column: usize| {
            let (a, b) = (self.w[(i, n)], self.w[(partners[column].1, n)]);
            double(a) * double(b)
        };
        let targets = Mat::from_fn(inputs, partners.len(), product);
        let targets = dictionary.seen(targets);
        let correlations = dictionary.correlations(&targets);
        (partners.iter().enumerate())
            .map(|(column, &(at, _))| {
                let power: f64 = (0..inputs).map(|n| targets[(n, column)].norm_sqr()).sum();
                let correlations = (0..dictionary.len()).map(|a| correlations[(a, column)]);
                let (terms, rest) = dictionary.choose(correlations.collect(), power, self.terms);
                Choice {
                    at,
                    terms,
                    power,
                    rest,
                }
            })
            .collect()
    }

    fn written(&self, choices: &[Choice]) -> Combined {
        let parts = choices.iter().flat_map(|choice| &choice.terms);
        let parts = parts.flat_map(|term| [term.value.re, term.value.im]);
        let largest = parts.fold(0.0_f64, |largest, part| largest.max(part.abs()));
        // Without any coefficient every scale says the same.
        let scale = if largest > 0.0 {
            (largest / LARGEST) as f32
        } else {
            1.0
        };
        let step = |part: f64| {
            let steps = (part / f64::from(scale)).round().clamp(-LARGEST, LARGEST);
            steps as i16
        };
        let none = Term {
            row: Row::default(),
            value: c64::ZERO,
        };
        let mut coefficients = Vec::with_capacity(usize::from(self.terms) * choices.len());
        for choice in choices {
            let terms = choice.terms.iter().chain(std::iter::repeat(&none));
            for term in terms.take(self.terms.into()) {
                coefficients.push(format::Term {
                    row: term.row,
                    re: step(term.value.re),
                    im: step(term.value.im),
                });
            }
        }
        let sum = |of: fn(&Choice) -> f64| choices.iter().map(of).sum::<f64>();
        Combined {
            terms: self.terms,
            scale,
            coefficients,
            error: (sum(|choice| choice.rest) / sum(|choice| choice.power)).sqrt(),
        }
    }
}

/// What was found for the pair at a place of the list.
#[derive(Debug, Clone)]
struct Choice {
    at: usize,
    terms: Vec<Term>,
    /// E|z_ij|², and what is left of it.
    power: f64,
    rest: f64,
}
