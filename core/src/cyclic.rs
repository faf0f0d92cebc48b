//! W of characters of a product of cyclic groups: z_i = Z[k_i] and z_ij = a·Z[k_i + k_j], with Z the coefficients of all
//! characters. No row is stored.
//!
//! **The transform.** Z_k = a Σ_g x_g χ_k(g): x goes to the elements its samples stand at, and is transformed along one
//! factor after the other. x is real, so Z_−k is the conjugate of Z_k. The longest factor comes first; of its outputs only
//! those of k ≤ m/2 are transformed along the others, the last factor before the first, and the rest is filled in at the
//! end.
//!
//! **The order.** Samples at one element, each times a, are added in the order of the samples. The roots of a factor are
//! those of the model times 1/a, rounded to f32. A sum along the factor adds its terms in the order of the coordinate,
//! v_re·w_re and then −v_im·w_im to the real part, v_re·w_im and then v_im·w_re to the imaginary part.
//!
//! **The terms.** One takes some thirty instructions, whatever N is. Elements are numbered with the last factor fastest, so where the
//! characters of consecutive rows are consecutive numbers, those of their products are, too: both are read as runs, and
//! the sum of two characters is computed once a run.

mod fft;
mod fixed;
#[cfg(feature = "sliding")]
mod window;

use crate::bispectrum::{Scale, triple};
use crate::error::Error;
use crate::feature::Feature;
use crate::format::{Transform, numbers, order_and_exponent};
use crate::kernel::{Coefficients, Kernel};
use crate::magnitude::{Accumulator, BLOCK, Block, Blocks, Magnitude};
use crate::pairs::Order;
use crate::sample::Signal;
use crate::scaling::{PowerOfTwo, power_of_two};
use crate::significance::{Energy, Measured, energy_of_coefficients};
use crate::weights::Rows;
#[cfg(feature = "sliding")]
pub(crate) use fixed::whole;
pub(crate) use fixed::{FixedCyclic, FixedRoots};
#[cfg(feature = "sliding")]
use num_complex::Complex;
use num_complex::Complex32;

/// Elements of scratch that a cyclic model needs: the coefficients of all characters, and a line along a
/// factor with its roots of unity.
///
/// ```
/// use bispectral_core::cyclic_scratch_len;
///
/// // Z16xZ16
/// assert_eq!(cyclic_scratch_len(256, 16) * size_of::<f32>(), 2304);
/// ```
#[must_use]
pub const fn cyclic_scratch_len(order: usize, longest_factor: usize) -> usize {
    2 * order + 4 * longest_factor
}

/// a·exp(−2πi t/e), whichever way they are stored.
pub(crate) trait Roots: Copy {
    /// Number t; zero past the last.
    fn root(&self, t: usize) -> Complex32;

    /// Whether they are read in place.
    fn is_aligned(&self) -> bool;

    /// Root number t without a, which has this reciprocal, in 2^-30.
    #[cfg(feature = "sliding")]
    fn unit(&self, t: usize, reciprocal: f32) -> Complex<i32> {
        let root = self.root(t) * reciprocal;
        let part = |part| fixed::whole(part, fixed::ROOT_PLACES as i32);
        Complex::new(part(root.re), part(root.im))
    }
}

impl<W: Rows> Roots for W {
    #[inline(always)]
    fn root(&self, t: usize) -> Complex32 {
        self.get(0, t).unwrap_or_default()
    }

    fn is_aligned(&self) -> bool {
        Rows::is_aligned(self)
    }
}

/// [`cyclic_scratch_len`] of a product of groups of these orders, which was checked.
#[inline(never)]
pub(crate) fn of_factors(factors: &[u8]) -> usize {
    let (order, _) = order_and_exponent(factors).unwrap_or((1, 1));
    let longest = numbers(factors).max().map_or(0, usize::from);
    cyclic_scratch_len(order, longest)
}

/// A product of cyclic groups, the characters of the rows and the elements of the inputs; numbers are little-endian.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cyclic<'a, W> {
    /// a·exp(−2πi t/e) for 0 ≤ t < e.
    roots: W,
    transform: Transform,
    /// m_f
    factors: &'a [[u8; 2]],
    /// k_i
    characters: &'a [[u8; 2]],
    /// g_n
    elements: &'a [[u8; 2]],
    /// n
    order: usize,
    /// e
    exponent: usize,
    /// Whether each row's character is larger than that of the row before.
    ascending: bool,
    /// Whether, besides, no two inputs stand at one element: then Parseval's equation bounds Σ|z|².
    distinct: bool,
    /// The last m_f.
    last: usize,
    /// a is this, at least 1 and below 2, times 2^E_w.
    amplitude: f32,
    /// 1/a
    reciprocal: f32,
}

