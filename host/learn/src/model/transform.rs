//! The discrete Fourier transform of a product of cyclic groups, of [`LANES`] pairs of real signals side by side.
//!
//! Signals a and b are transformed as a + ib; Z_k = A_k + iB_k and A_−k = conj A_k part them again. Stockham's algorithm, axis
//! after axis: with n = p·m points left of an axis and s numbers between neighbours,
//! y[q + s(pj + r)] = w_n^jr Σ_t w_p^tr x[q + s(j + mt)].

#![allow(
    clippy::needless_range_loop,
    reason = "lanes of several arrays are taken at once"
)]

/// Signals side by side: a vector of AVX-512.
pub(super) const LANES: usize = 16;

/// A number of each signal.
pub(super) type Lanes = [f32; LANES];

/// Real and imaginary parts.
pub(super) type Planes = [Vec<Lanes>; 2];

/// One pass over all numbers.
#[derive(Debug, Clone)]
struct Pass {
    /// p.
    radix: usize,
    /// n / p.
    points: usize,
    /// s.
    stride: usize,
    /// w_p^k.
    roots: Vec<[f32; 2]>,
    /// w_n^jr for each j and r.
    turns: Vec<[f32; 2]>,
}

/// What is transformed, and how.
#[derive(Debug, Clone)]
pub(super) struct Transform {
    order: usize,
    passes: Vec<Pass>,
}

impl Transform {
    /// Of cyclic groups of these orders, the last fastest; `root` is w_m^k.
    pub(super) fn new(factors: &[usize], root: impl Fn(usize, usize) -> [f32; 2]) -> Self {
        let mut passes = Vec::new();
        let mut inner = 1;
        for &factor in factors.iter().rev() {
            let (mut left, mut stride) = (factor, inner);
            while left > 1 {
                let divides = |p: &usize| left.is_multiple_of(*p);
                let radix = [4]
                    .into_iter()
                    .chain(2..=left)
                    .find(divides)
                    .unwrap_or(left);
                let turn = |at: usize| root(left, at / radix * (at % radix) % left);
                passes.push(Pass {
                    radix,
                    points: left / radix,
                    stride,
                    roots: (0..radix).map(|k| root(radix, k)).collect(),
                    turns: (0..left).map(turn).collect(),
                });
                (left, stride) = (left / radix, stride * radix);
            }
            inner *= factor;
        }
        Transform {
            order: inner,
            passes,
        }
    }

    /// z ← its transform; `room` is overwritten.
    #[inline(always)]
    pub(super) fn apply(&self, z: &mut Planes, room: &mut Planes) {
        for part in &mut *room {
            part.resize(self.order, [0.0; LANES]);
        }
        for pass in &self.passes {
            pass.apply(z, room);
            std::mem::swap(z, room);
        }
    }
}

