//! f32 and f64, one at a time and as many at a time as the processor's vectors hold.

use faer::traits::ComplexField;
use num_traits::{Float, NumAssign};
use pulp::Simd;
use std::fmt::{Debug, Display};
use std::iter::Sum;

/// Rows are padded to a multiple of this, which is whole vectors on every processor: one of AVX-512's.
pub(crate) const LANES: usize = 16;

/// `len` up to whole vectors.
pub(crate) const fn padded(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

/// f32 or f64.
pub trait Real:
    Vectors + Float + NumAssign + ComplexField + Sum + Default + Debug + Display + Send + Sync + 'static
{
    /// The nearest number to a double.
    fn rounded(value: f64) -> Self;

    /// As a double, exactly.
    fn wide(self) -> f64;
}

impl Real for f32 {
    fn rounded(value: f64) -> Self {
        value as f32
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn rounded(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }
}

/// The vectors of a number, and what is done with them.
pub trait Vectors: Sized {
    /// Some numbers side by side.
    type Vector<S: Simd>: Copy;

    /// The whole vectors of a slice.
    fn vectors<S: Simd>(slice: &[Self]) -> &[Self::Vector<S>];
    /// The whole vectors of a slice, to be changed.
    fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Vector<S>];
    /// The same number everywhere.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// a + b
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a − b
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a·b
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a·b + c, rounded once where that is one instruction.
    fn times_plus<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// c − a·b, likewise.
    fn minus_times<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The sum of its numbers.
    fn total<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;
}

macro_rules! vectors {
    ($real:ty, $vector:ident, $slice:ident, $slice_mut:ident, $splat:ident, $add:ident, $sub:ident, $mul:ident,
     $mul_add:ident, $mul_sub:ident, $sum:ident) => {
        impl Vectors for $real {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn vectors<S: Simd>(slice: &[Self]) -> &[S::$vector] {
                S::$slice(slice).0
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [S::$vector] {
                S::$slice_mut(slice).0
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vector {
                simd.$splat(value)
            }

            #[inline(always)]
            fn plus<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$add(a, b)
            }

            #[inline(always)]
            fn minus<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$sub(a, b)
            }

            #[inline(always)]
            fn times<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$mul(a, b)
            }

            #[inline(always)]
            fn times_plus<S: Simd>(
                simd: S,
                a: S::$vector,
                b: S::$vector,
                c: S::$vector,
            ) -> S::$vector {
                simd.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn minus_times<S: Simd>(
                simd: S,
                a: S::$vector,
                b: S::$vector,
                c: S::$vector,
            ) -> S::$vector {
                simd.$mul_sub(a, b, c)
            }

            #[inline(always)]
            fn total<S: Simd>(simd: S, a: S::$vector) -> Self {
                simd.$sum(a)
            }
        }
    };
}

vectors!(
    f32,
    f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    mul_add_e_f32s,
    negate_mul_add_e_f32s,
    reduce_sum_f32s
);
vectors!(
    f64,
    f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    mul_add_e_f64s,
    negate_mul_add_e_f64s,
    reduce_sum_f64s
);
