//! Samples as they are measured: floats, or the integers of a converter, which need no copy as floats.

/// A sample of a signal: an f32, or a 16-bit integer as an analog-to-digital converter gives it.
///
/// Every integer of 16 bits is an f32, too, so a signal of integers has the bits of the same signal as floats.
///
/// ```
/// # use bispectral_core::{Complex32, Model, pair_count, scratch_len};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
/// let model = Model::from_bytes(bytes)?;
/// let (mut scratch, mut a) = ([0.0; scratch_len(4, 3)], [Complex32::ZERO; pair_count(3)]);
/// let mut b = a;
/// model.invariants(&[2048_u16, 4095, 0, 7], &mut scratch, &mut a)?;
/// model.invariants(&[2048.0, 4095.0, 0.0, 7.0], &mut scratch, &mut b)?;
/// assert_eq!(a, b);
/// # Ok::<(), bispectral_core::Error>(())
/// ```
pub trait Sample: Copy + sealed::Sealed {}

impl Sample for f32 {}
impl Sample for i16 {}
impl Sample for u16 {}

/// Numbers that are converted at a time: they take so many floats of stack.
const RUN: usize = 8;

/// Samples as the computations take them, so that these are compiled once for all types.
#[derive(Clone, Copy)]
pub enum Signal<'x> {
    /// Floats where they lie.
    Floats(&'x [f32]),
    /// What writes the floats that numbers of another type are, from an index on, and how many there are.
    Numbers(&'x dyn Fn(usize, &mut [f32]), usize),
    /// A window whose coefficients are known.
    #[cfg(feature = "sliding")]
    Window(Window<'x>),
}

/// A window over a stream as [`Sliding`](crate::Sliding) has it.
#[cfg(feature = "sliding")]
#[derive(Clone, Copy)]
pub struct Window<'x> {
    /// Samples in the order of the ring, and how many there are.
    pub(crate) samples: &'x dyn Fn(usize) -> f32,
    pub(crate) len: usize,
    /// Σ X χ(g) of some characters, of samples x = X·2^-places and roots in 2^-30.
    pub(crate) tracked: &'x [Tracked],
    pub(crate) places: i32,
    /// Σ X².
    pub(crate) energy: u64,
}

/// A coefficient that follows a stream.
#[cfg(feature = "sliding")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tracked {
    pub(crate) character: u16,
    /// Of its roots of unity that of the next sample, and by how much the one behind that has a larger number.
    pub(crate) root: u16,
    pub(crate) step: u16,
    pub(crate) sum: num_complex::Complex<i64>,
}

/// Adds a change of a sample to a coefficient.
#[cfg(feature = "sliding")]
pub(crate) type Follow<'f> = dyn Fn(&mut Tracked, i64) + 'f;

impl Signal<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Signal::Floats(x) => x.len(),
            Signal::Numbers(_, len) => *len,
            #[cfg(feature = "sliding")]
            Signal::Window(window) => window.len,
        }
    }

    /// The sample at this index; zero past the last.
    #[inline(never)]
    pub(crate) fn get(&self, n: usize) -> f32 {
        match self {
            Signal::Floats(x) => x.get(n).copied().unwrap_or_default(),
            Signal::Numbers(read, _) => {
                let mut value = [0.0];
                read(n, &mut value);
                value[0]
            }
            #[cfg(feature = "sliding")]
            Signal::Window(window) => (window.samples)(n),
        }
    }

    /// Hands out the samples in runs, each with the index of its first: floats are one run. So a loop over them is in flash
    /// once.
    #[inline(always)]
    pub(crate) fn each_run(self, mut each: impl FnMut(usize, &[f32])) {
        let mut buffer = [0.0; RUN];
        let mut from = 0;
        loop {
            let run = self.run(from, &mut buffer);
            if run.is_empty() {
                return;
            }
            each(from, run);
            from += run.len();
        }
    }

    /// The samples from this index on: all of them, or as many as there is room for. Not inlined, so that no loop is compiled
    /// once for each kind.
    #[inline(never)]
    fn run<'s>(&'s self, from: usize, buffer: &'s mut [f32; RUN]) -> &'s [f32] {
        let room = self.len().saturating_sub(from).min(RUN);
        match self {
            Signal::Floats(x) => x.get(from..).unwrap_or_default(),
            Signal::Numbers(read, _) => {
                let run = buffer.get_mut(..room).unwrap_or_default();
                read(from, run);
                run
            }
            #[cfg(feature = "sliding")]
            Signal::Window(window) => {
                let run = buffer.get_mut(..room).unwrap_or_default();
                for (n, x) in run.iter_mut().enumerate() {
                    *x = (window.samples)(from + n);
                }
                run
            }
        }
    }

    /// Hands out index and value of every sample.
    #[inline(always)]
    pub(crate) fn each(self, mut each: impl FnMut(usize, f32)) {
        self.each_run(|from, run| {
            for (n, x) in run.iter().enumerate() {
                each(from + n, *x);
            }
        });
    }
}

pub(crate) mod sealed {
    use super::Signal;

    /// How samples are seen.
    pub trait Sealed: Sized {
        /// Calls `with` with samples of this type.
        fn signal<R>(x: &[Self], with: impl FnOnce(Signal<'_>) -> R) -> R;

        /// The sample as an f32.
        #[cfg(feature = "sliding")]
        fn float(self) -> f32;

        /// Whether it is an integer already.
        #[cfg(feature = "sliding")]
        const IS_WHOLE: bool;
    }

    impl Sealed for f32 {
        #[inline(always)]
        fn signal<R>(x: &[f32], with: impl FnOnce(Signal<'_>) -> R) -> R {
            with(Signal::Floats(x))
        }

        #[cfg(feature = "sliding")]
        fn float(self) -> f32 {
            self
        }

        #[cfg(feature = "sliding")]
        const IS_WHOLE: bool = false;
    }

    macro_rules! integers {
        ($($integer:ty),*) => {
            $(impl Sealed for $integer {
                fn signal<R>(x: &[$integer], with: impl FnOnce(Signal<'_>) -> R) -> R {
                    let read = |from: usize, out: &mut [f32]| {
                        let x = x.get(from..).unwrap_or_default();
                        for (out, x) in out.iter_mut().zip(x) {
                            *out = (*x).into();
                        }
                    };
                    with(Signal::Numbers(&read, x.len()))
                }

                #[cfg(feature = "sliding")]
                fn float(self) -> f32 {
                    self.into()
                }

                #[cfg(feature = "sliding")]
                const IS_WHOLE: bool = true;
            })*
        };
    }
    integers!(i16, u16);
}
