//! Encoding i32 of a cyclic model: the roots of unity in 2^-30, a fixed-point transform with one exponent for all coefficients,
//! and triple products of 32 bits. For processors without floats, which take a twentieth of the instructions of f32.
//!
//! A whole number of 30 bits holds more of a coefficient than the 24 bits of an f32, so what is lost is below what f32
//! loses wherever the largest coefficients matter. high(a, b) is ⌊a·b·2^-32⌋.
//!
//! **The signal.** With at most 2^c inputs at one element, samples are scaled by a power of two so that the largest has 29 − c
//! bits, and rounded, a half away from zero; times a·2^-E_w they are added at their elements.
//!
//! **The transform** goes along the longest factor first, then along the others, the last before the first. Before each step all
//! numbers are shifted by as many places as bring the largest part to 30 bits, to the right with a half upwards. Along a factor
//! of 4, 8, …, 1024, with transform 1, the steps are those of a transform of radix two on the line in reversed order of bits:
//! u/2 + w·v/2 and u/2 − w·v/2, u/2 rounded down, w·v/2 = (high(2v_re, w_re) − high(2v_im, w_im), high(2v_re, w_im) +
//! high(2v_im, w_re) + 1). Along another factor of order m the one step is a sum Σ v·w of 64 bits, roots rounded to 2^-24 and v
//! shifted down by ⌈log2 m⌉ − 7 where that is positive, times 2^-⌈log2 m⌉ with a half upwards; along the longest factor, where v
//! is real, the second half are the conjugates of the first.
//!
//! **The terms.** z_i, shifted to 30 bits by itself and times a·2^-E_w in 2^-31, z_j, shifted by what the largest of all rows
//! leaves free, and s of the product of their characters:
//! p = 2·(high(i_re, j_re) − high(i_im, j_im), high(i_re, j_im) + high(i_im, j_re) + 1) and
//! β = (high(p_re, s_re) + high(p_im, s_im) + 1, high(p_im, s_re) − high(p_re, s_im)), made an f32 to nearest, a half away from
//! zero. Σ|β|² is exact but for what is below 2^-16 of the unit of the row with the largest z_i.

use super::{Axis, Cyclic, Roots, at, number, wrapped};
use crate::bispectrum::Scale;
use crate::error::Error;
use crate::kernel::{Coefficients, Kernel, WEIGHT_EXPONENT};
use crate::magnitude::{Magnitude, square_root};
use crate::pairs::Order;
use crate::sample::Signal;
use crate::scaling::{bits_of_count, exponent_of_largest, power_of_two, restore};
use crate::significance::{Measured, energy_of_coefficients};
use crate::weights::Largest;
use num_complex::{Complex, Complex32};

/// A complex number of which each part is whole.
pub(super) type Whole = Complex<i32>;

/// A root of unity is a whole number times 2 to minus this.
pub(crate) const ROOT_PLACES: u32 = 30;
/// Bits that the parts of coefficients have at most.
pub(super) const BITS: i32 = 30;
/// Roots in sums along a factor are whole numbers times 2 to minus this: as many as f32 has.
const SUM_PLACES: u32 = 24;
/// A sum of 64 bits has room for 2 to this products of numbers and such roots, whatever roots a file may hold.
const SUM_TERMS: u32 = 7;
/// By how many places squares of the row with the largest z_i are enlarged, so that those of others keep some.
const GUARD: i32 = 16;
/// By how many places samples are shifted down before their squares are added: 2^13 of them then fit 64 bits.
const SQUARE_PLACES: i32 = 6;

/// a·exp(−2πi t/e) as whole numbers in 2^-30, and a.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FixedRoots<'a> {
    re: &'a [[u8; 4]],
    im: &'a [[u8; 4]],
    amplitude: f32,
}

