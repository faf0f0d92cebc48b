//! Rotations of space on real spherical harmonics, and the harmonics themselves.
//!
//! Coefficients of degree l are in the order −l, …, l: at l + m stands that of cos mφ, at l − m that of sin mφ. A rotation by the
//! angles α, β, γ about z, y and z moves them by Z(α) Q Z(β) Qᵀ Z(γ), with Z the rotation about z and Q a quarter turn
//! about x, which takes one axis to the other.

use faer::Mat;
use num_complex::Complex64;
use std::f64::consts::{FRAC_PI_2, PI};

/// How rotations move the coefficients of one degree.
#[derive(Debug, Clone)]
pub struct Degree {
    l: usize,
    /// Q.
    turn: Mat<f64>,
    /// Its rows, and its columns, one behind the other.
    rows: Vec<f64>,
    columns: Vec<f64>,
    /// The rows of the generators.
    small: [Vec<f64>; 3],
}

impl Degree {
    /// Of degree l.
    #[must_use]
    pub fn new(l: usize) -> Self {
        let turn = quarter_turn(l);
        let size = 2 * l + 1;
        let places = (0..size).flat_map(|a| (0..size).map(move |b| (a, b)));
        let list = |matrix: &Mat<f64>| places.clone().map(|at| matrix[at]).collect::<Vec<f64>>();
        Degree {
            l,
            rows: list(&turn),
            columns: list(&turn.transpose().to_owned()),
            small: generators(l, &turn).each_ref().map(list),
            turn,
        }
    }

    /// l.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.l
    }

    /// The matrix of the rotation with these angles about z, y and z.
    #[must_use]
    pub fn rotation(&self, [alpha, beta, gamma]: [f64; 3]) -> Mat<f64> {
        about_z(self.l, alpha)
            * &self.turn
            * about_z(self.l, beta)
            * self.turn.transpose()
            * about_z(self.l, gamma)
    }

    /// Coefficients moved by the rotation with these angles.
    ///
    /// # Panics
    /// There are not 2l + 1.
    #[must_use]
    pub fn rotated(&self, [alpha, beta, gamma]: [f64; 3], coefficients: &[f64]) -> Vec<f64> {
        let times = |matrix: &[f64], vector: &[f64]| -> Vec<f64> {
            let rows = matrix.chunks_exact(2 * self.l + 1);
            rows.map(|row| row.iter().zip(vector).map(|(m, v)| m * v).sum())
                .collect()
        };
        assert_eq!(coefficients.len(), 2 * self.l + 1, "one a coefficient");
        let mut moved = coefficients.to_vec();
        self.turn_about_z(gamma, &mut moved);
        moved = times(&self.columns, &moved);
        self.turn_about_z(beta, &mut moved);
        moved = times(&self.rows, &moved);
        self.turn_about_z(alpha, &mut moved);
        moved
    }

    /// What small rotations about x, y and z do to coefficients: J₁ v, J₂ v and J₃ v.
    #[must_use]
    pub fn changes(&self, v: &[f64]) -> [Vec<f64>; 3] {
        self.small.each_ref().map(|rows| {
            let rows = rows.chunks_exact(2 * self.l + 1);
            rows.map(|row| row.iter().zip(v).map(|(m, v)| m * v).sum())
                .collect()
        })
    }

    fn turn_about_z(&self, angle: f64, coefficients: &mut [f64]) {
        let l = self.l;
        for m in 1..=l {
            let (sin, cos) = (m as f64 * angle).sin_cos();
            let (re, im) = (coefficients[l + m], coefficients[l - m]);
            coefficients[l + m] = cos * re - sin * im;
            coefficients[l - m] = cos * im + sin * re;
        }
    }

    /// What rotations by small angles about x, y and z do: antisymmetric matrices with [J₁, J₂] = J₃ and so on.
    #[must_use]
    pub fn generators(&self) -> [Mat<f64>; 3] {
        generators(self.l, &self.turn)
    }
}