/// A character as its coordinate along the last factor, and the number of those along the others.
#[derive(Clone, Copy)]
struct Coordinates {
    outer: usize,
    inner: usize,
}

/// Rows whose characters, and whose products with another, are consecutive numbers.
struct Run {
    character: usize,
    product: usize,
    len: usize,
}

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

/// The tables of a cyclic model, as bytes that were checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tables<'a> {
    pub(crate) transform: Transform,
    pub(crate) factors: &'a [u8],
    pub(crate) characters: &'a [u8],
    pub(crate) elements: &'a [u8],
}

/// That the first root is a positive number and no real or imaginary part larger, and that the program has the transform.
///
/// # Errors
/// [`Error::Malformed`], or [`Error::NeedsFeature`] where the program was built without the transform.
pub(crate) fn check_roots(
    roots: &impl Rows,
    count: usize,
    transform: Transform,
    factors: &[u8],
) -> Result<(), Error> {
    let root = |t: usize| roots.get(0, t).unwrap_or_default();
    let first = root(0);
    let bounded = |w: Complex32| w.re.abs() <= first.re && w.im.abs() <= first.re;
    if !(first.re > 0.0 && first.im == 0.0 && (0..count).map(root).all(bounded)) {
        return Err(Error::Malformed);
    }
    let mut missing = transform_features(transform, factors).filter(|feature| !feature.is_on());
    missing
        .next()
        .map_or(Ok(()), |feature| Err(Error::NeedsFeature { feature }))
}

/// The features that have the transforms along these factors.
pub(crate) fn transform_features(
    transform: Transform,
    factors: &[u8],
) -> impl Iterator<Item = Feature> + use<> {
    let fast = numbers(factors).filter(|factor| transform.is_fast(*factor));
    let longest = fast.max();
    let large = longest.is_some_and(|factor| factor > 256);
    let fast = longest.map(|_| Feature::Fft);
    fast.into_iter().chain(large.then_some(Feature::Fft1024))
}

/// Whether each of these numbers is larger than the one before.
#[inline(never)]
pub(crate) fn is_ascending(characters: &[u8]) -> bool {
    numbers(characters).is_sorted_by(|a, b| a < b)
}

impl<'a, W: Roots> Cyclic<'a, W> {
    /// Of tables and roots that were checked, of which the largest has the exponent `largest`.
    pub(crate) fn new(
        tables: &Tables<'a>,
        roots: W,
        largest: i32,
        (ascending, distinct): (bool, bool),
    ) -> Self {
        let (order, exponent) = order_and_exponent(tables.factors).unwrap_or((1, 1));
        let (factors, _) = tables.factors.as_chunks();
        let a = roots.root(0).re;
        Cyclic {
            roots,
            transform: tables.transform,
            factors,
            characters: tables.characters.as_chunks().0,
            elements: tables.elements.as_chunks().0,
            order,
            exponent,
            ascending,
            distinct,
            last: factors.last().map_or(1, number).max(1),
            amplitude: a * power_of_two(-largest),
            reciprocal: 1.0 / a,
        }
    }

