//! The commutant, exactly: which quadratic forms of a sample do not change along orbits?
//!
//! With p the products y_i y_j of whitened coordinates less their mean, T the mean of p(y) p(y′)ᵀ over different members of an
//! orbit and Q that of p(y) p(y)ᵀ over members, the solutions of
//!
//! > T v = λ Q v
//!
//! with λ = 1 are the invariant forms yᵀ M y. Nothing is averaged over the group: an orbit may have two members, and of any
//! elements, so that a few hundred samples show what moments show of thousands. An invariant form that is positive makes the
//! action orthogonal, by M₀^½ y; in these coordinates the invariant forms are the symmetric part of the commutant.

use super::commutant::{packed, symmetric_eigen, unpacked, whitening};
use super::forms::{CLEAR, Coefficients};
use super::moments::Moments;
use crate::limits::interruption;
use faer::{Mat, Scale};
use std::f64::consts::SQRT_2;

/// The most products: 81 coordinates, as functions of degrees 0 to 8 on a sphere have, in some seconds.
const MOST_PRODUCTS: usize = 3321;
/// Samples for each product, and at least: more only average noise.
const SAMPLES: usize = 6;
const ENOUGH: usize = 6000;
/// Samples whose products are multiplied at a time.
const COLUMNS: usize = 1024;
/// Combinations of products with less than this share of the mean variance do not vary.
const STEADY: f64 = 1e-7;
/// 1 − λ of what changes by rounding alone.
const ROUNDED: f64 = 1e-12;
/// The least eigenvalue of M₀, whose mean is about 1: below, no form makes the action orthogonal in all directions.
const LEAST_POSITIVE: f64 = 0.02;

/// The symmetric part of the commutant.
#[derive(Debug)]
pub(super) struct Quadratic {
    /// n × N: from samples to coordinates in which the action is orthogonal.
    pub(super) whitening: Mat<f64>,
    /// Orthonormal symmetric matrices, beside the identity.
    pub(super) elements: Vec<Mat<f64>>,
    /// The least λ of an invariant form, and the largest of any other.
    pub(super) last: f64,
    pub(super) next: f64,
}

impl Quadratic {
    /// `None` where there are too many products, too few samples, or no positive form stays the same.
    pub(super) fn of(moments: &Moments) -> Option<Self> {
        let whitening = whitening(moments)?;
        let n = whitening.nrows();
        let size = n * (n + 1) / 2;
        if size > MOST_PRODUCTS {
            return None;
        }
        let y = Coefficients::of(moments.members(), &whitening);
        let (members, all) = (y.members(), y.orbits.len());
        // The first quarter of the orbits is for tests.
        let tests = all / 4;
        if members < 2 || tests < 2 {
            return None;
        }
        let used = (SAMPLES * size).max(ENOUGH).div_ceil(members);
        let used = used.min(all - tests);
        let seen = Scatter::of(&y.orbits[tests..tests + used])?;
        let test = Scatter::of(&y.orbits[..tests.min(used)])?;
        let found = seen.invariants(&test)?;
        // M₀: what is nearest to the identity, in which whitening makes the action orthogonal where orbits are whole.
        let orthonormal = found.forms.qr().compute_thin_Q();
        let identity = packed(&Mat::identity(n, n));
        let identity = Mat::from_fn(size, 1, |at, _| identity[at]);
        let nearest = &orthonormal * (orthonormal.transpose() * identity);
        let (values, vectors) = symmetric_eigen(&unpacked(n, |at| nearest[(at, 0)]))?;
        if values.last().is_none_or(|&least| least < LEAST_POSITIVE) {
            return None;
        }
        let power = |power: f64| {
            let scaled = Mat::from_fn(n, n, |row, k| vectors[(row, k)] * values[k].powf(power));
            scaled * vectors.transpose()
        };
        let (root, inverse) = (power(0.5), power(-0.5));
        let mut turned = Mat::<f64>::zeros(size, found.forms.ncols());
        for column in 0..turned.ncols() {
            let mut matrix = &inverse * unpacked(n, |at| found.forms[(at, column)]) * &inverse;
            let trace = (0..n).map(|k| matrix[(k, k)]).sum::<f64>() / n as f64;
            (0..n).for_each(|k| matrix[(k, k)] -= trace);
            for (at, number) in packed(&matrix).into_iter().enumerate() {
                turned[(at, column)] = number;
            }
        }
        // M₀ has become the identity, which is taken out: one fewer is left.
        let (_, turns) = symmetric_eigen(&(turned.transpose() * &turned))?;
        let elements = &turned * turns.subcols(0, turns.ncols() - 1);
        let elements = (0..elements.ncols()).map(|column| {
            let length = elements.col(column).norm_l2();
            unpacked(n, |at| elements[(at, column)] / length)
        });
        Some(Quadratic {
            elements: elements.collect(),
            whitening: root * whitening,
            last: found.last,
            next: found.next,
        })
    }
}