impl<'a> FixedRoots<'a> {
    /// Of weights whose length was checked: all real parts, then all imaginary parts.
    pub(crate) fn new(weights: &'a [u8], amplitude: f32) -> Self {
        let (parts, _) = weights.as_chunks();
        let (re, im) = parts.split_at_checked(parts.len() / 2).unwrap_or_default();
        FixedRoots { re, im, amplitude }
    }

    /// Root number t in 2^-30.
    pub(crate) fn whole(&self, t: usize) -> Whole {
        let part = |parts: &[[u8; 4]]| parts.get(t).map_or(0, |part| i32::from_le_bytes(*part));
        Complex::new(part(self.re), part(self.im))
    }

    /// The largest weights, once the amplitude is known to be within range, the first root 1, and no part of another larger.
    pub(crate) fn check(&self) -> Result<Largest, Error> {
        let Ok(Some(exponent)) = exponent_of_largest([self.amplitude].into_iter()) else {
            return Err(Error::WeightRange);
        };
        if exponent.abs() > WEIGHT_EXPONENT {
            return Err(Error::WeightRange);
        }
        let roots = || (0..self.re.len()).map(|t| self.whole(t));
        let one = 1 << ROOT_PLACES;
        let bounded = |root: Whole| root.re.unsigned_abs().max(root.im.unsigned_abs()) <= one;
        if self.whole(0) != Complex::new(one as i32, 0) || !roots().all(bounded) {
            return Err(Error::Malformed);
        }
        let squares = (0..self.re.len()).map(|t| {
            let w = self.root(t);
            w.re * w.re + w.im * w.im
        });
        let modulus = squares.fold(0.0, f32::max);
        Ok(Largest { exponent, modulus })
    }
}

impl Roots for FixedRoots<'_> {
    fn root(&self, t: usize) -> Complex32 {
        let Complex { re, im } = self.whole(t);
        let scale = self.amplitude * power_of_two(-(ROOT_PLACES as i32));
        Complex32::new(re as f32 * scale, im as f32 * scale)
    }

    #[cfg(feature = "sliding")]
    fn unit(&self, t: usize, _: f32) -> Whole {
        self.whole(t)
    }

    fn is_aligned(&self) -> bool {
        // A root is put together from bytes once a factor, not once a product.
        true
    }
}

/// A cyclic model whose coefficients are whole numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FixedCyclic<'a>(pub(crate) Cyclic<'a, FixedRoots<'a>>);

/// All coefficients of a signal: Z is these times 2 to minus `places`.
pub(super) struct Spectrum<'s> {
    pub(super) z: &'s mut [Whole],
    pub(super) places: i32,
    /// Σ (a·2^-E_w x)² of the scaled signal.
    pub(super) squares: f32,
}

/// z_i times a·2^-E_w, times 2 to `places`.
#[derive(Clone, Copy)]
struct Left {
    z: Whole,
    places: i32,
}

/// Σ|β|² over rows whose terms have different units.
#[derive(Default)]
struct Squares {
    all: u128,
    row: u128,
}

