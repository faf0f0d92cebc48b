//! z, |z|², β and β̄ of many signals at once, on all threads.
//!
//! Each signal goes through `bispectral-core`, with the device's bits; or, for β̄ of models that store W as it is and of those
//! that store a commutative group instead, all of a block go through products of matrices or a transform ([`Arithmetic::Fast`]): the same
//! sums in another order, off by some 1e-7.

use super::batch::{self, Batch};
use super::characters::{self, Characters};
use crate::data::rounding::{Unfit, to_f32, to_f32_direction};
use crate::limits::interruption;
use crate::{Error, Result};
use bispectral_core::{Complex32, Model};
use ndarray::{ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;
use std::sync::Arc;

/// Signals that one thread takes at a time.
const BLOCK: usize = 128;
/// Fewer signals than this are faster one by one: products of rows are then made for too few.
pub const FEW: usize = 8;

/// What is computed of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// β̄, the normalised bispectrum.
    Invariants,
    /// β.
    Bispectrum,
    /// z = W x.
    Coefficients,
    /// |z|².
    Power,
    /// The real features that a classifier takes, whatever kind of model it is.
    Features,
}

/// In which order sums are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// The device's: the same bits on every processor, and for any number of signals.
    Exact,
    /// The fastest: where there are many signals, products of matrices for a model that stores W as it is, a transform for one of a
    /// commutative group.
    Fast,
}

/// What [`Arithmetic::Fast`] needs of a model: made once, it serves any number of [`Features`].
#[derive(Debug, Clone)]
pub struct Many {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Dense(Batch),
    Characters(Characters),
}

impl Many {
    /// None where signals of this model are computed one by one.
    #[must_use]
    pub fn of(model: &Model<'_>) -> Option<Self> {
        let dense = Batch::new(model).map(Kind::Dense);
        let kind = dense.or_else(|| Characters::new(model).map(Kind::Characters))?;
        Some(Many { kind })
    }

    /// β̄ of a block; what is out of range is left not finite.
    fn compute(&self, samples: &[f32], inputs: usize, room: &mut Room, out: &mut [Complex32]) {
        match &self.kind {
            Kind::Dense(batch) => batch.compute_complex(samples, inputs, &mut room.dense, out),
            Kind::Characters(characters) => characters.compute(samples, &mut room.characters, out),
        }
    }
}

/// What one thread computes many signals in.
#[derive(Debug, Default)]
struct Room {
    dense: batch::Room,
    characters: characters::Room,
}

/// A number of a signal.
pub trait Value: Copy + Into<f64> + Sync {}
impl Value for f32 {}
impl Value for f64 {}

/// What computes a quantity of a model's signals.
///
/// ```
/// use bispectral_core::Complex32;
/// use bispectral_learn::model::features::{Arithmetic, Features, Quantity};
/// use bispectral_learn::model::file::ModelBytes;
/// use ndarray::array;
///
/// let model = ModelBytes::of(&array![[Complex32::new(1.0, 0.0)]].view(), "one", None)?;
/// let features = Features::new(model.view(), Quantity::Invariants, Arithmetic::Exact);
/// let mut out = vec![Complex32::ZERO; 2 * features.width()];
/// features.complex(array![[3.0_f64], [-2.0]].view(), &mut out)?;
/// assert_eq!(out, [Complex32::new(1.0, 0.0), Complex32::new(-1.0, 0.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Features<'m> {
    model: Model<'m>,
    quantity: Quantity,
    many: Option<Arc<Many>>,
}

/// What one thread computes in.
struct Workspace {
    wide: Vec<f64>,
    x: Vec<f32>,
    scratch: Vec<f32>,
}