    /// Z of the scaled signal, at the front of the scratch, and ‖a x‖².
    fn all_coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> (&'s [Complex32], f32) {
        let scratch: &mut [Complex32] = bytemuck::try_cast_slice_mut(scratch).unwrap_or_default();
        let (z, line) = scratch.split_at_mut_checked(self.order).unwrap_or_default();
        #[cfg(feature = "sliding")]
        if let Signal::Window(window) = x {
            let squares = self.follow(&window, scale, z);
            return (z, squares);
        }
        let squares = self.scatter_samples(x, scale.signal(), z);
        let longest = self.longest();
        self.transform_axis(longest, longest, z, line);
        for axis in self.axes().filter(|axis| *axis != longest) {
            self.transform_axis(axis, longest, z, line);
        }
        self.fill_in(longest, z);
        (z, squares)
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
    #[inline(never)]
    fn longest(&self) -> Axis {
        let none = Axis { m: 1, stride: 1 };
        let longer = |a: Axis, b: Axis| if b.m > a.m { b } else { a };
        self.axes().fold(none, longer)
    }

    /// Samples to their elements, times a·2^-E_w; the sum of their squares.
    fn scatter_samples(&self, x: Signal<'_>, scale: PowerOfTwo, z: &mut [Complex32]) -> f32 {
        z.fill(Complex32::ZERO);
        let mut squares = 0.0;
        let mut elements = self.elements.iter();
        x.each(|_, x| {
            let element = elements.next().map_or(0, number);
            let x = scale.scale(x) * self.amplitude;
            squares += x * x;
            if let Some(z) = z.get_mut(element) {
                z.re += x;
            }
        });
        squares
    }

    /// Every line along a factor. Along the longest, which is the first, all are real and half of a line is enough;
    /// along another, those lines are left out which are conjugates.
    fn transform_axis(
        &self,
        axis: Axis,
        longest: Axis,
        z: &mut [Complex32],
        scratch: &mut [Complex32],
    ) {
        let Axis { m, stride } = axis;
        let (line, roots) = scratch.split_at_mut_checked(m).unwrap_or_default();
        let roots = roots.get_mut(..m).unwrap_or_default();
        let fast = self.transform == Transform::Fft && fft::is_fast(m);
        if fast {
            fft::write_twiddles(roots);
        } else {
            self.write_roots(roots);
        }
        let outputs = if axis == longest { m / 2 + 1 } else { m };
        for from in axis.lines(self.order) {
            if axis != longest && longest.coordinate(from) > longest.m / 2 {
                continue;
            }
            let z = z.get_mut(from..).unwrap_or_default();
            for (n, z) in z.iter().step_by(stride.max(1)).take(m).enumerate() {
                let n = if fast { fft::reversed(n, m) } else { n };
                if let Some(v) = line.get_mut(n) {
                    *v = *z;
                }
            }
            let scattered = z.iter_mut().step_by(stride.max(1)).take(outputs);
            if fast {
                fft::transform(line, roots);
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
        for (t, root) in roots.iter_mut().enumerate() {
            *root = self.roots.root(t * step) * self.reciprocal;
        }
    }

    /// Z_k = conj(Z_−k) for the other half.
    fn fill_in(&self, longest: Axis, z: &mut [Complex32]) {
        let Axis { m, stride } = longest;
        for from in longest.lines(self.order) {
            let negative = self.negative(from);
            for k in m / 2 + 1..m {
                mirror(z, from + k * stride, negative + (m - k) * stride);
            }
        }
    }

    /// −k.
    #[inline(never)]
    fn negative(&self, k: usize) -> usize {
        let negated = |axis: Axis| axis.stride * wrapped(axis.m - axis.coordinate(k), axis.m);
        self.axes().map(negated).sum()
    }

    /// Whether β has a direction. Σ|z|² of some characters is at most that of all, n‖a x‖²: where that is enough, as for
    /// most signals, the rows are not gone through.
    #[inline(never)]
    fn measure(
        &self,
        magnitude: Magnitude,
        scale: Scale,
        squares: f32,
        of_rows: impl FnOnce() -> f32,
    ) -> Measured {
        let floor = scale.floor();
        let samples = squares / floor.modulus();
        let energy = Energy {
            samples,
            errors: floor.errors_of_floats(samples),
            coefficients: squares * self.order as f32,
            products: floor.modulus(),
        };
        let bounded = floor.measure(magnitude, energy);
        if self.distinct && bounded.direction.is_of_signal() {
            return bounded;
        }
        floor.measure(
            magnitude,
            Energy {
                coefficients: of_rows(),
                ..energy
            },
        )
    }

    /// The number of the root χ_k(g): Σ_f k_f g_f e/m_f.
    fn root_number(&self, mut k: usize, mut g: usize) -> usize {
        let mut root = 0;
        for m in self.factors.iter().rev().map(number) {
            let m = m.max(1);
            root += (k % m) * (g % m) % m * (self.exponent / m);
            (k, g) = (k / m, g / m);
        }
        root % self.exponent.max(1)
    }

    /// Every pair, run after run. Not inlined, so that the loop has the registers to itself.
    #[inline(never)]
    fn all(&self, z: &[Complex32], each: &mut impl FnMut(usize, usize, Complex32)) -> Blocks {
        let mut squares = Blocks::default();
        let mut rows = self.characters;
        let mut i = 0;
        while let Some(k_i) = rows.first().map(number) {
            let (coordinates, z_i) = (self.coordinates(k_i), at(z, k_i) * self.amplitude);
            let (mut rest, mut j) = (rows, i);
            while let Some(run) = self.run(coordinates, rest) {
                let from = |k: usize| z.get(k..).and_then(|z| z.get(..run.len));
                let z_j = from(run.character).unwrap_or_default();
                let s = from(run.product).unwrap_or_default();
                let mut block = Block::default();
                for (z_j, s) in z_j.iter().zip(s) {
                    let term = triple(z_i, *z_j, *s);
                    block.add(term);
                    each(i, j, term);
                    j += 1;
                }
                squares.add(block);
                rest = rest.get(run.len..).unwrap_or_default();
            }
            rows = rows.get(1..).unwrap_or_default();
            i += 1;
        }
        squares
    }

    /// Pair after pair, none of them lost to underflow.
    fn listed(
        &self,
        order: Order<'_>,
        z: &[Complex32],
        scale: Scale,
        each: &mut dyn FnMut(usize, usize, Complex32),
    ) -> Magnitude {
        let mut squares = Accumulator::default();
        let character = |row: usize| self.characters.get(row).map_or(0, number);
        for (i, j) in order.iter() {
            let (k_i, k_j) = (character(i), character(j));
            let product = self.product(self.coordinates(k_i), self.coordinates(k_j));
            let s = at(z, product.outer * self.last + product.inner);
            let term = triple(at(z, k_i) * self.amplitude, at(z, k_j), s);
            squares.add(term);
            each(i, j, term);
        }
        squares.finish(scale.bispectrum())
    }

    /// The longest run at the beginning of these rows' characters, of their products with `i`.
    #[inline(always)]
    fn run(&self, i: Coordinates, rows: &[[u8; 2]]) -> Option<Run> {
        let character = rows.first().map(number)?;
        let j = self.coordinates(character);
        let product = self.product(i, j);
        let room = (self.last - product.inner.max(j.inner))
            .min(BLOCK)
            .min(rows.len());
        let follows = |at: usize| {
            rows.get(at)
                .is_some_and(|row| number(row) == character + at)
        };
        // Of ascending numbers the last tells of all.
        let len = if self.ascending && follows(room.wrapping_sub(1)) {
            room
        } else {
            (1..room).take_while(|at| follows(*at)).count() + 1
        };
        Some(Run {
            character,
            product: product.outer * self.last + product.inner,
            len,
        })
    }

    #[inline(always)]
    fn coordinates(&self, character: usize) -> Coordinates {
        let last = self.last.max(1);
        Coordinates {
            outer: character / last,
            inner: character % last,
        }
    }

    /// The sum of two characters: coordinate by coordinate, each modulo its factor.
    #[inline(always)]
    fn product(&self, i: Coordinates, j: Coordinates) -> Coordinates {
        let inner = wrapped(i.inner + j.inner, self.last);
        let outer = match self.factors {
            [_] | [] => 0,
            [first, _] => wrapped(i.outer + j.outer, number(first)),
            [others @ .., _] => sum(others, i.outer, j.outer),
        };
        Coordinates { outer, inner }
    }
}

impl<W: Roots> Kernel for Cyclic<'_, W> {
    fn scratch_len(&self) -> usize {
        let longest = self.factors.iter().map(number).max();
        cyclic_scratch_len(self.order, longest.unwrap_or_default())
    }

    fn is_aligned(&self) -> bool {
        self.roots.is_aligned()
    }

    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        let k = self.characters.get(row).map(number)?;
        let g = self.elements.get(column).map(number)?;
        Some(self.roots.root(self.root_number(k, g)))
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> Coefficients<'s> {
        Coefficients::Complex(self.all_coefficients(x, scale, scratch).0)
    }

    fn coefficient(&self, z: &Coefficients<'_>, row: usize) -> Complex32 {
        at(z.complex(), self.characters.get(row).map_or(0, number))
    }

    /// Compiled into each caller: a term takes no more than an indirect call would.
    #[inline]
    fn each_term(
        &self,
        order: Order<'_>,
        x: Signal<'_>,
        scale: Scale,
        scratch: &mut [f32],
        mut each: impl FnMut(usize, usize, Complex32),
    ) -> Measured {
        let (z, squares) = self.all_coefficients(x, scale, scratch);
        let magnitude = if order.is_all() {
            self.all(z, &mut each).finish(scale.bispectrum())
        } else {
            self.listed(order, z, scale, &mut each)
        };
        self.measure(magnitude, scale, squares, || {
            energy_of_coefficients(self.characters.iter().map(|k| at(z, number(k))))
        })
    }
}

/// Z at one place is the conjugate of that at another. A function of its own keeps the loop around it short in flash.
#[inline(never)]
fn mirror(z: &mut [Complex32], to: usize, from: usize) {
    let value = at(z, from).conj();
    if let Some(z) = z.get_mut(to) {
        *z = value;
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

/// a + b in the group of these factors.
fn sum(factors: &[[u8; 2]], mut a: usize, mut b: usize) -> usize {
    let (mut sum, mut stride) = (0, 1);
    for m in factors.iter().rev().map(number) {
        let m = m.max(1);
        sum += stride * wrapped(a % m + b % m, m);
        (a, b, stride) = (a / m, b / m, stride * m);
    }
    sum
}

/// A sum of two numbers below `modulus`.
#[inline(always)]
fn wrapped(sum: usize, modulus: usize) -> usize {
    if sum >= modulus { sum - modulus } else { sum }
}

#[inline(always)]
fn number(bytes: &[u8; 2]) -> usize {
    u16::from_le_bytes(*bytes).into()
}

#[inline(always)]
fn at(z: &[Complex32], k: usize) -> Complex32 {
    z.get(k).copied().unwrap_or_default()
}