impl Pass {
    #[inline(always)]
    fn apply(&self, [x_re, x_im]: &Planes, [y_re, y_im]: &mut Planes) {
        let &Pass {
            radix,
            points,
            stride,
            ..
        } = self;
        let block = radix * points * stride;
        let blocks = (x_re.chunks_exact(block).zip(x_im.chunks_exact(block))).zip(
            y_re.chunks_exact_mut(block)
                .zip(y_im.chunks_exact_mut(block)),
        );
        for ((x_re, x_im), (y_re, y_im)) in blocks {
            for j in 0..points {
                let turns = &self.turns[radix * j..][..radix];
                let of = |t: usize| stride * (j + points * t)..stride * (j + points * t + 1);
                let to = stride * radix * j..stride * radix * (j + 1);
                let (y_re, y_im) = (&mut y_re[to.clone()], &mut y_im[to]);
                let x = |t: usize| (&x_re[of(t)], &x_im[of(t)]);
                match radix {
                    2 => two([0, 1].map(x), y_re, y_im, turns[1]),
                    4 => {
                        let turns = [turns[1], turns[2], turns[3]];
                        four([0, 1, 2, 3].map(x), y_re, y_im, turns, self.roots[1][1]);
                    }
                    _ => {
                        for (r, turn) in turns.iter().enumerate() {
                            for q in 0..stride {
                                let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
                                for t in 0..radix {
                                    let [a, b] = self.roots[t * r % radix];
                                    let (x, y) = (&x_re[of(t)][q], &x_im[of(t)][q]);
                                    for lane in 0..LANES {
                                        re[lane] += a * x[lane] - b * y[lane];
                                        im[lane] += a * y[lane] + b * x[lane];
                                    }
                                }
                                let at = stride * r + q;
                                turned(re, im, *turn, &mut y_re[at], &mut y_im[at]);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// (re + i im)(a + ib)
#[inline(always)]
fn turned(re: Lanes, im: Lanes, [a, b]: [f32; 2], to_re: &mut Lanes, to_im: &mut Lanes) {
    for lane in 0..LANES {
        to_re[lane] = a * re[lane] - b * im[lane];
        to_im[lane] = a * im[lane] + b * re[lane];
    }
}

#[inline(always)]
fn sum(a: &Lanes, b: &Lanes) -> Lanes {
    std::array::from_fn(|lane| a[lane] + b[lane])
}

#[inline(always)]
fn difference(a: &Lanes, b: &Lanes) -> Lanes {
    std::array::from_fn(|lane| a[lane] - b[lane])
}

type Row<'a> = (&'a [Lanes], &'a [Lanes]);

#[inline(always)]
fn two(x: [Row<'_>; 2], y_re: &mut [Lanes], y_im: &mut [Lanes], turn: [f32; 2]) {
    let stride = x[0].0.len();
    let (re_0, re_1) = y_re.split_at_mut(stride);
    let (im_0, im_1) = y_im.split_at_mut(stride);
    for q in 0..stride {
        let [(a, b), (c, d)] = x.map(|(re, im)| (&re[q], &im[q]));
        (re_0[q], im_0[q]) = (sum(a, c), sum(b, d));
        let (re, im) = (difference(a, c), difference(b, d));
        turned(re, im, turn, &mut re_1[q], &mut im_1[q]);
    }
}

/// `quarter` is the imaginary part of w_4: ±1.
#[inline(always)]
fn four(
    x: [Row<'_>; 4],
    y_re: &mut [Lanes],
    y_im: &mut [Lanes],
    turns: [[f32; 2]; 3],
    quarter: f32,
) {
    let stride = x[0].0.len();
    let (re_0, re) = y_re.split_at_mut(stride);
    let (re_1, re) = re.split_at_mut(stride);
    let (re_2, re_3) = re.split_at_mut(stride);
    let (im_0, im) = y_im.split_at_mut(stride);
    let (im_1, im) = im.split_at_mut(stride);
    let (im_2, im_3) = im.split_at_mut(stride);
    for q in 0..stride {
        let [(a, b), (c, d), (e, f), (g, h)] = x.map(|(re, im)| (&re[q], &im[q]));
        let even = (sum(a, e), sum(b, f));
        let odd = (sum(c, g), sum(d, h));
        let less = (difference(a, e), difference(b, f));
        let (re, im) = (difference(c, g), difference(d, h));
        // w_4 times those.
        let rest = (im.map(|x| -quarter * x), re.map(|x| quarter * x));
        (re_0[q], im_0[q]) = (sum(&even.0, &odd.0), sum(&even.1, &odd.1));
        let (re, im) = (sum(&less.0, &rest.0), sum(&less.1, &rest.1));
        turned(re, im, turns[0], &mut re_1[q], &mut im_1[q]);
        let (re, im) = (difference(&even.0, &odd.0), difference(&even.1, &odd.1));
        turned(re, im, turns[1], &mut re_2[q], &mut im_2[q]);
        let (re, im) = (difference(&less.0, &rest.0), difference(&less.1, &rest.1));
        turned(re, im, turns[2], &mut re_3[q], &mut im_3[q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn root(m: usize, k: usize) -> [f32; 2] {
        let (sin, cos) = (-TAU * k as f64 / m as f64).sin_cos();
        [cos as f32, sin as f32]
    }

    #[test]
    fn it_is_the_sum_that_defines_it() {
        for factors in [
            &[1_usize][..],
            &[2],
            &[3],
            &[7],
            &[16],
            &[32],
            &[60],
            &[4, 4],
            &[2, 3, 5],
            &[9, 8],
            &[2, 2, 2],
        ] {
            let order: usize = factors.iter().product();
            let number = |n: usize, lane: usize, part: usize| {
                ((7 * n + 13 * lane * lane + 5 * part) as f32).sin()
            };
            let plane = |part| {
                let lanes = |n| std::array::from_fn(|lane| number(n, lane, part));
                (0..order).map(lanes).collect::<Vec<Lanes>>()
            };
            let mut z = [plane(0), plane(1)];
            Transform::new(factors, root).apply(&mut z, &mut Planes::default());
            for (k, lane) in (0..order).flat_map(|k| (0..LANES).map(move |lane| (k, lane))) {
                let (mut expected, mut sum) = ([0.0, 0.0], 0.0);
                for n in 0..order {
                    let (mut left, mut at, mut turns) = (k, n, 0.0);
                    for &m in factors.iter().rev() {
                        turns += (left % m * (at % m) % m) as f64 / m as f64;
                        (left, at) = (left / m, at / m);
                    }
                    let (sin, cos) = (-TAU * turns).sin_cos();
                    let [x, y] = [0, 1].map(|part| f64::from(number(n, lane, part)));
                    expected[0] += x * cos - y * sin;
                    expected[1] += x * sin + y * cos;
                    sum += x.hypot(y);
                }
                for (part, expected) in z.iter().zip(expected) {
                    // Up to four passes, each of which rounds sums, products with roots and turns.
                    let most = 4.0 * 3.0 * 2_f64.powi(-24) * sum;
                    let off = (f64::from(part[k][lane]) - expected).abs();
                    assert!(off <= most, "{factors:?}: {k}, signal {lane}: off by {off}");
                }
            }
        }
    }
}