impl FixedCyclic<'_> {
    /// Z of the scaled signal.
    fn transform<'s>(&self, x: Signal<'_>, scale: Scale, scratch: &'s mut [f32]) -> Spectrum<'s> {
        let cyclic = &self.0;
        let scratch: &mut [Whole] = bytemuck::try_cast_slice_mut(scratch).unwrap_or_default();
        let (z, line) = (scratch.split_at_mut_checked(cyclic.order)).unwrap_or_default();
        let (exponent, _) = scale.exponents();
        #[cfg(feature = "sliding")]
        if let Signal::Window(window) = x {
            return self.follow(&window, exponent, z);
        }
        let (mut places, squares) = self.scatter_samples(x, exponent, z);
        let longest = cyclic.longest();
        places -= self.transform_axis(longest, true, z, line);
        for axis in cyclic.axes().filter(|axis| *axis != longest) {
            places -= self.transform_axis(axis, false, z, line);
        }
        places += normalise(z);
        Spectrum { z, places, squares }
    }

    /// Samples to their elements as whole numbers, times a·2^-E_w; their places, and the sum of their squares.
    fn scatter_samples(&self, x: Signal<'_>, exponent: i32, z: &mut [Whole]) -> (i32, f32) {
        let crowd = bits_of_count(self.most_at_one_element(z)) as i32;
        z.fill(Complex::default());
        let places = BITS - 2 - crowd;
        let amplitude = self.amplitude();
        let mut squares = 0_u64;
        let mut elements = self.0.elements.iter();
        x.each(|_, x| {
            let element = elements.next().map_or(0, number);
            let x = i64::from(whole(x, places - exponent));
            let x = (x * amplitude + (1 << (ROOT_PLACES - 1))) >> ROOT_PLACES;
            let short = x >> SQUARE_PLACES;
            squares += (short * short) as u64;
            if let Some(z) = z.get_mut(element) {
                z.re += x as i32;
            }
        });
        let squares = squares as f32 * power_of_two(2 * (SQUARE_PLACES - places));
        (places, squares)
    }

    /// How many inputs stand at the element with the most of them.
    fn most_at_one_element(&self, z: &mut [Whole]) -> usize {
        if self.0.distinct {
            return 1;
        }
        z.fill(Complex::default());
        let mut most = 0;
        for element in self.0.elements {
            if let Some(z) = z.get_mut(number(element)) {
                z.re += 1;
                most = most.max(z.re);
            }
        }
        most as usize
    }

    /// a·2^-E_w in 2^-30: at least 1 and below 2.
    pub(super) fn amplitude(&self) -> i64 {
        i64::from((self.0.amplitude.to_bits() & 0x007f_ffff | 1 << 23) << 7)
    }

    /// Every line along a factor; how many places are lost. `real`: no line has an imaginary part.
    fn transform_axis(
        &self,
        axis: Axis,
        real: bool,
        z: &mut [Whole],
        scratch: &mut [Whole],
    ) -> i32 {
        let cyclic = &self.0;
        let Axis { m, stride } = axis;
        let (line, roots) = scratch.split_at_mut_checked(m).unwrap_or_default();
        let roots = roots.get_mut(..m).unwrap_or_default();
        let step = cyclic.exponent / m.max(1);
        for (t, root) in roots.iter_mut().enumerate() {
            *root = cyclic.roots.whole(t * step);
        }
        let mut lost = 0;
        if cyclic.transform.is_fast(m as u16) {
            let levels = m.trailing_zeros();
            for from in axis.lines(cyclic.order) {
                let line = z.get_mut(from..).unwrap_or_default();
                for k in 0..m {
                    let reversed = k.reverse_bits() >> (usize::BITS - levels);
                    if k < reversed {
                        let (a, b) = (
                            whole_at(line, k * stride),
                            whole_at(line, reversed * stride),
                        );
                        put(line, k * stride, b);
                        put(line, reversed * stride, a);
                    }
                }
            }
            for level in 0..levels {
                lost += 1 - normalise(z);
                for from in axis.lines(cyclic.order) {
                    butterflies(z.get_mut(from..).unwrap_or_default(), axis, level, roots);
                }
            }
        } else {
            lost -= normalise(z);
            let levels = bits_of_count(m);
            let excess = levels.saturating_sub(SUM_TERMS);
            let places = ROOT_PLACES - SUM_PLACES;
            for root in roots.iter_mut() {
                let half = 1 << (places - 1);
                *root = Complex::new((root.re + half) >> places, (root.im + half) >> places);
            }
            for from in axis.lines(cyclic.order) {
                let z = z.get_mut(from..).unwrap_or_default();
                for (v, z) in line.iter_mut().zip(z.iter().step_by(stride.max(1))) {
                    *v = Complex::new(z.re >> excess, z.im >> excess);
                }
                sums(line, roots, real, SUM_PLACES + levels - excess, |k, sum| {
                    put(z, k * stride, sum);
                });
            }
            lost += levels as i32;
        }
        lost
    }

    /// By how many places z of the rows can be shifted up.
    fn free_places(&self, z: &[Whole]) -> u32 {
        let rows = self.0.characters.iter().map(|k| whole_at(z, number(k)));
        headroom(rows).max(0) as u32
    }

    /// z_i as a factor of every term of its row.
    fn left(&self, z_i: Whole, places: i32) -> Left {
        let shift = headroom([z_i].into_iter()).max(0);
        let amplitude = self.amplitude();
        let times =
            |part: i32| ((i64::from(part << shift) * amplitude) >> (ROOT_PLACES + 1)) as i32;
        Left {
            z: Complex::new(times(z_i.re), times(z_i.im)),
            places: places + shift - 1,
        }
    }

    /// Every pair, run after run. Not inlined, so that the loop has the registers to itself.
    #[inline(never)]
    fn all(
        &self,
        spectrum: &Spectrum<'_>,
        each: &mut impl FnMut(usize, usize, Complex32),
    ) -> (f32, i32) {
        let cyclic = &self.0;
        let Spectrum { z, places, .. } = spectrum;
        let free = self.free_places(z);
        let of_right = 2 * places + free as i32 - 63;
        let mut squares = Squares::default();
        let mut rows = cyclic.characters;
        let mut i = 0;
        while let Some(k_i) = rows.first().map(number) {
            let (coordinates, left) = (
                cyclic.coordinates(k_i),
                self.left(whole_at(z, k_i), *places),
            );
            let exponent = -(left.places + of_right);
            let (mut rest, mut j) = (rows, i);
            while let Some(run) = cyclic.run(coordinates, rest) {
                let from = |k: usize| z.get(k..).and_then(|z| z.get(..run.len));
                let z_j = from(run.character).unwrap_or_default();
                let s = from(run.product).unwrap_or_default();
                let mut block = 0;
                for (z_j, s) in z_j.iter().zip(s) {
                    let term = triple(left.z, shifted(*z_j, free), *s);
                    block += square(term);
                    each(i, j, floats(term, exponent));
                    j += 1;
                }
                squares.row += u128::from(block);
                rest = rest.get(run.len..).unwrap_or_default();
            }
            squares.end_row(left.places + 1 - places - free as i32);
            rows = rows.get(1..).unwrap_or_default();
            i += 1;
        }
        squares.norm(places + free as i32 - 1 + of_right)
    }
    /// Pair after pair.
    fn listed(
        &self,
        order: Order<'_>,
        spectrum: &Spectrum<'_>,
        each: &mut dyn FnMut(usize, usize, Complex32),
    ) -> (f32, i32) {
        let cyclic = &self.0;
        let Spectrum { z, places, .. } = spectrum;
        let free = self.free_places(z);
        let of_right = 2 * places + free as i32 - 63;
        let character = |row: usize| cyclic.characters.get(row).map_or(0, number);
        let mut squares = Squares::default();
        let mut row = None;
        let mut left = self.left(Complex::default(), *places);
        for (i, j) in order.iter() {
            let (k_i, k_j) = (character(i), character(j));
            if row != Some(i) {
                squares.end_row(left.places + 1 - places - free as i32);
                (row, left) = (Some(i), self.left(whole_at(z, k_i), *places));
            }
            let product = cyclic.product(cyclic.coordinates(k_i), cyclic.coordinates(k_j));
            let s = whole_at(z, product.outer * cyclic.last + product.inner);
            let term = triple(left.z, shifted(whole_at(z, k_j), free), s);
            squares.row += u128::from(square(term));
            each(i, j, floats(term, -(left.places + of_right)));
        }
        squares.end_row(left.places + 1 - places - free as i32);
        squares.norm(places + free as i32 - 1 + of_right)
    }
}

