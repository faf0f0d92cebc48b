//! Structure `conjugates`: rows of W that are conjugates of others are stored and computed once.
//!
//! With v = W_a ⊙ x of a stored row a, the four sums P = Σ v_re w_re, Q = Σ v_im w_im, S = Σ v_re w_im and T = Σ v_im w_re
//! over a stored row w = W_b are two products, (W_a ⊙ W_b) x = (P − Q, S + T) and (W_a ⊙ W̄_b) x = (P + Q, T − S), and
//! their conjugates two more. Where a row stands right behind its conjugate, each pair of stored rows is summed once for
//! both.
//!
//! **The order.** Each sum has [`LANES`] partial sums, half as many as those of a dense model, since there are twice as
//! many sums: term n goes to lane n mod 4, in the order of n, and the lanes are added as (0+2) + (1+3).

use crate::bispectrum::{Scale, Scratch, coefficients, triple};
use crate::fold::{Fold, folded};
use crate::kernel::{Coefficients, Kernel};
use crate::magnitude::Accumulator;
use crate::pairs::Order;
use crate::sample::Signal;
use crate::significance::Measured;
use crate::weights::{Element, Row, Rows};
use num_complex::Complex32;

/// Independent partial sums of each of the four: sixteen of the Cortex-M4F's 32 registers.
const LANES: usize = 4;

type Lanes = [f32; LANES];

/// P, Q, S and T.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sums {
    p: f32,
    q: f32,
    s: f32,
    t: f32,
}

/// The sums of a row that is read in place.
#[inline(always)]
pub(crate) fn sums<E: Element>(v: &[f32], row: Row<'_, E>) -> Sums {
    let (v_re, v_im) = v.split_at_checked(row.re.len()).unwrap_or_default();
    let mut sums = [[0.0; LANES]; 4];
    let [p, q, s, t] = &mut sums;
    let mut add = |l: usize, v_re: f32, v_im: f32, w_re: f32, w_im: f32| {
        p[l] += v_re * w_re;
        q[l] += v_im * w_im;
        s[l] += v_re * w_im;
        t[l] += v_im * w_re;
    };
    let (v_re, v_re_rest) = v_re.as_chunks::<LANES>();
    let (v_im, v_im_rest) = v_im.as_chunks::<LANES>();
    let (w_re, w_re_rest) = row.re.as_chunks::<LANES>();
    let (w_im, w_im_rest) = row.im.as_chunks::<LANES>();
    for (((v_re, v_im), w_re), w_im) in v_re.iter().zip(v_im).zip(w_re).zip(w_im) {
        for l in 0..LANES {
            add(l, v_re[l], v_im[l], w_re[l].value(), w_im[l].value());
        }
    }
    let rest = v_re_rest.iter().zip(v_im_rest);
    let rest = rest.zip(w_re_rest.iter().zip(w_im_rest));
    for (l, ((v_re, v_im), (w_re, w_im))) in (0..LANES).zip(rest) {
        add(l, *v_re, *v_im, w_re.value(), w_im.value());
    }
    Sums::total(sums)
}

/// [`sums`] of a row whose numbers are put together one by one: slower and smaller, with the same bits.
pub(crate) fn sums_of(v: &[f32], row: &dyn Fn(usize) -> Complex32) -> Sums {
    let (v_re, v_im) = v.split_at_checked(v.len() / 2).unwrap_or_default();
    let mut sums = [[0.0; LANES]; 4];
    let [p, q, s, t] = &mut sums;
    let add = |lanes: &mut Lanes, n: usize, value: f32| {
        if let Some(lane) = lanes.get_mut(n % LANES) {
            *lane += value;
        }
    };
    for (n, (v_re, v_im)) in v_re.iter().zip(v_im).enumerate() {
        let w = row(n);
        add(p, n, v_re * w.re);
        add(q, n, v_im * w.im);
        add(s, n, v_re * w.im);
        add(t, n, v_im * w.re);
    }
    Sums::total(sums)
}

impl Sums {
    fn total(sums: [Lanes; 4]) -> Self {
        let [p, q, s, t] = sums.map(total);
        Sums { p, q, s, t }
    }

    /// z_ij, where i is the row of v or its conjugate, and j the other or its conjugate.
    #[inline(always)]
    fn product(self, i_conjugated: bool, j_conjugated: bool) -> Complex32 {
        let Sums { p, q, s, t } = self;
        let product = if i_conjugated == j_conjugated {
            Complex32::new(p - q, s + t)
        } else {
            Complex32::new(p + q, t - s)
        };
        if i_conjugated {
            product.conj()
        } else {
            product
        }
    }
}

#[inline(always)]
fn total(l: Lanes) -> f32 {
    (l[0] + l[2]) + (l[1] + l[3])
}

/// W whose conjugate rows are stored once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conjugates<'a, W> {
    pub(crate) weights: W,
    pub(crate) fold: Fold<'a>,
    pub(crate) inputs: usize,
    pub(crate) stored_rows: usize,
}

impl<W: Rows> Kernel for Conjugates<'_, W> {
    fn scratch_len(&self) -> usize {
        2 * self.inputs + 2 * self.stored_rows
    }

    fn is_aligned(&self) -> bool {
        self.weights.is_aligned()
    }

    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        self.fold.weight(row, |row| self.weights.get(row, column))
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> Coefficients<'s> {
        let mut scratch = Scratch::split(scratch, self.inputs);
        coefficients(&self.weights, x, scale, &mut scratch);
        Coefficients::Complex(scratch.z)
    }

    fn coefficient(&self, z: &Coefficients<'_>, row: usize) -> Complex32 {
        self.fold.coefficient(z.complex(), row)
    }

    #[inline]
    fn each_term(
        &self,
        order: Order<'_>,
        x: Signal<'_>,
        scale: Scale,
        scratch: &mut [f32],
        mut each: impl FnMut(usize, usize, Complex32),
    ) -> Measured {
        each_term(self, order, x, scale, scratch, &mut each)
    }
}

/// Every β_ij of the scaled signal in the order of the pairs, and their norm.
#[inline(never)]
fn each_term<W: Rows>(
    Conjugates {
        weights,
        fold,
        inputs,
        ..
    }: &Conjugates<'_, W>,
    order: Order<'_>,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: &mut dyn FnMut(usize, usize, Complex32),
) -> Measured {
    let mut scratch = Scratch::split(scratch, *inputs);
    coefficients(weights, x, scale, &mut scratch);
    let Scratch { v, z } = scratch;
    let energy = scale.energy(x, fold.coefficients(z));
    let mut squares = Accumulator::default();
    // No row has this number.
    let (mut weighed, mut summed) = (usize::MAX, usize::MAX);
    let mut sums = Sums::default();
    for (i, j) in order.iter() {
        let ((a, i_conjugated), (b, j_conjugated)) = (fold.stored(i), fold.stored(j));
        if weighed != a {
            weights.weigh(a, x, scale, v);
            (weighed, summed) = (a, usize::MAX);
        }
        if summed != b {
            sums = weights.sums(v, b);
            summed = b;
        }
        let s = sums.product(i_conjugated, j_conjugated);
        let term = triple(folded(z, a, i_conjugated), folded(z, b, j_conjugated), s);
        squares.add(term);
        each(i, j, term);
    }
    let magnitude = squares.finish(scale.bispectrum());
    scale.floor().measure(magnitude, energy)
}
