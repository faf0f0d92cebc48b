//! Arithmetic on whole vectors of the processor at hand, written as on numbers.

use crate::numeric::Real;
use num_complex::Complex;
use pulp::Simd;
use std::ops::{Add, Mul, Sub};

/// A vector that knows its processor.
#[derive(Clone, Copy)]
pub(super) struct Lanes<T: Real, S: Simd> {
    simd: S,
    pub(super) vector: T::Vector<S>,
}

impl<T: Real, S: Simd> Lanes<T, S> {
    #[inline(always)]
    pub(super) fn new(simd: S, vector: T::Vector<S>) -> Self {
        Lanes { simd, vector }
    }

    #[inline(always)]
    pub(super) fn splat(simd: S, value: T) -> Self {
        Lanes::new(simd, T::splat(simd, value))
    }

    #[inline(always)]
    pub(super) fn zero(simd: S) -> Self {
        Lanes::splat(simd, T::zero())
    }

    /// self·b + c
    #[inline(always)]
    pub(super) fn mul_add(self, b: Self, c: Self) -> Self {
        Lanes::new(
            self.simd,
            T::times_plus(self.simd, self.vector, b.vector, c.vector),
        )
    }

    /// c − self·b
    #[inline(always)]
    pub(super) fn mul_sub(self, b: Self, c: Self) -> Self {
        Lanes::new(
            self.simd,
            T::minus_times(self.simd, self.vector, b.vector, c.vector),
        )
    }

    #[inline(always)]
    pub(super) fn sum(self) -> T {
        T::total(self.simd, self.vector)
    }
}

impl<T: Real, S: Simd> Add for Lanes<T, S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Lanes::new(self.simd, T::plus(self.simd, self.vector, other.vector))
    }
}

impl<T: Real, S: Simd> Sub for Lanes<T, S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Lanes::new(self.simd, T::minus(self.simd, self.vector, other.vector))
    }
}

impl<T: Real, S: Simd> Mul for Lanes<T, S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Lanes::new(self.simd, T::times(self.simd, self.vector, other.vector))
    }
}

/// Complex numbers side by side.
#[derive(Clone, Copy)]
pub(super) struct ComplexLanes<T: Real, S: Simd> {
    pub(super) re: Lanes<T, S>,
    pub(super) im: Lanes<T, S>,
}

impl<T: Real, S: Simd> ComplexLanes<T, S> {
    #[inline(always)]
    pub(super) fn splat(simd: S, value: Complex<T>) -> Self {
        ComplexLanes {
            re: Lanes::splat(simd, value.re),
            im: Lanes::splat(simd, value.im),
        }
    }

    #[inline(always)]
    pub(super) fn zero(simd: S) -> Self {
        ComplexLanes {
            re: Lanes::zero(simd),
            im: Lanes::zero(simd),
        }
    }

    /// self · conj(b)
    #[inline(always)]
    pub(super) fn times_conj(self, b: Self) -> Self {
        ComplexLanes {
            re: self.re.mul_add(b.re, self.im * b.im),
            im: self.re.mul_sub(b.im, self.im * b.re),
        }
    }

    /// self + a · conj(b)
    #[inline(always)]
    pub(super) fn plus_times_conj(self, a: Self, b: Self) -> Self {
        ComplexLanes {
            re: a.re.mul_add(b.re, a.im.mul_add(b.im, self.re)),
            im: a.re.mul_sub(b.im, a.im.mul_add(b.re, self.im)),
        }
    }

    /// By a real number each.
    #[inline(always)]
    pub(super) fn scale(self, by: Lanes<T, S>) -> Self {
        ComplexLanes {
            re: self.re * by,
            im: self.im * by,
        }
    }
}

impl<T: Real, S: Simd> Add for ComplexLanes<T, S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        ComplexLanes {
            re: self.re + b.re,
            im: self.im + b.im,
        }
    }
}

impl<T: Real, S: Simd> Sub for ComplexLanes<T, S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        ComplexLanes {
            re: self.re - b.re,
            im: self.im - b.im,
        }
    }
}

impl<T: Real, S: Simd> Mul for ComplexLanes<T, S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        ComplexLanes {
            re: self.im.mul_sub(b.im, self.re * b.re),
            im: self.im.mul_add(b.re, self.re * b.im),
        }
    }
}