impl Squares {
    /// Adds the squares of a row, whose unit is smaller by so many places than the largest there can be.
    fn end_row(&mut self, finer: i32) {
        let shift = GUARD - 2 * finer;
        self.all += if shift < 0 {
            self.row >> -shift
        } else {
            self.row << shift
        };
        self.row = 0;
    }

    /// √Σ|β|² of terms whose largest unit is 2 to minus `places`: an f32, and by which power of two it is too large.
    fn norm(self, places: i32) -> (f32, i32) {
        let down = (u128::BITS - self.all.leading_zeros()).saturating_sub(u32::BITS);
        // An even number of places, so that the root of the power of two is one.
        let down = down + down % 2;
        let root = square_root((self.all >> down) as u32 as f32);
        (root, places + GUARD / 2 - down as i32 / 2)
    }
}

impl Kernel for FixedCyclic<'_> {
    fn scratch_len(&self) -> usize {
        self.0.scratch_len()
    }

    fn is_aligned(&self) -> bool {
        self.0.is_aligned()
    }

    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        self.0.weight(row, column)
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> Coefficients<'s> {
        let places = self.transform(x, scale, scratch).places;
        let all = scratch.get_mut(..2 * self.0.order).unwrap_or_default();
        let bits: &mut [i32] = bytemuck::must_cast_slice_mut(all);
        for part in bits {
            *part = float(*part, -places).to_bits() as i32;
        }
        Coefficients::Complex(bytemuck::try_cast_slice_mut(all).unwrap_or_default())
    }

    fn coefficient(&self, z: &Coefficients<'_>, row: usize) -> Complex32 {
        at(z.complex(), self.0.characters.get(row).map_or(0, number))
    }

    /// Compiled into each caller, as that of [`Cyclic`].
    #[inline]
    fn each_term(
        &self,
        order: Order<'_>,
        x: Signal<'_>,
        scale: Scale,
        scratch: &mut [f32],
        mut each: impl FnMut(usize, usize, Complex32),
    ) -> Measured {
        let spectrum = self.transform(x, scale, scratch);
        let (norm, places) = if order.is_all() {
            self.all(&spectrum, &mut each)
        } else {
            self.listed(order, &spectrum, &mut each)
        };
        let magnitude = Magnitude::new(restore(norm, -places), scale.bispectrum());
        self.0.measure(magnitude, scale, spectrum.squares, || {
            let z = &spectrum.z;
            let rows = self.0.characters.iter().map(|k| whole_at(z, number(k)));
            energy_of_coefficients(rows.map(|z| floats(z, -spectrum.places)))
        })
    }
}