/// Moments of products: m, T − m mᵀ and Q − m mᵀ.
struct Scatter {
    orbits: usize,
    mean: Mat<f64>,
    t: Mat<f64>,
    q: Mat<f64>,
}

/// Invariant forms as columns, not orthonormal.
struct Found {
    forms: Mat<f64>,
    last: f64,
    next: f64,
}

impl Scatter {
    fn of(orbits: &[Mat<f64>]) -> Option<Self> {
        let first = orbits.first()?;
        let (n, members) = (first.nrows(), first.ncols());
        let size = n * (n + 1) / 2;
        let mut sums = Mat::<f64>::zeros(size, orbits.len());
        let mut q = Mat::<f64>::zeros(size, size);
        let together = COLUMNS.div_ceil(members);
        for (number, some) in orbits.chunks(together).enumerate() {
            interruption::check();
            let mut products = Mat::<f64>::zeros(size, some.len() * members);
            for (o, orbit) in some.iter().enumerate() {
                for m in 0..members {
                    let mut at = 0;
                    for column in 0..n {
                        for row in column..n {
                            let scale = if row == column { 1.0 } else { SQRT_2 };
                            let product = scale * orbit[(row, m)] * orbit[(column, m)];
                            products[(at, o * members + m)] = product;
                            sums[(at, number * together + o)] += product;
                            at += 1;
                        }
                    }
                }
            }
            q += &products * products.transpose();
        }
        let (all, members) = (orbits.len() as f64, members as f64);
        let mean = Mat::from_fn(size, 1, |at, _| {
            sums.row(at).iter().sum::<f64>() / (all * members)
        });
        let square = &mean * mean.transpose();
        let t = (&sums * sums.transpose() - &q) * Scale(1.0 / (all * members * (members - 1.0)));
        Some(Scatter {
            orbits: orbits.len(),
            t: t - &square,
            q: q * Scale(1.0 / (all * members)) - square,
            mean,
        })
    }

    /// Whether no combination of these forms changes along orbits, of those that vary at all.
    fn confirms(&self, forms: &Mat<f64>, least: f64) -> bool {
        let Some((variances, axes)) = symmetric_eigen(&(forms.transpose() * &self.q * forms))
        else {
            return false;
        };
        let varying = variances.iter().take_while(|&&v| v > least).count();
        let axis = |at, k: usize| axes[(at, k)] / variances[k].sqrt();
        let axis = forms * Mat::from_fn(forms.ncols(), varying, axis);
        symmetric_eigen(&(axis.transpose() * &self.t * &axis))
            .is_some_and(|(lambdas, _)| lambdas.iter().all(|&lambda| lambda >= CLEAR))
    }

