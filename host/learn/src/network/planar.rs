//! Complex numbers as a slice of real parts and one of imaginary parts, so that vectors of them are loaded as they lie.

use super::lanes::{ComplexLanes, Lanes};
use crate::numeric::Real;
use num_complex::Complex;
use pulp::Simd;
use std::ops::{Deref, DerefMut};

/// A cache line.
const ALIGNMENT: usize = 64;

/// The whole vectors of a slice.
#[inline(always)]
pub(super) fn lanes<T: Real, S: Simd>(simd: S, slice: &[T]) -> impl Iterator<Item = Lanes<T, S>> {
    T::vectors::<S>(slice)
        .iter()
        .map(move |vector| Lanes::new(simd, *vector))
}

/// The places of the whole vectors of a slice.
#[inline(always)]
pub(super) fn lanes_mut<T: Real, S: Simd>(
    simd: S,
    slice: &mut [T],
) -> impl Iterator<Item = Place<'_, T, S>> {
    T::vectors_mut::<S>(slice)
        .iter_mut()
        .map(move |vector| Place { simd, vector })
}

/// Where a vector lies.
pub(super) struct Place<'a, T: Real, S: Simd> {
    simd: S,
    vector: &'a mut T::Vector<S>,
}

impl<T: Real, S: Simd> Place<'_, T, S> {
    #[inline(always)]
    pub(super) fn get(&self) -> Lanes<T, S> {
        Lanes::new(self.simd, *self.vector)
    }

    #[inline(always)]
    pub(super) fn set(self, lanes: Lanes<T, S>) {
        *self.vector = lanes.vector;
    }
}

/// Where a vector of complex numbers lies.
pub(super) struct ComplexPlace<'a, T: Real, S: Simd> {
    re: Place<'a, T, S>,
    im: Place<'a, T, S>,
}

impl<T: Real, S: Simd> ComplexPlace<'_, T, S> {
    #[inline(always)]
    pub(super) fn get(&self) -> ComplexLanes<T, S> {
        ComplexLanes {
            re: self.re.get(),
            im: self.im.get(),
        }
    }

    #[inline(always)]
    pub(super) fn set(self, lanes: ComplexLanes<T, S>) {
        self.re.set(lanes.re);
        self.im.set(lanes.im);
    }
}

/// Real and imaginary parts, to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planar<'a, T> {
    pub(super) re: &'a [T],
    pub(super) im: &'a [T],
}

impl<'a, T: Real> Planar<'a, T> {
    /// Of [real | imaginary].
    #[inline(always)]
    pub(super) fn of_row(row: &'a [T]) -> Self {
        let (re, im) = row.split_at(row.len() / 2);
        Planar { re, im }
    }

    #[inline(always)]
    pub(super) fn at(self, index: usize) -> Complex<T> {
        Complex::new(self.re[index], self.im[index])
    }

    #[inline(always)]
    pub(super) fn range(self, from: usize, len: usize) -> Self {
        Planar {
            re: &self.re[from..from + len],
            im: &self.im[from..from + len],
        }
    }

    #[inline(always)]
    pub(super) fn lanes<S: Simd>(self, simd: S) -> impl Iterator<Item = ComplexLanes<T, S>> {
        let pairs = lanes(simd, self.re).zip(lanes(simd, self.im));
        pairs.map(|(re, im)| ComplexLanes { re, im })
    }
}

/// Real and imaginary parts, to be written.
#[derive(Debug)]
pub(super) struct PlanarMut<'a, T> {
    pub(super) re: &'a mut [T],
    pub(super) im: &'a mut [T],
}

impl<'a, T: Real> PlanarMut<'a, T> {
    /// Of [real | imaginary].
    #[inline(always)]
    pub(super) fn of_row(row: &'a mut [T]) -> Self {
        let (re, im) = row.split_at_mut(row.len() / 2);
        PlanarMut { re, im }
    }

    #[inline(always)]
    pub(super) fn range(&mut self, from: usize, len: usize) -> PlanarMut<'_, T> {
        PlanarMut {
            re: &mut self.re[from..from + len],
            im: &mut self.im[from..from + len],
        }
    }

    #[inline(always)]
    pub(super) fn lanes<S: Simd>(self, simd: S) -> impl Iterator<Item = ComplexPlace<'a, T, S>> {
        let pairs = lanes_mut(simd, self.re).zip(lanes_mut(simd, self.im));
        pairs.map(|(re, im)| ComplexPlace { re, im })
    }
}

/// A vector of numbers that begins at a cache line and keeps its memory when it becomes shorter.
#[derive(Debug, Default)]
pub(super) struct Buffer<T> {
    storage: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Real> Buffer<T> {
    /// Makes it `len` long; what it holds then is unspecified.
    pub(super) fn resize(&mut self, len: usize) {
        let spare = ALIGNMENT / size_of::<T>();
        if self.storage.len() < len + spare {
            self.storage = vec![T::zero(); len + spare];
            // An offset past `spare` would mean that the alignment cannot be had: then it is not.
            self.start = self.storage.as_ptr().align_offset(ALIGNMENT).min(spare);
        }
        self.len = len;
    }

    /// Makes it `len` zeros.
    pub(super) fn zeros(&mut self, len: usize) {
        self.resize(len);
        self.fill(T::zero());
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.storage[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

/// Two [`Buffer`]s of one length.
#[derive(Debug, Default)]
pub(super) struct PlanarBuffer<T> {
    pub(super) re: Buffer<T>,
    pub(super) im: Buffer<T>,
}

impl<T: Real> PlanarBuffer<T> {
    pub(super) fn resize(&mut self, len: usize) {
        self.re.resize(len);
        self.im.resize(len);
    }

    pub(super) fn zeros(&mut self, len: usize) {
        self.re.zeros(len);
        self.im.zeros(len);
    }

    #[inline(always)]
    pub(super) fn view(&self) -> Planar<'_, T> {
        Planar {
            re: &self.re,
            im: &self.im,
        }
    }

    #[inline(always)]
    pub(super) fn view_mut(&mut self) -> PlanarMut<'_, T> {
        PlanarMut {
            re: &mut self.re,
            im: &mut self.im,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_at_a_cache_line_and_keeps_its_memory() {
        let mut buffer = Buffer::<f32>::default();
        buffer.zeros(100);
        assert_eq!(buffer.as_ptr().align_offset(ALIGNMENT), 0);
        let place = buffer.as_ptr();
        buffer.resize(7);
        buffer.resize(100);
        assert_eq!((buffer.as_ptr(), buffer.len()), (place, 100));
    }
}