fn generators(l: usize, turn: &Mat<f64>) -> [Mat<f64>; 3] {
    let mut third = Mat::zeros(2 * l + 1, 2 * l + 1);
    for m in 1..=l {
        third[(l - m, l + m)] = m as f64;
        third[(l + m, l - m)] = -(m as f64);
    }
    let second = turn * &third * turn.transpose();
    let first = &second * &third - &third * &second;
    [first, second, third]
}

/// The rotation about z by `angle` on real spherical harmonics of degree l: orders m and −m turn by m times the angle.
pub(crate) fn about_z(l: usize, angle: f64) -> Mat<f64> {
    let mut matrix = Mat::zeros(2 * l + 1, 2 * l + 1);
    matrix[(l, l)] = 1.0;
    for m in 1..=l {
        let (sin, cos) = (m as f64 * angle).sin_cos();
        matrix[(l + m, l + m)] = cos;
        matrix[(l - m, l - m)] = cos;
        matrix[(l - m, l + m)] = sin;
        matrix[(l + m, l - m)] = -sin;
    }
    matrix
}

/// Row: a real harmonic in complex ones.
fn real_in_complex(l: usize) -> Mat<Complex64> {
    let half = 0.5_f64.sqrt();
    Mat::from_fn(2 * l + 1, 2 * l + 1, |row, column| {
        let (m, n) = (row as i64 - l as i64, column as i64 - l as i64);
        let sign = if m % 2 == 0 { half } else { -half };
        match m {
            0 => Complex64::new(f64::from(u8::from(n == 0)), 0.0),
            m if m > 0 && n == m => Complex64::new(sign, 0.0),
            m if m > 0 && n == -m => Complex64::new(half, 0.0),
            m if m < 0 && n == m => Complex64::new(0.0, half),
            m if m < 0 && n == -m => Complex64::new(0.0, -sign),
            _ => Complex64::ZERO,
        }
    })
}

/// The rotation about x by a quarter turn on real spherical harmonics of degree l: exp of π/2 times its generator.
pub(crate) fn quarter_turn(l: usize) -> Mat<f64> {
    let size = 2 * l + 1;
    let order = |at: usize| at as f64 - l as f64;
    // −i J_x in the basis of complex harmonics.
    let ladder = |m: f64| 0.5 * ((l as f64 - m) * (l as f64 + m + 1.0)).max(0.0).sqrt();
    let complex = Mat::from_fn(size, size, |row, column| {
        let value = if row == column + 1 {
            ladder(order(column))
        } else if column == row + 1 {
            ladder(order(row))
        } else {
            0.0
        };
        Complex64::new(0.0, -value)
    });
    let to_real = real_in_complex(l);
    let product = |a: &Mat<Complex64>, b: &Mat<Complex64>| {
        Mat::from_fn(size, size, |row, column| {
            (0..size)
                .map(|k| a[(row, k)] * b[(k, column)])
                .sum::<Complex64>()
        })
    };
    let adjoint = Mat::from_fn(size, size, |row, column| to_real[(column, row)].conj());
    // Coefficients move by the conjugate of what harmonics do, which is the same real matrix.
    let generator = product(&product(&to_real, &complex), &adjoint);
    let mut power = Mat::from_fn(size, size, |r, c| generator[(r, c)].re * FRAC_PI_2 / 1024.0);
    let scaled = power.clone();
    let mut sum = Mat::<f64>::identity(size, size) + &power;
    for k in 2..12 {
        power = &power * &scaled * faer::Scale(1.0 / f64::from(k));
        sum += &power;
    }
    for _ in 0..10 {
        sum = &sum * &sum;
    }
    sum
}

