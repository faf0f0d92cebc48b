//! Z_k = a Σ_g x_g χ_k(g): x goes to the elements its samples stand at, and is transformed along one factor after the
//! other.
//!
//! x is real, so Z_−k is the conjugate of Z_k. The longest factor comes first; of its outputs only those of k ≤ m/2 are
//! transformed along the others, the last factor before the first, and the rest is filled in at the end.
//!
//! **The order.** Samples at one element, each times a, are added in the order of the samples. The roots of a factor are
//! those of the model times 1/a, rounded to f32. A sum along the factor adds its terms in the order of the coordinate,
//! v_re·w_re and then −v_im·w_im to the real part, v_re·w_im and then v_im·w_re to the imaginary part.

use super::fft::fast;
use super::{Cyclic, at, number, wrapped};
use crate::bispectrum::Scale;
use crate::format::Transform;
use crate::scaling::PowerOfTwo;
use crate::weights::with_matrix;
use num_complex::Complex32;

/// A factor: its order m, and how far apart neighbours along it are.
#[derive(Clone, Copy, PartialEq)]
struct Axis {
    m: usize,
    stride: usize,
}

impl Axis {
    /// The coordinate of an element along this factor.
    fn coordinate(self, element: usize) -> usize {
        element / self.stride.max(1) % self.m.max(1)
    }

    /// The first elements of the lines along this factor, of a group of this order.
    fn lines(self, order: usize) -> impl Iterator<Item = usize> {
        let firsts = (0..order).step_by((self.m * self.stride).max(1));
        firsts.flat_map(move |first| first..first + self.stride)
    }
}

impl Cyclic<'_> {
    /// Z of the scaled signal, at the front of the scratch.
    pub(super) fn coefficients<'s>(
        &self,
        x: &[f32],
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> &'s [Complex32] {
        let scratch: &mut [Complex32] = bytemuck::try_cast_slice_mut(scratch).unwrap_or_default();
        let (z, line) = scratch.split_at_mut_checked(self.order).unwrap_or_default();
        self.place_samples(x, scale.signal(), z);
        let longest = self.longest();
        self.along(longest, longest, z, line);
        for axis in self.axes().filter(|axis| *axis != longest) {
            self.along(axis, longest, z, line);
        }
        self.fill_in(longest, z);
        z
    }

    /// The factors that do something, the last first.
    fn axes(&self) -> impl Iterator<Item = Axis> {
        let mut stride = 1;
        let axes = self.factors.iter().rev().map(move |m| {
            let m = number(m).max(1);
            let axis = Axis { m, stride };
            stride *= m;
            axis
        });
        axes.filter(|axis| axis.m > 1)
    }

    /// The longest factor; of several, the one whose neighbours are closest.
    fn longest(&self) -> Axis {
        let none = Axis { m: 1, stride: 1 };
        let longer = |a: Axis, b: Axis| if b.m > a.m { b } else { a };
        self.axes().fold(none, longer)
    }

    /// Samples to their elements, times a·2^-E_w.
    fn place_samples(&self, x: &[f32], scale: PowerOfTwo, z: &mut [Complex32]) {
        z.fill(Complex32::ZERO);
        for (x, element) in x.iter().zip(self.elements) {
            if let Some(z) = z.get_mut(number(element)) {
                z.re += scale.scale(*x) * self.amplitude;
            }
        }
    }

    /// Every line along a factor. Along the longest, which is the first, all are real and half of a line is enough;
    /// along another, those lines are left out which are conjugates.
    fn along(&self, axis: Axis, longest: Axis, z: &mut [Complex32], scratch: &mut [Complex32]) {
        let Axis { m, stride } = axis;
        let (line, roots) = scratch.split_at_mut_checked(m).unwrap_or_default();
        let roots = roots.get_mut(..m).unwrap_or_default();
        self.write_roots(roots);
        let outputs = if axis == longest { m / 2 + 1 } else { m };
        for from in axis.lines(self.order) {
            if axis != longest && longest.coordinate(from) > longest.m / 2 {
                continue;
            }
            let z = z.get_mut(from..).unwrap_or_default();
            let gathered = line.iter_mut().zip(z.iter().step_by(stride.max(1)));
            gathered.for_each(|(v, z)| *v = *z);
            let scattered = z.iter_mut().step_by(stride.max(1)).take(outputs);
            if self.transform == Transform::Fft && fast(line) {
                scattered.zip(&*line).for_each(|(z, v)| *z = *v);
            } else if axis == longest {
                sums(scattered, line, roots, |sum, v, w| {
                    sum.re += v.re * w.re;
                    sum.im += v.re * w.im;
                });
            } else {
                sums(scattered, line, roots, |sum, v, w| {
                    sum.re += v.re * w.re;
                    sum.re -= v.im * w.im;
                    sum.im += v.re * w.im;
                    sum.im += v.im * w.re;
                });
            }
        }
    }

    /// exp(−2πi t/m) for a factor of order m.
    fn write_roots(&self, roots: &mut [Complex32]) {
        let step = self.exponent / roots.len().max(1);
        with_matrix!(self.roots, w => {
            let stored = w.row(0);
            for (t, root) in roots.iter_mut().enumerate() {
                *root = stored.get(t * step).unwrap_or_default() * self.reciprocal;
            }
        });
    }

    /// Z_k = conj(Z_−k) for the other half.
    fn fill_in(&self, longest: Axis, z: &mut [Complex32]) {
        let Axis { m, stride } = longest;
        for from in longest.lines(self.order) {
            let negative = self.negative(from);
            for k in m / 2 + 1..m {
                let value = at(z, negative + (m - k) * stride).conj();
                if let Some(z) = z.get_mut(from + k * stride) {
                    *z = value;
                }
            }
        }
    }

    /// −k.
    fn negative(&self, k: usize) -> usize {
        let along = |axis: Axis| axis.stride * wrapped(axis.m - axis.coordinate(k), axis.m);
        self.axes().map(along).sum()
    }
}

/// Σ_g v_g w^(k g) for k = 0, 1, … of the outputs, w the first root of unity.
#[inline(always)]
fn sums<'z>(
    outputs: impl Iterator<Item = &'z mut Complex32>,
    line: &[Complex32],
    roots: &[Complex32],
    add: impl Fn(&mut Complex32, Complex32, Complex32),
) {
    for (k, output) in outputs.enumerate() {
        let (mut sum, mut root) = (Complex32::ZERO, 0);
        for v in line {
            add(&mut sum, *v, at(roots, root));
            root = wrapped(root + k, roots.len());
        }
        *output = sum;
    }
}
