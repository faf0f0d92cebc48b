//! Structure `combined`: for every pair the K coefficients of which z_ij is made, by least squares.
//!
//! What has to be small is the error of z_ij on signals, E|(W_i ⊙ W_j − Σ_k c_k D_k) x|² = ‖(…) C^½‖² with
//! C = E x xᵀ; the D are the stored rows and their conjugates, because z of a conjugate row is conj z for real x.
//! The D are taken one by one, each time that one which leaves the least error together with those taken before, whose
//! coefficients are then solved for anew (orthogonal least squares: Chen, Billings and Luo 1989).

use crate::data::orbits::Orbits;
use crate::train::whitening::root_of_covariance;
use crate::{Error, Result};
use bispectral_core::Complex32;
use bispectral_core::format::Structure;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, c64};
use ndarray::ArrayView2;
use rayon::prelude::*;

/// A row that has less than this share of itself outside the rows taken already is none: its coefficient would be
/// large and cancel theirs, and all coefficients share one scale.
const LEAST_OUTSIDE: f64 = 1e-3;
/// The bit of k that says conj z_k.
const CONJUGATED: u16 = 1 << 15;
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
    /// For each pair K × (k with the bit of its conjugate, re, im), little-endian.
    pub coefficients: Vec<u8>,
    /// Root of Σ E|error of z_ij|² / Σ E|z_ij|² over all pairs, before the coefficients were rounded.
    pub error: f64,
}

impl Combined {
    /// The structure of the model they belong to, whose rows are stored as the table `rows` says.
    #[must_use]
    pub fn structure<'a>(&'a self, rows: &'a [u8]) -> Structure<'a> {
        Structure::Combined {
            rows,
            terms: self.terms,
            scale: self.scale,
            coefficients: &self.coefficients,
        }
    }
}

/// The table of rows that are all stored.
///
/// ```
/// assert_eq!(bispectral::export::combined::all_stored(3), [0, 0, 1, 0, 2, 0]);
/// ```
#[must_use]
pub fn all_stored(rows: u16) -> Vec<u8> {
    (0..rows).flat_map(u16::to_le_bytes).collect()
}

/// One row of the device in one product.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Term {
    k: u16,
    value: c64,
}

