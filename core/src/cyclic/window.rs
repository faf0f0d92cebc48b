//! Coefficients that follow a stream sample by sample: exact sums of whole numbers, so that no error grows with time.
//!
//! A sample takes the place of the one N before it, wherever in the window that stands: the window is moved by an element of the
//! group, which no invariant sees. Then Z_k grows by (x_new − x_old)·χ_k(g) and is never multiplied. With x in whole numbers and
//! roots in 2^-30 the sums of 64 bits are Σ x χ_k(g) of the samples in the window, to the bit, however many went by.

use super::fixed::{BITS, FixedCyclic, ROOT_PLACES, Spectrum, Whole, put};
use super::{Cyclic, Roots, number, wrapped};
use crate::bispectrum::Scale;
use crate::pairs::Order;
use crate::sample::{Tracked, Window};
use crate::scaling::restore;
use num_complex::{Complex, Complex32};

impl<W: Roots> Cyclic<'_, W> {
    /// The element between neighbouring inputs, the last and the first among them; `None` where there is none.
    pub(crate) fn stride(&self) -> Option<usize> {
        let inputs = self.elements.len();
        let at = |n: usize| self.elements.get(n % inputs.max(1)).map(number);
        let stride = super::sum(self.factors, at(1)?, self.negative(at(0)?));
        let moved = |n: usize| {
            let next = at(n).map(|g| super::sum(self.factors, g, stride));
            next == at(n + 1)
        };
        (0..inputs).all(moved).then_some(stride)
    }

    /// Every character whose coefficient a term or a row needs, or its conjugate in its place; some more than once.
    ///
    /// Ends with `false` where `each` does.
    pub(crate) fn each_needed(
        &self,
        order: Order<'_>,
        each: &mut dyn FnMut(usize) -> bool,
    ) -> bool {
        let character = |row: usize| self.characters.get(row).map_or(0, number);
        let mut put = |k: usize| each(k.min(self.negative(k)));
        self.characters.iter().all(|k| put(number(k)))
            && order
                .iter()
                .all(|(i, j)| put(super::sum(self.factors, character(i), character(j))))
    }

    /// Characters of which none is another's conjugate.
    pub(crate) fn up_to_conjugation(&self) -> usize {
        (0..self.order).filter(|k| *k <= self.negative(*k)).count()
    }

    /// A coefficient that begins to follow at the first input.
    pub(crate) fn tracked(&self, character: usize, stride: usize) -> Tracked {
        let first = self.elements.first().map_or(0, number);
        Tracked {
            character: character as u16,
            root: self.root_number(character, first) as u16,
            step: self.root_number(character, stride) as u16,
            sum: Complex::default(),
        }
    }

    /// Adds a change of the next sample to a coefficient.
    #[inline(always)]
    pub(crate) fn follow_change(&self, tracked: &mut Tracked, change: i64) {
        let root = self.roots.unit(tracked.root.into(), self.reciprocal);
        tracked.sum.re += change * i64::from(root.re);
        tracked.sum.im += change * i64::from(root.im);
        let next = usize::from(tracked.root) + usize::from(tracked.step);
        tracked.root = wrapped(next, self.exponent) as u16;
    }

    /// Z of a window's scaled signal to `z`, and ‖a x‖²; what is not tracked is zero.
    pub(super) fn follow(&self, window: &Window<'_>, scale: Scale, z: &mut [Complex32]) -> f32 {
        let (exponent, _) = scale.exponents();
        let places = -(window.places + exponent);
        z.fill(Complex32::ZERO);
        for tracked in window.tracked {
            let float =
                |sum: i64| restore(sum as f32, places - ROOT_PLACES as i32) * self.amplitude;
            let value = Complex32::new(float(tracked.sum.re), float(tracked.sum.im));
            let k = usize::from(tracked.character);
            for (k, value) in [(self.negative(k), value.conj()), (k, value)] {
                if let Some(z) = z.get_mut(k) {
                    *z = value;
                }
            }
        }
        restore(window.energy as f32, 2 * places) * self.amplitude * self.amplitude
    }
}

impl FixedCyclic<'_> {
    /// Z of a window's scaled signal; what is not tracked is zero.
    pub(super) fn follow<'s>(
        &self,
        window: &Window<'_>,
        exponent: i32,
        z: &'s mut [Whole],
    ) -> Spectrum<'s> {
        let cyclic = &self.0;
        let used = |part: i64| part ^ (part >> 63);
        let sums = window.tracked.iter().map(|tracked| tracked.sum);
        let bits = sums.fold(0, |bits, sum| bits | used(sum.re) | used(sum.im));
        // By how many places sums are shifted down to have the bits of coefficients.
        let down = i64::BITS as i32 - bits.leading_zeros() as i32 - BITS;
        let amplitude = self.amplitude();
        let part = |sum: i64| {
            let sum = if down < 0 { sum << -down } else { sum >> down };
            ((sum * amplitude) >> (ROOT_PLACES + 1)) as i32
        };
        z.fill(Complex::default());
        for tracked in window.tracked {
            let value = Complex::new(part(tracked.sum.re), part(tracked.sum.im));
            let k = usize::from(tracked.character);
            put(z, cyclic.negative(k), value.conj());
            put(z, k, value);
        }
        let scaled = window.places + exponent;
        let square = cyclic.amplitude * cyclic.amplitude;
        Spectrum {
            z,
            places: scaled + ROOT_PLACES as i32 - down - 1,
            squares: restore(window.energy as f32, -2 * scaled) * square,
        }
    }
}