/// The form of coefficients of degrees a, b and c that no rotation changes, of length 1, the last index fastest; `None` where
/// the triangle's inequality does not hold and there is none. Up to a factor its numbers are Wigner's 3j symbols, computed
/// by ladder operators.
#[must_use]
pub fn invariant_form(degrees: [usize; 3]) -> Option<Vec<f64>> {
    let [a, b, c] = degrees;
    if a > b + c || b > a + c || c > a + b {
        return None;
    }
    let (l, k, n) = (a as i64, b as i64, c as i64);
    let raise = |l: i64, m: i64| (((l - m) * (l + m + 1)) as f64).sqrt();
    // |c, c⟩ in products of the first two: what raising both kills.
    let mut vector = vec![vec![0.0; 2 * b + 1]; 2 * a + 1];
    let low = (n - k).max(-l);
    let mut value = 1.0;
    for m in low..=l.min(n + k) {
        vector[(m + l) as usize][(n - m + k) as usize] = value;
        if n - m > -k && m < l {
            value *= -raise(l, m) / raise(k, n - m - 1);
        }
    }
    // Each |c, m⟩ by lowering the one before; the form pairs it with |c, −m⟩ and a sign.
    let mut form = vec![Complex64::ZERO; (2 * a + 1) * (2 * b + 1) * (2 * c + 1)];
    let at = |i: usize, j: usize, k: usize| (i * (2 * b + 1) + j) * (2 * c + 1) + k;
    for m in (-n..=n).rev() {
        let sign = if (n - m) % 2 == 0 { 1.0 } else { -1.0 };
        for (i, row) in vector.iter().enumerate() {
            for (j, &value) in row.iter().enumerate() {
                form[at(i, j, (n - m) as usize)] = Complex64::new(sign * value, 0.0);
            }
        }
        if m > -n {
            let norm = raise(n, m - 1);
            let mut next = vec![vec![0.0; 2 * b + 1]; 2 * a + 1];
            for i in 0..=2 * a {
                for j in 0..=2 * b {
                    let (first, second) = (i as i64 - l, j as i64 - k);
                    if i > 0 {
                        next[i - 1][j] += raise(l, first - 1) * vector[i][j] / norm;
                    }
                    if j > 0 {
                        next[i][j - 1] += raise(k, second - 1) * vector[i][j] / norm;
                    }
                }
            }
            vector = next;
        }
    }
    // To real harmonics, index by index: two complex ones are in each.
    for (slot, &l) in degrees.iter().enumerate() {
        let change = real_in_complex(l);
        let stride: usize = degrees[slot + 1..].iter().map(|l| 2 * l + 1).product();
        let mut next = vec![Complex64::ZERO; form.len()];
        for (place, &value) in form.iter().enumerate() {
            if value == Complex64::ZERO {
                continue;
            }
            let index = place / stride % (2 * l + 1);
            let opposite = 2 * l - index;
            for row in [index, opposite] {
                next[place - index * stride + row * stride] += change[(row, index)].conj() * value;
                if opposite == index {
                    break;
                }
            }
        }
        form = next;
    }
    // All real or all imaginary, by whether the degrees' sum is even.
    let squares = |part: fn(&Complex64) -> f64| form.iter().map(|x| part(x).powi(2)).sum::<f64>();
    let (re, im) = (squares(|x| x.re), squares(|x| x.im));
    let part = |x: &Complex64| if re > im { x.re } else { x.im };
    let length = re.max(im).sqrt();
    let clean = |x: &Complex64| {
        let value = part(x) / length;
        if value.abs() > 1e-13 { value } else { 0.0 }
    };
    Some(form.iter().map(clean).collect())
}

/// Real spherical harmonics of degrees 0 to `most` at a point of the sphere, orthonormal over it: those of degree l from l².
#[must_use]
pub fn harmonics(most: usize, [x, y, z]: [f64; 3]) -> Vec<f64> {
    let mut out = vec![0.0; (most + 1) * (most + 1)];
    // Re and Im of (x + i y)^m, and normalised Legendre functions without sin^m θ.
    let mut power = Complex64::new(1.0, 0.0);
    let mut diagonal = (1.0 / (4.0 * PI)).sqrt();
    for m in 0..=most {
        if m > 0 {
            power *= Complex64::new(x, y);
            diagonal *= ((2 * m + 1) as f64 / (2 * m) as f64).sqrt();
        }
        let [mut before, mut now] = [0.0, diagonal];
        for l in m..=most {
            if l > m {
                let (l, m) = (l as f64, m as f64);
                let a = ((4.0 * l * l - 1.0) / (l * l - m * m)).sqrt();
                let last = l - 1.0;
                let b = if last > m {
                    ((last * last - m * m) / (4.0 * last * last - 1.0)).sqrt()
                } else {
                    0.0
                };
                (before, now) = (now, a * (z * now - b * before));
            }
            let at = l * l + l;
            if m == 0 {
                out[at] = now;
            } else {
                out[at + m] = 2_f64.sqrt() * now * power.re;
                out[at - m] = 2_f64.sqrt() * now * power.im;
            }
        }
    }
    out
}