impl Products<'_> {
    /// The best K of each pair.
    ///
    /// ```
    /// use bispectral::data::group::Group;
    /// use bispectral::export::combined::Products;
    /// use bispectral_core::Complex32;
    ///
    /// // Products of characters are characters: one term each, and no error.
    /// let w = "Z6".parse::<Group>()?.characters().map(|w| Complex32::new(w.re as f32, w.im as f32));
    /// let pairs: Vec<_> = bispectral_core::pairs(6).collect();
    /// let products = Products { w: w.view(), stored: w.view(), pairs: &pairs, terms: 1, signals: None };
    /// assert!(products.combine()?.error < 1e-6);
    /// # Ok::<(), bispectral::Error>(())
    /// ```
    ///
    /// # Errors
    /// K is zero, there are no rows or more than 15 bits number, a pair is none of W, or the lengths of rows differ.
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
        if self.stored.nrows() == 0 || self.stored.nrows() >= CONJUGATED.into() {
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
        let correlations = adjoint_times(dictionary.rows.as_ref(), targets.as_ref());
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
            (steps as i16).to_le_bytes()
        };
        let none = Term {
            k: 0,
            value: c64::ZERO,
        };
        let mut coefficients = Vec::with_capacity(6 * usize::from(self.terms) * choices.len());
        for choice in choices {
            let terms = choice.terms.iter().chain(std::iter::repeat(&none));
            for term in terms.take(self.terms.into()) {
                coefficients.extend(term.k.to_le_bytes());
                coefficients.extend(step(term.value.re));
                coefficients.extend(step(term.value.im));
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

/// The stored rows and their conjugates behind C^½, and their inner products.
struct Dictionary {
    root: Option<Mat<f64>>,
    /// N × 2S: a column each, first the stored rows, then the conjugates.
    rows: Mat<c64>,
    /// ⟨a, b⟩ = Σ_n a_n conj(b_n), in column b.
    gram: Mat<c64>,
}

impl Dictionary {
    fn new(products: &Products<'_>) -> Self {
        let (stored, inputs) = products.stored.dim();
        let root = products.signals.map(root_of_covariance);
        let mut dictionary = Dictionary {
            root,
            rows: Mat::new(),
            gram: Mat::new(),
        };
        dictionary.rows = dictionary.seen(Mat::from_fn(inputs, 2 * stored, |n, a| {
            let w = double(products.stored[(a % stored, n)]);
            if a < stored { w } else { w.conj() }
        }));
        // Column b of this is Σ_n conj(a_n) b_n for all a: the conjugate of ⟨a, b⟩.
        let rows = dictionary.rows.as_ref();
        let conjugate = adjoint_times(rows, rows);
        dictionary.gram = Mat::from_fn(2 * stored, 2 * stored, |a, b| conjugate[(a, b)].conj());
        dictionary
    }

    fn len(&self) -> usize {
        self.rows.ncols()
    }

    /// Columns as signals see them: C^½ times each.
    fn seen(&self, columns: Mat<c64>) -> Mat<c64> {
        let Some(root) = &self.root else {
            return columns;
        };
        let (inputs, count) = (columns.nrows(), columns.ncols());
        let part = |of: fn(&c64) -> f64| Mat::from_fn(inputs, count, |n, k| of(&columns[(n, k)]));
        let (re, im) = (part(|w| w.re), part(|w| w.im));
        let mut seen = [Mat::<f64>::zeros(inputs, count), Mat::zeros(inputs, count)];
        for (seen, part) in seen.iter_mut().zip([re, im]) {
            matmul(seen.as_mut(), Accum::Replace, root, part, 1.0, Par::Seq);
        }
        Mat::from_fn(inputs, count, |n, k| {
            c64::new(seen[0][(n, k)], seen[1][(n, k)])
        })
    }

    /// Up to `most` terms and the error they leave, for a product t of which ⟨t, a⟩ are the `correlations`.
    fn choose(&self, mut correlations: Vec<c64>, power: f64, most: u8) -> (Vec<Term>, f64) {
        let len = self.len();
        let whole: Vec<f64> = (0..len).map(|a| self.gram[(a, a)].re).collect();
        // What is left of each row outside of those taken: its square, and its share in each direction taken.
        let mut outside = whole.clone();
        let mut taken: Vec<usize> = Vec::new();
        let mut directions: Vec<Vec<c64>> = Vec::new();
        let mut shares: Vec<c64> = Vec::new();
        let mut rest = power;
        while taken.len() < most.into() {
            let gain = |a: usize| correlations[a].norm_sqr() / outside[a];
            let best = (0..len)
                .filter(|&a| outside[a] > LEAST_OUTSIDE * whole[a])
                .max_by(|&a, &b| gain(a).total_cmp(&gain(b)));
            let Some(best) = best.filter(|&best| gain(best) > f64::EPSILON * power) else {
                break;
            };
            let length = outside[best].sqrt();
            let share = correlations[best] / length;
            let direction: Vec<c64> = (0..len)
                .map(|a| {
                    let inside = directions.iter().map(|q| q[a] * q[best].conj());
                    (self.gram[(a, best)] - inside.sum::<c64>()) / length
                })
                .collect();
            for (a, q) in direction.iter().enumerate() {
                correlations[a] -= share * q.conj();
                outside[a] -= q.norm_sqr();
            }
            rest -= share.norm_sqr();
            taken.push(best);
            directions.push(direction);
            shares.push(share);
        }
        (self.solved(&taken, &directions, shares), rest.max(0.0))
    }

    /// The coefficients of the rows taken: row s is Σ_r≤s directions[r][s] q_r, so the system is triangular.
    fn solved(&self, taken: &[usize], directions: &[Vec<c64>], mut shares: Vec<c64>) -> Vec<Term> {
        for s in (0..taken.len()).rev() {
            shares[s] /= directions[s][taken[s]];
            for r in 0..s {
                let value = shares[s];
                shares[r] -= value * directions[r][taken[s]];
            }
        }
        let stored = self.len() / 2;
        let term = |(&a, value): (&usize, c64)| Term {
            k: (a % stored) as u16 | if a < stored { 0 } else { CONJUGATED },
            value,
        };
        taken.iter().zip(shares).map(term).collect()
    }
}

fn double(w: Complex32) -> c64 {
    c64::new(w.re.into(), w.im.into())
}

/// lhs† rhs.
fn adjoint_times(lhs: MatRef<'_, c64>, rhs: MatRef<'_, c64>) -> Mat<c64> {
    let mut to = Mat::zeros(lhs.ncols(), rhs.ncols());
    let lhs = lhs.adjoint();
    matmul(to.as_mut(), Accum::Replace, lhs, rhs, c64::ONE, Par::Seq);
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::initial::orthogonal;
    use bispectral_core::pairs;
    use ndarray::Array2;

    fn characters(group: &str) -> Array2<Complex32> {
        let group: crate::data::group::Group = group.parse().unwrap();
        let single = |w: &c64| Complex32::new(w.re as f32, w.im as f32);
        group.characters().map(single)
    }

    fn random(rows: usize, inputs: usize) -> Array2<Complex32> {
        let w = orthogonal(rows, inputs, 3).into_iter();
        let w = w.map(|w| Complex32::new(w.re as f32, w.im as f32));
        Array2::from_shape_vec((rows, inputs), w.collect()).unwrap()
    }

    /// (k, conjugated, coefficient) of every term as the device reads it.
    fn read(found: &Combined) -> Vec<(usize, bool, c64)> {
        let scale = f64::from(found.scale);
        let part = |bytes: [u8; 2]| f64::from(i16::from_le_bytes(bytes)) * scale;
        let (terms, rest) = found.coefficients.as_chunks::<6>();
        assert!(rest.is_empty());
        let term = |&[a, b, c, d, e, f]: &[u8; 6]| {
            let k = u16::from_le_bytes([a, b]);
            let value = c64::new(part([c, d]), part([e, f]));
            (usize::from(k & !CONJUGATED), k & CONJUGATED != 0, value)
        };
        terms.iter().map(term).collect()
    }

    #[test]
    fn the_product_of_two_characters_is_one_character() {
        for name in ["Z1", "Z7", "Z4xZ2", "Z3xZ3"] {
            let w = characters(name);
            let group: crate::data::group::Group = name.parse().unwrap();
            let pairs: Vec<_> = pairs(w.nrows()).collect();
            let products = Products {
                w: w.view(),
                stored: w.view(),
                pairs: &pairs,
                terms: 1,
                signals: None,
            };
            let found = products.combine().unwrap();
            assert!(found.error < 1e-6, "{name}: {:e}", found.error);
            let length = (w.nrows() as f64).sqrt();
            for (&(i, j), (k, conjugated, value)) in pairs.iter().zip(read(&found)) {
                let product = group.add(i, j);
                let opposite = |k| (0..w.nrows()).find(|&o| group.add(k, o) == 0).unwrap();
                let k = if conjugated { opposite(k) } else { k };
                assert_eq!(k, product, "{name}: {i} {j}");
                // Two roundings of f32, and half a step of 1/32767.
                assert!(
                    (value - 1.0 / length).norm() < 2e-5 / length,
                    "{name}: {value}"
                );
            }
        }
    }

    /// z of every member, for rows and for products.
    fn errors(
        w: &Array2<Complex32>,
        pairs: &[(usize, usize)],
        found: &Combined,
        signals: &Orbits,
    ) -> [f64; 2] {
        let (terms, inputs) = (read(found), w.ncols());
        let each = terms.len() / pairs.len();
        let mut x = vec![0.0; inputs];
        let mut sums = [0.0; 2];
        for (orbit, member) in
            (0..signals.len()).flat_map(|o| (0..signals.members(o)).map(move |m| (o, m)))
        {
            signals.write_member(orbit, member, &mut x);
            let z = |of: &dyn Fn(usize) -> c64| {
                (0..inputs).map(|n| of(n) * f64::from(x[n])).sum::<c64>()
            };
            let row: Vec<c64> = (0..w.nrows()).map(|k| z(&|n| double(w[(k, n)]))).collect();
            for (&(i, j), terms) in pairs.iter().zip(terms.chunks(each)) {
                let exact = z(&|n| double(w[(i, n)]) * double(w[(j, n)]));
                let term = |&(k, conjugated, value): &(usize, bool, c64)| {
                    value * if conjugated { row[k].conj() } else { row[k] }
                };
                sums[0] += (exact - terms.iter().map(term).sum::<c64>()).norm_sqr();
                sums[1] += exact.norm_sqr();
            }
        }
        sums
    }

    #[test]
    fn the_error_is_that_on_the_signals_and_more_terms_leave_less() {
        let w = random(5, 8);
        let signals = Orbits::of_group(&"Z4xZ2".parse().unwrap(), 6, 1);
        let pairs = [(0, 0), (0, 3), (1, 2), (4, 4)];
        let mut before = f64::INFINITY;
        for terms in 1..=6 {
            let products = Products {
                w: w.view(),
                stored: w.view(),
                pairs: &pairs,
                terms,
                signals: Some(&signals),
            };
            let found = products.combine().unwrap();
            let [error, power] = errors(&w, &pairs, &found, &signals);
            let measured = (error / power).sqrt();
            // Coefficients are rounded to 2^-16 of the largest.
            assert!(
                (measured - found.error).abs() < 1e-4,
                "{measured} {found:?}"
            );
            assert!(found.error < before - 1e-3, "{terms}: {}", found.error);
            before = found.error;
            // Another value of any coefficient is worse: they are the least squares.
            for at in 0..read(&found).len() {
                for (byte, sign) in [(2, 1_i16), (2, -1), (4, 1), (4, -1)] {
                    let mut moved = found.clone();
                    let part = &mut moved.coefficients[6 * at + byte..][..2];
                    let value = i16::from_le_bytes([part[0], part[1]]);
                    part.copy_from_slice(&value.saturating_add(200 * sign).to_le_bytes());
                    assert!(
                        value.abs() > i16::MAX - 200
                            || errors(&w, &pairs, &moved, &signals)[0] > error
                    );
                }
            }
        }
    }

    #[test]
    fn signals_decide_what_counts() {
        // Signals that are zero in half of the places: only the other half has to be right.
        let w = random(4, 8);
        let samples = Array2::from_shape_fn((8, 8), |(s, n)| {
            if n < 4 {
                ((s * s + 3 * n * s + n) % 7) as f32
            } else {
                0.0
            }
        });
        let signals = Orbits::labelled(samples, &[0, 0, 1, 1, 2, 2, 3, 3]).unwrap();
        let pairs: Vec<_> = pairs(4).collect();
        let of = |signals| {
            let products = Products {
                w: w.view(),
                stored: w.view(),
                pairs: &pairs,
                terms: 4,
                signals,
            };
            products.combine().unwrap()
        };
        let (informed, blind) = (of(Some(&signals)), of(None));
        let share = |found: &Combined| {
            let [error, power] = errors(&w, &pairs, found, &signals);
            (error / power).sqrt()
        };
        // Eight complex rows span the four places.
        assert!(share(&informed) < 1e-3, "{}", share(&informed));
        assert!(share(&blind) > 0.1, "{}", share(&blind));
    }

    #[test]
    fn what_cannot_be_combined_is_refused() {
        let w = random(2, 4);
        let fine = Products {
            w: w.view(),
            stored: w.view(),
            pairs: &[(0, 1)],
            terms: 1,
            signals: None,
        };
        assert!(fine.combine().is_ok());
        let shorter = random(2, 3);
        let signals = Orbits::of_group(&"Z3".parse().unwrap(), 2, 1);
        for refused in [
            Products { terms: 0, ..fine },
            Products {
                pairs: &[(0, 2)],
                ..fine
            },
            Products {
                stored: shorter.view(),
                ..fine
            },
            Products {
                signals: Some(&signals),
                ..fine
            },
        ] {
            assert!(refused.combine().is_err());
        }
    }
}