/// The number of a signal without a result, and why.
type Refusal = (usize, String, &'static str);

impl<'m> Features<'m> {
    /// Of this model.
    #[must_use]
    pub fn new(model: Model<'m>, quantity: Quantity, arithmetic: Arithmetic) -> Self {
        let many = arithmetic == Arithmetic::Fast && quantity == Quantity::Invariants;
        let many = many.then(|| Many::of(&model)).flatten();
        Features {
            model,
            quantity,
            many: many.map(Arc::new),
        }
    }

    /// The invariants of this model by [`Arithmetic::Fast`], with what was made of it before.
    #[must_use]
    pub fn prepared(model: Model<'m>, many: Option<Arc<Many>>) -> Self {
        Features {
            model,
            quantity: Quantity::Invariants,
            many,
        }
    }

    /// Numbers of one signal's result.
    #[must_use]
    pub fn width(&self) -> usize {
        match self.quantity {
            Quantity::Invariants | Quantity::Bispectrum => self.model.pairs(),
            Quantity::Coefficients | Quantity::Power => self.model.rows(),
            Quantity::Features => self.model.feature_count(),
        }
    }

    /// The complex quantity of every signal, one a row of `signals`, one behind the other in `out`.
    ///
    /// # Errors
    /// Signals are of another length, or the first that has no result: it is zero or not finite, or f32 does not hold it.
    ///
    /// # Panics
    /// `out` is not of [`width`](Self::width) numbers a signal, or the quantity is real.
    pub fn complex<T: Value>(
        &self,
        signals: ArrayView2<'_, T>,
        out: &mut [Complex32],
    ) -> Result<()> {
        assert_eq!(out.len(), signals.nrows() * self.width(), "results");
        assert!(!self.is_real(), "a complex quantity");
        match &self.many {
            Some(many) if signals.nrows() >= FEW => self.blocks(many, signals, out),
            _ => self.each(signals, out, |x, scratch, out| self.one(x, scratch, out)),
        }
    }

    fn is_real(&self) -> bool {
        matches!(self.quantity, Quantity::Power | Quantity::Features)
    }

    /// The real quantity of every signal, one behind the other.
    ///
    /// # Errors
    /// As [`complex`](Self::complex).
    ///
    /// # Panics
    /// `out` is not of [`width`](Self::width) numbers a signal, or the quantity is complex.
    pub fn real<T: Value>(&self, signals: ArrayView2<'_, T>, out: &mut [f32]) -> Result<()> {
        assert_eq!(out.len(), signals.nrows() * self.width(), "results");
        assert!(self.is_real(), "a real quantity");
        self.each(signals, out, |x, scratch, out| match self.quantity {
            Quantity::Power => self.model.power_spectrum(x, scratch, out),
            _ => self.model.features(x, scratch, out),
        })
    }

    /// One signal, by the core.
    fn one(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        out: &mut [Complex32],
    ) -> std::result::Result<(), bispectral_core::Error> {
        match self.quantity {
            Quantity::Invariants => self.model.invariants(x, scratch, out),
            Quantity::Bispectrum => self.model.bispectrum(x, scratch, out),
            // Real ones are not asked for here.
            Quantity::Coefficients | Quantity::Power | Quantity::Features => {
                self.model.coefficients(x, scratch, out)
            }
        }
    }

    /// Every signal by itself; of those without a result, the first is told of, whatever the order they are computed in.
    fn each<T: Value, R: Send>(
        &self,
        signals: ArrayView2<'_, T>,
        out: &mut [R],
        compute: impl Fn(
            &[f32],
            &mut [f32],
            &mut [R],
        ) -> std::result::Result<(), bispectral_core::Error>
        + Sync,
    ) -> Result<()> {
        self.check_length(signals.ncols())?;
        let refused = out
            .par_chunks_mut(self.width().max(1))
            .enumerate()
            .map_init(
                || self.workspace(),
                |workspace, (at, out)| {
                    interruption::check();
                    let Workspace { wide, x, scratch } = workspace;
                    if let Err(unfit) = self.round(signals.row(at), wide, x) {
                        return Some((at, unfit.to_string(), unfit.remedy()));
                    }
                    let refused = compute(x, scratch, out).err();
                    refused.map(|error| refusal(at, error))
                },
            )
            .flatten()
            .min_by_key(|(at, ..)| *at);
        answer(refused)
    }

    /// Blocks of signals together; what is out of range there has an answer from the core.
    fn blocks<T: Value>(
        &self,
        many: &Many,
        signals: ArrayView2<'_, T>,
        out: &mut [Complex32],
    ) -> Result<()> {
        self.check_length(signals.ncols())?;
        let (inputs, width) = (self.model.inputs(), self.width());
        // No thread waits for another that has the last whole block.
        let threads = rayon::current_num_threads();
        let block = signals.nrows().div_ceil(threads).clamp(FEW, BLOCK);
        let refused = out
            .par_chunks_mut(block * width)
            .enumerate()
            .map_init(
                || (self.workspace(), Room::default(), Vec::new()),
                |(workspace, room, samples), (part, out)| {
                    let Workspace { wide, x, scratch } = workspace;
                    let first = part * block;
                    samples.clear();
                    let rows = signals.axis_iter(Axis(0)).skip(first);
                    for (at, row) in rows.take(out.len() / width).enumerate() {
                        if let Err(unfit) = self.round(row, wide, x) {
                            return Some((first + at, unfit.to_string(), unfit.remedy()));
                        }
                        samples.extend_from_slice(x);
                    }
                    many.compute(samples, inputs, room, out);
                    let rows = samples
                        .chunks_exact(inputs)
                        .zip(out.chunks_exact_mut(width));
                    rows.enumerate().find_map(|(at, (x, out))| {
                        if out[0].is_finite() {
                            return None;
                        }
                        let refused = self.one(x, scratch, out).err();
                        refused.map(|error| refusal(first + at, error))
                    })
                },
            )
            .flatten()
            .min_by_key(|(at, ..)| *at);
        answer(refused)
    }

    fn workspace(&self) -> Workspace {
        Workspace {
            wide: Vec::new(),
            x: Vec::new(),
            scratch: vec![0.0; self.model.scratch_len()],
        }
    }

    /// β̄ does not depend on the signal's scale; everything else does.
    fn round<T: Value>(
        &self,
        signal: ArrayView1<'_, T>,
        wide: &mut Vec<f64>,
        x: &mut Vec<f32>,
    ) -> std::result::Result<(), Unfit> {
        wide.clear();
        match signal.as_slice() {
            Some(signal) => wide.extend(signal.iter().map(|&value| value.into())),
            None => wide.extend(signal.iter().map(|&value| value.into())),
        }
        match self.quantity {
            Quantity::Invariants | Quantity::Features => to_f32_direction(wide, x),
            _ => to_f32(wide, x),
        }
    }

    fn check_length(&self, found: usize) -> Result<()> {
        let inputs = self.model.inputs();
        if found == inputs {
            return Ok(());
        }
        let what = format!("they have {found} values, the model has {inputs} inputs");
        let remedy = format!("give signals of shape [samples, {inputs}]");
        Err(Error::new("signals", what, remedy))
    }
}

fn answer(refused: Option<Refusal>) -> Result<()> {
    let error = |(at, what, remedy)| Error::new(format!("sample {at}"), what, remedy);
    refused.map(error).map_or(Ok(()), Err)
}

/// What the core says of a signal whose values are in order.
fn refusal(at: usize, error: bispectral_core::Error) -> Refusal {
    use bispectral_core::Error::Overflow;
    match error {
        Overflow => (
            at,
            "the result is larger than f32 holds".into(),
            "scale the signals down, or compute normalised features, which do not depend on scale",
        ),
        _ => (at, error.to_string(), "leave the sample out"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::model::file::ModelBytes;
    use crate::model::form::{Encoding, Form, Source, Structure};
    use bispectral_core::format::Transform;
    use ndarray::Array2;

    fn model(group: &str) -> ModelBytes {
        let w = group.parse::<Group>().unwrap().characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        ModelBytes::of(&w.view(), group, Some(group)).unwrap()
    }

    fn signals(count: usize, inputs: usize) -> Array2<f64> {
        Array2::from_shape_fn((count, inputs), |(s, n)| {
            (0.7 * (s * n * n + 3 * n + s) as f64).sin() + 0.1
        })
    }

    fn computed(features: &Features<'_>, signals: &Array2<f64>) -> Result<Vec<Complex32>> {
        let mut out = vec![Complex32::ZERO; signals.nrows() * features.width()];
        features.complex(signals.view(), &mut out).map(|()| out)
    }

    fn transformed(group: &str) -> ModelBytes {
        let dense = model(group);
        let form = Form {
            encoding: Encoding::F32,
            structure: Structure::Cyclic(Transform::Sums),
            pairs: None,
        };
        let form = Source::new(group.as_ref(), &dense.view()).form(&form, None);
        ModelBytes::from_bytes(form.unwrap()).unwrap()
    }

    #[test]
    fn exact_ones_are_the_cores_and_fast_ones_are_near() {
        check_both(&model("Z4xZ3"));
        check_both(&transformed("Z4xZ3"));
    }

    fn check_both(bytes: &ModelBytes) {
        let signals = signals(150, 12);
        let features = |arithmetic| Features::new(bytes.view(), Quantity::Invariants, arithmetic);
        let exact = computed(&features(Arithmetic::Exact), &signals).unwrap();
        let fast = computed(&features(Arithmetic::Fast), &signals).unwrap();
        assert!(features(Arithmetic::Fast).many.is_some());
        for (at, x) in signals.rows().into_iter().enumerate() {
            let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let expected = bytes.view().invariants_vec(&x).unwrap();
            assert_eq!(exact[at * 78..][..78], expected, "sample {at}");
        }
        for (fast, exact) in fast.iter().zip(&exact) {
            // Sums of 12 products in another order, of terms of at most one.
            assert!((fast - exact).norm() < 2e-6, "{fast} {exact}");
        }
    }

    #[test]
    fn the_scale_of_a_signal_is_no_matter_for_invariants() {
        let (bytes, transformed) = (model("Z8"), transformed("Z8"));
        for (bytes, arithmetic) in [
            (&bytes, Arithmetic::Exact),
            (&bytes, Arithmetic::Fast),
            (&transformed, Arithmetic::Fast),
        ] {
            let features = Features::new(bytes.view(), Quantity::Invariants, arithmetic);
            let expected = computed(&features, &signals(20, 8)).unwrap();
            for scale in [1e300, 1e-300, 1e-40] {
                let found = computed(&features, &(signals(20, 8) * scale)).unwrap();
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).norm() < 1e-5, "{scale}");
                }
            }
        }
    }

    #[test]
    fn the_first_sample_without_a_result_is_named() {
        let (bytes, transformed) = (model("Z8"), transformed("Z8"));
        for (bytes, arithmetic, quantity) in [
            (&bytes, Arithmetic::Exact, Quantity::Invariants),
            (&bytes, Arithmetic::Fast, Quantity::Invariants),
            (&transformed, Arithmetic::Fast, Quantity::Invariants),
            (&bytes, Arithmetic::Exact, Quantity::Coefficients),
        ] {
            let features = Features::new(bytes.view(), quantity, arithmetic);
            let mut broken = signals(300, 8);
            broken[[299, 0]] = f64::INFINITY;
            broken.row_mut(170).fill(0.0);
            broken[[180, 3]] = f64::NAN;
            let line = computed(&features, &broken).unwrap_err().to_string();
            assert!(
                line.starts_with("sample 170: every value is zero: "),
                "{line}"
            );
        }
        let features = Features::new(bytes.view(), Quantity::Invariants, Arithmetic::Fast);
        let line = computed(&features, &signals(20, 7))
            .unwrap_err()
            .to_string();
        assert_eq!(
            line,
            "signals: they have 7 values, the model has 8 inputs: give signals of shape [samples, 8]"
        );
    }

    #[test]
    fn power_is_the_square_of_coefficients_and_the_number_of_threads_changes_no_bit() {
        let (bytes, signals) = (model("Z6"), signals(40, 6));
        let z = Features::new(bytes.view(), Quantity::Coefficients, Arithmetic::Exact);
        let power = Features::new(bytes.view(), Quantity::Power, Arithmetic::Exact);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| {
                let mut out = vec![0.0; 40 * 6];
                power.real(signals.view(), &mut out).unwrap();
                (out, computed(&z, &signals).unwrap())
            })
        };
        let (power, z) = with(1);
        assert!(with(3) == (power.clone(), z.clone()));
        for (power, z) in power.iter().zip(z) {
            assert!((power - z.norm_sqr()).abs() < 1e-5 * power.max(1.0));
        }
        let real = Features::new(bytes.view(), Quantity::Features, Arithmetic::Exact);
        let invariants = Features::new(bytes.view(), Quantity::Invariants, Arithmetic::Exact);
        let mut out = vec![0.0; 40 * real.width()];
        real.real(signals.view(), &mut out).unwrap();
        for (parts, term) in out.chunks(2).zip(computed(&invariants, &signals).unwrap()) {
            assert_eq!(parts, [term.re, term.im]);
        }
    }
}