/// x·2^places to the nearest whole number, a half away from zero.
pub(crate) fn whole(x: f32, places: i32) -> i32 {
    let bits = x.to_bits();
    let field = (bits >> 23) & 0xff;
    // Subnormals have the exponent of the smallest normal numbers, and no leading one.
    let mantissa = (bits & 0x007f_ffff) | u32::from(field != 0) << 23;
    // |x| = mantissa·2^(field − 150).
    let down = 150 - field.max(1) as i32 - places;
    let magnitude = if down > 0 {
        ((mantissa >> (down - 1).min(31)) + 1) >> 1
    } else {
        mantissa << -down
    };
    if bits >> 31 == 0 {
        magnitude as i32
    } else {
        -(magnitude as i32)
    }
}

/// v·2^exponent to the nearest f32, a half away from zero, where that is a normal number. Put together from its bits: an f32 is
/// rounded and scaled in the instructions that a processor without floats takes to convert it.
#[inline(always)]
fn float(v: i32, exponent: i32) -> f32 {
    let magnitude = v.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let zeros = magnitude.leading_zeros();
    let leading = magnitude << zeros;
    let mantissa = (leading >> 8) + ((leading >> 7) & 1);
    // The leading one is that of the exponent field, and a carry of the rounding goes into it.
    let field = (157 - zeros as i32 + exponent) as u32;
    let sign = (v as u32) & (1 << 31);
    f32::from_bits(sign | ((field << 23) + mantissa))
}