    /// The forms that do not change along these orbits, nor along those of `test`.
    fn invariants(&self, test: &Scatter) -> Option<Found> {
        let (variances, axes) = symmetric_eigen(&self.q)?;
        let size = variances.len();
        let least = STEADY * variances.iter().sum::<f64>() / size as f64;
        let varying = variances.iter().take_while(|&&v| v > least).count();
        let axis = |at, k: usize| axes[(at, k)] / variances[k].sqrt();
        let axis = Mat::from_fn(size, varying, axis);
        let (lambdas, turns) = symmetric_eigen(&(axis.transpose() * &self.t * &axis))?;
        let forms = axis * turns;
        let of = |matrix: &Mat<f64>| -> Vec<f64> {
            let times = matrix * &forms;
            let columns = forms.col_iter().zip(times.col_iter());
            columns.map(|(v, times)| v.transpose() * times).collect()
        };
        let (t, q) = (of(&test.t), of(&test.q));
        let clear = |k: &usize| lambdas[*k] >= CLEAR && t[*k] >= CLEAR * q[*k];
        let most = (0..varying).take_while(clear).count();
        // Where members are near each other everything changes little: what is invariant changes far less.
        let change = |k: usize| (1.0 - lambdas.get(k).copied().unwrap_or(0.0)).max(ROUNDED);
        let fall = |count: &usize| change(*count) / change(count - 1);
        let count = (1..=most)
            .max_by(|a, b| fall(a).total_cmp(&fall(b)))
            .unwrap_or(0);
        let mut columns: Vec<Vec<f64>> = (0..count)
            .map(|k| forms.col(k).iter().copied().collect())
            .collect();
        let steady = axes.subcols(varying, size - varying).to_owned();
        if count + 1 >= self.orbits && test.confirms(&steady, least) {
            // As many forms vary from orbit to orbit as can: those that do not are invariant, too.
            columns.extend(steady.col_iter().map(|form| form.iter().copied().collect()));
        } else {
            // What does not vary at all, and is not zero: signals that were brought to one length.
            let constant = &steady * (steady.transpose() * &self.mean);
            if constant.norm_l2() > STEADY.sqrt() * self.mean.norm_l2() {
                columns.push(constant.col(0).iter().copied().collect());
            }
        }
        (!columns.is_empty()).then(|| Found {
            forms: Mat::from_fn(size, columns.len(), |at, column| columns[column][at]),
            last: count.checked_sub(1).map_or(1.0, |last| lambdas[last]),
            next: lambdas.get(count).copied().unwrap_or(0.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::orbits::Orbits;
    use crate::data::representation::{Representation, orthogonal};
    use crate::group::compact::Compact;
    use crate::group::compact::samples::finite;
    use crate::numeric::random::{Purpose, stream};
    use ndarray::Array2;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    #[test]
    fn three_members_of_a_hundred_orbits_show_the_commutant_to_rounding() {
        let groups = [
            (Representation::so2(&[0, 1, 2, 3, 4]), 5),
            (Representation::o2(&[0, 1, 2, 3, 4]), 5),
            (Representation::so3(&[0, 1, 2, 3]), 4),
            (finite("D4"), 7),
            (finite("Q8"), 5),
            // Copies of one irrep of real and of complex type.
            (Representation::so3(&[1, 1, 1, 1]), 10),
            (Representation::o2(&[1, 1, 1]), 6),
            (Representation::so2(&[1, 1, 1, 1]), 16),
        ];
        for (group, dimension) in groups {
            let mixing = orthogonal(group.dimension(), 7);
            let orbits = group.orbits(100, 3, &mixing, 1).unwrap();
            let found = Quadratic::of(&Moments::of(&orbits).unwrap()).unwrap();
            assert_eq!(found.elements.len() + 1, dimension);
            assert!(1.0 - found.last < 1e-12, "{} {}", found.last, found.next);
            // Elements commute with the action: each keeps yᵀ C y along other orbits.
            let others = group.orbits(5, 2, &mixing, 99).unwrap();
            let y = Moments::of(&others).unwrap();
            let y = Coefficients::of(y.members(), &found.whitening);
            for (orbit, element) in y.orbits.iter().zip(&found.elements) {
                let form = |m: usize| orbit.col(m).transpose() * element * orbit.col(m);
                assert!((form(0) - form(1)).abs() < 1e-5, "{} {}", form(0), form(1));
            }
        }
    }

    /// Samples [orbits · members, 2 · points] of complex numbers, moved by `turn` of a random number below 1.
    fn phases(points: usize, turn: impl Fn(f64) -> f64, noise: f64) -> Orbits {
        let (orbits, members) = (120, 8);
        let mut random = stream(5, Purpose::Noise);
        let mut samples = Array2::<f32>::zeros((orbits * members, 2 * points));
        for orbit in 0..orbits {
            let z: Vec<[f64; 2]> = (0..points)
                .map(|_| [(); 2].map(|()| random.sample(StandardNormal)))
                .collect();
            for member in 0..members {
                let (sin, cos) = (std::f64::consts::TAU * turn(random.random())).sin_cos();
                for (point, [re, im]) in z.iter().enumerate() {
                    let turned = [cos * re - sin * im, sin * re + cos * im];
                    for (part, value) in turned.into_iter().enumerate() {
                        let error: f64 = random.sample(StandardNormal);
                        let at = (orbit * members + member, 2 * point + part);
                        samples[at] = (value + noise * error) as f32;
                    }
                }
            }
        }
        let labels: Vec<i64> = (0..orbits * members)
            .map(|row| (row / members) as i64)
            .collect();
        Orbits::labelled(samples, &labels).unwrap()
    }

    #[test]
    fn an_unknown_phase_is_so2_and_one_of_four_phases_is_z4() {
        let name = |orbits: &Orbits| {
            let found = Compact::of(&Moments::of(orbits).unwrap(), 0).unwrap();
            found.name().to_string()
        };
        for noise in [0.0, 0.05] {
            assert_eq!(name(&phases(4, |u| u, noise)), "SO(2)");
            assert_eq!(name(&phases(4, |u| (4.0 * u).floor() / 4.0, noise)), "Z4");
        }
        // A fifth of a turn only: not a few elements.
        assert_eq!(name(&phases(4, |u| 0.2 * u, 0.0)), "SO(2)");
    }

    #[test]
    fn points_in_space_are_turned_by_so3_and_mirrored_by_o3() {
        let name = |group: &Representation| {
            let orbits = group
                .orbits(100, 6, &orthogonal(group.dimension(), 7), 1)
                .unwrap();
            let found = Compact::of(&Moments::of(&orbits).unwrap(), 0).unwrap();
            let third = found
                .forms()
                .iter()
                .filter(|form| form.irreps.len() == 3)
                .count();
            (found.name().to_string(), third)
        };
        assert_eq!(
            name(&Representation::so3(&[1, 1, 1, 1])),
            ("SO(3)".into(), 1)
        );
        // Two points have a mirror in the plane through them: every orbit of O(3) is one of SO(3).
        assert_eq!(name(&Representation::so3(&[0, 1, 1])), ("O(3)".into(), 0));
        assert_eq!(name(&Representation::o2(&[1, 1, 1])), ("O(2)".into(), 0));
    }
}
