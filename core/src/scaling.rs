//! Powers of two. Multiplying by one is exact, so a signal is brought to a common magnitude
//! first and neither its products nor its sums leave the range of f32, whatever it was measured in.

/// 2^k for |k| ≤ 252, as two factors that are each a normal f32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PowerOfTwo([f32; 2]);

impl PowerOfTwo {
    #[inline(never)]
    pub(crate) fn new(exponent: i32) -> Self {
        Self::halves(exponent)
    }

    #[inline(always)]
    fn halves(exponent: i32) -> Self {
        let half = exponent / 2;
        PowerOfTwo([power_of_two(half), power_of_two(exponent - half)])
    }

    /// `value`·2^k, rounded only where the result is subnormal.
    #[inline(always)]
    pub(crate) fn scale(self, value: f32) -> f32 {
        value * self.0[0] * self.0[1]
    }
}

/// `value`·2^exponent for any exponent, infinite or zero where f32 ends.
#[inline(never)]
pub(crate) fn restore(value: f32, exponent: i32) -> f32 {
    // 2^-149 … 2^128 are 277 binades: what lies farther is zero or infinity all the same.
    let exponent = exponent.clamp(-300, 300);
    let half = exponent / 2;
    PowerOfTwo::halves(exponent - half).scale(PowerOfTwo::halves(half).scale(value))
}

/// 2^k for −126 ≤ k ≤ 127.
pub(crate) fn power_of_two(k: i32) -> f32 {
    f32::from_bits(((k + 127) as u32) << 23)
}

/// ⌈log2 count⌉, and 0 for none: without the panic that the logarithm of zero is.
pub(crate) const fn bits_of_count(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// The largest of magnitudes that come one at a time. Compares bit patterns, which order as magnitudes do: no floating-point
/// unit is needed.
#[derive(Clone, Copy, Default)]
pub(crate) struct LargestOf {
    bits: u32,
    at: usize,
}

impl LargestOf {
    #[inline(always)]
    pub(crate) fn add(&mut self, at: usize, value: f32) {
        let bits = value.to_bits() & 0x7fff_ffff;
        // Of those that are not finite, the first stays.
        if bits > self.bits && self.bits < f32::INFINITY.to_bits() {
            *self = LargestOf { bits, at };
        }
    }

    /// Its exponent, floor(log2 max|x|): `None` where all are zero; `Err` with the first that is not finite.
    #[inline(never)]
    pub(crate) fn exponent(self) -> Result<Option<i32>, usize> {
        Ok(match self.bits >> 23 {
            0 if self.bits == 0 => None,
            0 => Some(-118 - self.bits.leading_zeros() as i32),
            255 => return Err(self.at),
            biased => Some(biased as i32 - 127),
        })
    }
}

/// The exponent of the largest magnitude, as [`LargestOf::exponent`].
pub(crate) fn exponent_of_largest(values: impl Iterator<Item = f32>) -> Result<Option<i32>, usize> {
    let mut largest = LargestOf::default();
    values
        .enumerate()
        .for_each(|(at, value)| largest.add(at, value));
    largest.exponent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_power_of_two_has_its_own_exponent() {
        for k in -149..=127 {
            let value = (f64::from(k)).exp2() as f32;
            let found = exponent_of_largest([0.0, value, -value / 2.0].into_iter());
            assert_eq!(found, Ok(Some(k)));
            assert_eq!(PowerOfTwo::new(-k).scale(value), 1.0);
            assert_eq!(PowerOfTwo::new(k).scale(1.0), value);
            assert_eq!(restore(value, 276 - k), restore(1.0, 276));
            assert_eq!(restore(value, -k), 1.0);
        }
    }

    #[test]
    fn a_count_of_things_takes_as_many_bits_as_numbering_them() {
        let found = [0, 1, 2, 3, 4, 5, 255, 256, 257, 8192].map(bits_of_count);
        assert_eq!(found, [0, 0, 1, 2, 2, 3, 8, 8, 9, 13]);
    }

    #[test]
    fn past_the_ends_of_f32_there_is_zero_and_infinity() {
        assert_eq!(restore(f32::MIN_POSITIVE, 687), f32::INFINITY);
        assert_eq!(restore(f32::MAX, -687), 0.0);
        assert_eq!(restore(-0.0, 687), 0.0);
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        assert_eq!(
            exponent_of_largest([1.0, f32::NAN, f32::INFINITY].into_iter()),
            Err(1)
        );
        assert_eq!(exponent_of_largest([0.0, -0.0].into_iter()), Ok(None));
    }
}