/// Points of the sphere, as evenly as a spiral spreads them.
#[must_use]
pub fn spread(count: usize) -> Vec<[f64; 3]> {
    // The golden angle.
    let turn = PI * (3.0 - 5_f64.sqrt());
    let point = |k: usize| {
        let z = 1.0 - (2 * k + 1) as f64 / count as f64;
        let (sin, cos) = (k as f64 * turn).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        [radius * cos, radius * sin, z]
    };
    (0..count).map(point).collect()
}

/// The matrix of a rotation by angles about z, y and z on points.
#[must_use]
pub fn rotation_of_space([alpha, beta, gamma]: [f64; 3]) -> [[f64; 3]; 3] {
    let about_z = |angle: f64| {
        let (s, c) = angle.sin_cos();
        [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
    };
    let (s, c) = beta.sin_cos();
    let about_y = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]];
    let product = |a: [[f64; 3]; 3], b: [[f64; 3]; 3]| {
        let entry = |i: usize, j: usize| (0..3).map(|k| a[i][k] * b[k][j]).sum::<f64>();
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
    };
    product(product(about_z(alpha), about_y), about_z(gamma))
}

/// The angles about z, y and z of a rotation of space.
#[must_use]
pub fn angles(rotation: [[f64; 3]; 3]) -> [f64; 3] {
    let r = rotation;
    let beta = r[2][0].hypot(r[2][1]).atan2(r[2][2]);
    // Where y does not turn, both other angles are about one axis.
    if r[2][0].hypot(r[2][1]) < 1e-12 {
        return [(r[1][0] * r[2][2].signum()).atan2(r[1][1]), beta, 0.0];
    }
    [r[1][2].atan2(r[0][2]), beta, r[2][1].atan2(-r[2][0])]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANGLES: [f64; 3] = [0.7, 1.1, -2.3];
    const POINT: [f64; 3] = [0.48, -0.6, 0.64];

    #[test]
    fn coefficients_move_as_functions_on_the_sphere_do() {
        let turn = rotation_of_space(ANGLES);
        // f moved by g at p is f at g⁻¹ p.
        let back = [0, 1, 2].map(|j| (0..3).map(|i| turn[i][j] * POINT[i]).sum::<f64>());
        let (here, there) = (harmonics(9, POINT), harmonics(9, back));
        for l in 0..=9 {
            let matrix = Degree::new(l).rotation(ANGLES);
            let range = l * l..(l + 1) * (l + 1);
            for k in 0..=2 * l {
                let moved: f64 = (range.clone().zip(0..))
                    .map(|(at, row)| here[at] * matrix[(row, k)])
                    .sum();
                let expected = there[l * l + k];
                assert!(
                    (moved - expected).abs() < 1e-10,
                    "{l} {k}: {moved} {expected}"
                );
            }
        }
    }

    #[test]
    fn a_rotation_has_its_angles_and_moves_coefficients_as_its_matrix_does() {
        for given in [ANGLES, [0.4, 0.0, 0.0], [0.4, PI, 0.0], [-3.0, 2.9, 3.0]] {
            let turn = rotation_of_space(given);
            let again = rotation_of_space(angles(turn));
            for (a, b) in turn.iter().flatten().zip(again.iter().flatten()) {
                assert!((a - b).abs() < 1e-12, "{given:?}: {turn:?} {again:?}");
            }
        }
        let degree = Degree::new(3);
        let vector = [0.3, -0.2, 0.9, 0.1, -0.7, 0.5, 0.4];
        let moved = degree.rotated(ANGLES, &vector);
        let matrix = degree.rotation(ANGLES);
        for (row, moved) in moved.iter().enumerate() {
            let expected: f64 = (0..7).map(|k| matrix[(row, k)] * vector[k]).sum();
            assert!((moved - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn generators_are_those_of_rotations() {
        for l in 1..7 {
            let degree = Degree::new(l);
            let [a, b, c] = degree.generators();
            for (a, b, c) in [(&a, &b, &c), (&b, &c, &a), (&c, &a, &b)] {
                assert!((a * b - b * a - c).norm_max() < 1e-9, "{l}");
            }
        }
    }

    /// Racah's formula for Wigner's 3j symbols.
    fn wigner(l: [i64; 3], m: [i64; 3]) -> f64 {
        let factorial = |n: i64| (1..=n).map(|k| k as f64).product::<f64>();
        if m.iter().sum::<i64>() != 0 {
            return 0.0;
        }
        let [a, b, c] = l;
        let triangle = factorial(a + b - c) * factorial(a - b + c) * factorial(b + c - a)
            / factorial(a + b + c + 1);
        let roots: f64 = (l.iter().zip(m))
            .map(|(&l, m)| factorial(l + m) * factorial(l - m))
            .product();
        let term = |t: i64| {
            let parts = [
                t,
                c - b + t + m[0],
                c - a + t - m[1],
                a + b - c - t,
                a - t - m[0],
                b - t + m[1],
            ];
            let sign = if t % 2 == 0 { 1.0 } else { -1.0 };
            let all = parts.iter().all(|&part| part >= 0);
            if all {
                sign / parts.iter().map(|&part| factorial(part)).product::<f64>()
            } else {
                0.0
            }
        };
        let sign = if (a - b - m[2]) % 2 == 0 { 1.0 } else { -1.0 };
        sign * (triangle * roots).sqrt() * (0..=a + b + c).map(term).sum::<f64>()
    }

    #[test]
    fn forms_are_wigners_symbols_and_no_rotation_changes_them() {
        for degrees in [
            [1, 1, 2],
            [2, 2, 2],
            [1, 2, 2],
            [2, 3, 4],
            [3, 5, 8],
            [0, 4, 4],
        ] {
            let form = invariant_form(degrees).unwrap();
            let dims = degrees.map(|l| 2 * l + 1);
            // In complex harmonics, by which it is compared with the formula.
            let changes = degrees.map(real_in_complex);
            let [l, k, n] = degrees.map(|l| l as i64);
            let mut product = Complex64::ZERO;
            for (at, &value) in form.iter().enumerate() {
                let index = [at / dims[2] / dims[1], at / dims[2] % dims[1], at % dims[2]];
                for m in -l..=l {
                    for p in -k..=k {
                        let order = [m, p, -m - p];
                        if order[2].abs() > n || value == 0.0 {
                            continue;
                        }
                        let change: Complex64 = (0..3)
                            .map(|slot| {
                                let column = order[slot] + degrees[slot] as i64;
                                changes[slot][(index[slot], column as usize)]
                            })
                            .product();
                        product += change * value * wigner([l, k, n], order);
                    }
                }
            }
            // Both have length 1: the product of 3j symbols with themselves is 1.
            assert!(
                (product.norm() - 1.0).abs() < 1e-12,
                "{degrees:?}: {product}"
            );

            let turns = degrees.map(|l| Degree::new(l).rotation(ANGLES));
            for out in [[0, 0, 0], [1, 2, 0], [dims[0] - 1, 1, dims[2] - 1]] {
                let out = [0, 1, 2].map(|k| out[k].min(dims[k] - 1));
                let mut moved = 0.0;
                for (at, &value) in form.iter().enumerate() {
                    let index = [at / dims[2] / dims[1], at / dims[2] % dims[1], at % dims[2]];
                    moved += value
                        * (0..3)
                            .map(|s| turns[s][(out[s], index[s])])
                            .product::<f64>();
                }
                let expected = form[(out[0] * dims[1] + out[1]) * dims[2] + out[2]];
                assert!((moved - expected).abs() < 1e-10, "{degrees:?}");
            }
        }
        assert_eq!(invariant_form([1, 2, 4]), None);
    }
}