#[inline(always)]
fn floats(v: Whole, exponent: i32) -> Complex32 {
    Complex32::new(float(v.re, exponent), float(v.im, exponent))
}

/// ⌊a·b·2^-32⌋.
#[inline(always)]
fn high(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

/// i·j·conj s, smaller by 63 places.
#[inline(always)]
fn triple(i: Whole, j: Whole, s: Whole) -> Whole {
    let re = (high(i.re, j.re) - high(i.im, j.im)) << 1;
    let im = (high(i.re, j.im) + high(i.im, j.re) + 1) << 1;
    Complex::new(
        high(re, s.re) + high(im, s.im) + 1,
        high(im, s.re) - high(re, s.im),
    )
}

/// |v|².
#[inline(always)]
fn square(v: Whole) -> u64 {
    let part = |part: i32| (i64::from(part) * i64::from(part)) as u64;
    part(v.re) + part(v.im)
}

#[inline(always)]
fn shifted(v: Whole, places: u32) -> Whole {
    Complex::new(v.re << places, v.im << places)
}

/// By how many places numbers can be shifted up until the largest part has 30 bits; −1 where it has 31 now.
fn headroom(numbers: impl Iterator<Item = Whole>) -> i32 {
    // Of a negative number the ones' complement has as many bits.
    let used = |part: i32| part ^ (part >> 31);
    let bits = numbers.fold(0, |bits, v| bits | used(v.re) | used(v.im));
    if bits == 0 {
        return 0;
    }
    bits.leading_zeros() as i32 + BITS - i32::BITS as i32
}

/// Shifts all numbers by their headroom, which it returns.
fn normalise(z: &mut [Whole]) -> i32 {
    let places = headroom(z.iter().copied());
    for v in z.iter_mut() {
        *v = if places < 0 {
            Complex::new((v.re >> 1) + (v.re & 1), (v.im >> 1) + (v.im & 1))
        } else {
            shifted(*v, places as u32)
        };
    }
    places
}

/// One level of a transform of radix two along a line in reversed order of bits: u/2 ± w·v/2, w of exp(−2πi/2^(level + 1)).
#[inline(always)]
fn butterflies(line: &mut [Whole], Axis { m, stride }: Axis, level: u32, roots: &[Whole]) {
    let half = 1 << level;
    let step = m >> (level + 1);
    for block in (0..m).step_by((2 * half).max(1)) {
        for k in 0..half {
            let (a, b) = ((block + k) * stride, (block + k + half) * stride);
            let (u, v, w) = (
                whole_at(line, a),
                whole_at(line, b),
                whole_at(roots, k * step),
            );
            let v = shifted(v, 1);
            let re = high(v.re, w.re) - high(v.im, w.im);
            let im = high(v.re, w.im) + high(v.im, w.re) + 1;
            let u = Complex::new(u.re >> 1, u.im >> 1);
            put(line, a, Complex::new(u.re + re, u.im + im));
            put(line, b, Complex::new(u.re - re, u.im - im));
        }
    }
}

/// Σ_g v_g w^(k g)·2^-places for every k, w the first root of unity; of numbers that are real the second half are conjugates.
fn sums(
    line: &[Whole],
    roots: &[Whole],
    real: bool,
    places: u32,
    mut output: impl FnMut(usize, Whole),
) {
    let m = line.len();
    let half = 1_i64 << (places - 1);
    for k in 0..if real { m / 2 + 1 } else { m } {
        let (mut re, mut im, mut root) = (half, half, 0);
        for v in line {
            let w = whole_at(roots, root);
            let [w_re, w_im] = [w.re, w.im].map(i64::from);
            re += i64::from(v.re) * w_re;
            im += i64::from(v.re) * w_im;
            if !real {
                re -= i64::from(v.im) * w_im;
                im += i64::from(v.im) * w_re;
            }
            root = wrapped(root + k, m);
        }
        let sum = Complex::new((re >> places) as i32, (im >> places) as i32);
        output(k, sum);
        if real && k > 0 {
            output(m - k, sum.conj());
        }
    }
}

#[inline(always)]
fn whole_at(z: &[Whole], k: usize) -> Whole {
    z.get(k).copied().unwrap_or_default()
}

#[inline(always)]
pub(super) fn put(z: &mut [Whole], k: usize, value: Whole) {
    if let Some(z) = z.get_mut(k) {
        *z = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_is_the_nearest_one() {
        let some = (0..1000).map(|k: i32| k.wrapping_mul(715_827_883) >> (k % 29));
        let ends = [
            0,
            1,
            -1,
            i32::MAX,
            i32::MIN + 1,
            0x01ff_ffff,
            -0x0100_0001,
            0x00ff_ffff,
        ];
        for v in some.chain(ends) {
            for exponent in [-90, -7, 0, 13] {
                let exact = f64::from(v) * f64::from(exponent).exp2();
                let found = f64::from(float(v, exponent));
                let nearest = f64::from(exact as f32);
                // Ties go to even there, and away from zero here.
                let off = (found - exact).abs();
                assert!(
                    off <= (nearest - exact).abs(),
                    "{v}·2^{exponent}: {found:e}"
                );
                assert!(found.abs() >= nearest.abs(), "{v}·2^{exponent}");
            }
        }
    }

    #[test]
    fn a_sample_is_the_nearest_whole_number() {
        for x in [
            0.0,
            1.0,
            -1.0,
            0.3,
            1.999_999_9,
            -1e-3,
            3e-9,
            2.5 / 1024.0,
            -3.5 / 1024.0,
        ] {
            for places in [28, 20, 10] {
                let exact = f64::from(x) * f64::from(places).exp2();
                assert_eq!(f64::from(whole(x, places)), exact.round(), "{x}·2^{places}");
            }
        }
        assert_eq!(whole(f32::from_bits(1), 149), 1);
        assert_eq!(whole(f32::MAX, -200), 0);
    }

    #[test]
    fn the_largest_products_have_room() {
        // Overflow checks are on where tests run. −2^30 has the headroom of 2^30 − 1.
        let largest = [(1 << 30) - 1, -(1 << 30), 0];
        for n in 0..3_usize.pow(6) {
            let part = |k: u32| largest[n / 3_usize.pow(k) % 3];
            let [i, j, s] = [0, 2, 4].map(|k| Complex::new(part(k), part(k + 1)));
            let found = triple(i, j, s);
            let wide = |v: Whole| num_complex::Complex64::new(v.re.into(), v.im.into());
            let exact = wide(i) * wide(j) * wide(s).conj() * 2_f64.powi(-63);
            // Four products are rounded down by less than 1 each, two of them times 2·√2·2^30·2^-32.
            assert!((wide(found) - exact).norm_sqr() < 9.0, "{found} {exact}");
            assert!(square(found) < 1 << 59);
        }
    }

    #[test]
    fn the_norm_of_rows_of_different_units_is_that_of_all() {
        let mut squares = Squares::default();
        for (row, finer) in [(1_u128 << 57, 0), (3 << 50, 5), (1 << 57, 29)] {
            squares.row = row;
            squares.end_row(finer);
        }
        let (norm, places) = squares.norm(40);
        let exact = 2_f64.powi(57) + 3.0 * 2_f64.powi(40) + 0.5;
        let exact = exact.sqrt() * 2_f64.powi(-40);
        let found = f64::from(norm) * f64::from(-places).exp2();
        // The sum is cut to 31 bits, rounded to 24, and so is its root.
        assert!((found / exact - 1.0).abs() < 1e-7, "{found} {exact}");
        assert_eq!(Squares::default().norm(3).0, 0.0);
    }
}
