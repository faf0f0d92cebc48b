//! A window that slides over a stream of samples: each updates the coefficients that the invariants need, in as many
//! multiplications as there are of them, instead of a whole transform.
//!
//! The sums are exact (see `cyclic/window.rs`): after any number of samples every bit is that of a window which was just filled.

use crate::error::{Error, saturate};
use crate::magnitude::Magnitude;
use crate::model::Model;
use crate::sample::{Sample, Signal, Tracked, Window};
use crate::scaling::{bits_of_count, exponent_of_largest, restore};
use heapless::Vec;
use num_complex::Complex32;

/// Bits of samples that were floats, at most: as many as an f32 has.
const MOST_BITS: u32 = 24;
/// Bits of a sample and of ⌈log2 N⌉ together, whose sum with roots of 30 bits fits 63.
const SUM_BITS: u32 = 32;

/// The last N samples of a stream, and the coefficients of a model that follow them.
///
/// For cyclic models (structures `cyclic` and `fft`) whose inputs are consecutive times: one sample in costs a multiplication a
/// coefficient, and [`features`](Self::features), [`stream`](Self::stream) and [`classify`](Self::classify) need no
/// transform. What they give are the results for the window begun at another of its samples, which is what the invariants do
/// not see. `WINDOW` is N or more, `CHARACTERS` is [`Sizes::characters`](crate::Sizes) or more, both constants of
/// [`include_model!`](crate::include_model).
///
/// Integers of a converter are taken as they are; floats are rounded to the whole numbers of [`with_range`](Self::with_range).
///
/// ```
/// use bispectral_core::{Model, Sliding};
/// # use bispectral_core::format::{Parts, Structure, Weights};
/// # let (numbers, roots) = ([0, 1, 2, 3], [1 << 30, 0, -(1 << 30), 0, 0, -(1 << 30), 0, 1 << 30]);
/// # let numbers = || (&numbers[..]).into();
/// # let structure = Structure::Cyclic {
/// #     transform: Default::default(), factors: (&[4]).into(), characters: numbers(), elements: numbers(),
/// # };
/// # let weights = Weights::I32 { roots: (&roots).into(), amplitude: 0.5 };
/// # let parts = Parts { inputs: 4, rows: 4, structure, weights, ..Parts::default() };
/// # let mut bytes = vec![0; parts.encoded_len()?];
/// # let bytes = parts.write(&mut bytes)?;
///
/// // A model of Z4: four samples a turn, all characters.
/// let model = Model::from_bytes(bytes)?;
/// let mut window = Sliding::<i16, 4, 3>::new(model)?;
/// let (mut scratch, mut before, mut after) = ([0.0; 24], [0.0; 20], [0.0; 20]);
/// window.extend(&[500, -300, 0, 200])?;
/// window.features(&mut scratch, &mut before)?;
/// // Two samples of the next turn, which is the same: the window begins elsewhere.
/// window.extend(&[500, -300])?;
/// window.features(&mut scratch, &mut after)?;
/// assert_eq!(before, after);
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sliding<'a, S: Sample, const WINDOW: usize, const CHARACTERS: usize> {
    model: Model<'a>,
    /// In the order of their inputs; as many as there were, up to N.
    ring: Vec<S, WINDOW>,
    tracked: Vec<Tracked, CHARACTERS>,
    /// The input of the next sample.
    slot: usize,
    /// x = X·2^-places.
    places: i32,
    /// The largest |X|.
    largest: i32,
    /// Σ X².
    energy: u64,
}

impl<'a, S: Sample, const WINDOW: usize, const CHARACTERS: usize>
    Sliding<'a, S, WINDOW, CHARACTERS>
{
    /// An empty window; of floats, for samples between −1 and 1.
    ///
    /// # Errors
    /// [`Error::NotSliding`] where the model is not cyclic or its inputs are not consecutive times. [`Error::InputLength`] or
    /// [`Error::OutputLength`] where the window or the room for characters is too small for it.
    pub fn new(model: Model<'a>) -> Result<Self, Error> {
        Self::with_range(model, 1.0)
    }

    /// An empty window for floats up to this magnitude: they are rounded to whole numbers of min(24, 32 − ⌈log2 N⌉) bits, and
    /// what is larger counts as the largest, as with a converter. Integers need no range.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::Overflow`] where the range is zero or not finite.
    pub fn with_range(model: Model<'a>, range: f32) -> Result<Self, Error> {
        let inputs = model.inputs();
        if WINDOW < inputs {
            return Err(Error::InputLength {
                needed: saturate(inputs),
                found: saturate(WINDOW),
            });
        }
        let bits = MOST_BITS.min(SUM_BITS - bits_of_count(inputs));
        let (places, largest) = if S::IS_WHOLE {
            (0, i32::MAX)
        } else {
            let Ok(Some(exponent)) = exponent_of_largest([range].into_iter()) else {
                return Err(Error::Overflow);
            };
            (bits as i32 - 1 - exponent, (1 << bits) - 1)
        };
        let mut tracked: Vec<Tracked, CHARACTERS> = Vec::new();
        let most = model.most_characters();
        let mut add = |character: usize, new: &dyn Fn() -> Tracked| {
            let is_known = |old: &Tracked| usize::from(old.character) == character;
            tracked.len() == most || tracked.iter().any(is_known) || tracked.push(new()).is_ok()
        };
        if !model.track(&mut add)? {
            return Err(Error::OutputLength {
                needed: saturate(most),
                found: saturate(CHARACTERS),
            });
        }
        Ok(Sliding {
            model,
            ring: Vec::new(),
            tracked,
            slot: 0,
            places,
            largest,
            energy: 0,
        })
    }

    /// Takes the next sample, in place of that N samples ago.
    ///
    /// # Errors
    /// [`Error::NonFiniteInput`]: it was not taken.
    pub fn push(&mut self, sample: S) -> Result<(), Error> {
        self.extend(&[sample])
    }

    /// Takes samples one behind the other: a hop.
    ///
    /// # Errors
    /// [`Error::NonFiniteInput`] with the index of the first that is not a number: none was taken.
    pub fn extend(&mut self, hop: &[S]) -> Result<(), Error> {
        if let Some(index) = hop.iter().position(|sample| !sample.float().is_finite()) {
            let index = saturate(index);
            return Err(Error::NonFiniteInput { index });
        }
        let (places, largest) = (self.places, self.largest);
        let whole = |sample: S| whole(sample.float(), places, largest);
        let Sliding {
            model,
            ring,
            tracked,
            slot,
            energy,
            ..
        } = self;
        let inputs = model.inputs();
        model.follow(&mut |follow| {
            for sample in hop {
                let old = match ring.get_mut(*slot) {
                    Some(place) => whole(core::mem::replace(place, *sample)),
                    // As long as the window is not full there is room: its capacity was checked.
                    None => {
                        let _ = ring.push(*sample);
                        0
                    }
                };
                let new = whole(*sample);
                let square = |x: i32| (i64::from(x) * i64::from(x)) as u64;
                *energy = *energy - square(old) + square(new);
                let change = i64::from(new) - i64::from(old);
                for tracked in tracked.iter_mut() {
                    follow(tracked, change);
                }
                *slot = if *slot + 1 == inputs { 0 } else { *slot + 1 };
            }
        });
        Ok(())
    }

    /// Whether N samples were taken; before that there are no results.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.ring.len() == self.model.inputs()
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> Model<'a> {
        self.model
    }

    /// Coefficients that are updated by each sample.
    #[must_use]
    pub fn characters(&self) -> usize {
        self.tracked.len()
    }

    /// The features of the window, as [`Model::features`] gives them.
    ///
    /// # Errors
    /// As there; [`Error::InputLength`] as long as the window is not full.
    pub fn features(&self, scratch: &mut [f32], features: &mut [f32]) -> Result<(), Error> {
        self.with_signal(|x| self.model.features_of(x, scratch, features))
    }

    /// Every term of the window, as [`Model::stream`] hands them out.
    ///
    /// # Errors
    /// As there; [`Error::InputLength`] as long as the window is not full.
    pub fn stream(
        &self,
        scratch: &mut [f32],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        self.with_signal(|x| self.model.stream_of(x, scratch, each))
    }

    /// The class of the window, as [`Model::classify`] gives it.
    ///
    /// # Errors
    /// As there; [`Error::InputLength`] as long as the window is not full.
    pub fn classify(&self, scratch: &mut [f32], scores: &mut [f32]) -> Result<usize, Error> {
        self.with_signal(|x| self.model.class_of(x, scratch, scores))
    }

    /// Calls `with` with the window.
    fn with_signal<R>(&self, with: impl FnOnce(Signal<'_>) -> R) -> R {
        let float = |n: usize| {
            let sample = self.ring.get(n).map_or(0.0, |sample| sample.float());
            match S::IS_WHOLE {
                true => sample,
                // What the coefficients are of: a whole number of at most 24 bits.
                false => {
                    let x = whole(sample, self.places, self.largest);
                    restore(x as f32, -self.places)
                }
            }
        };
        with(Signal::Window(Window {
            samples: &float,
            len: self.ring.len(),
            tracked: &self.tracked,
            places: self.places,
            energy: self.energy,
        }))
    }
}

/// x·2^places to the nearest whole number, none larger than `largest` or 2^30 − 1 in magnitude.
fn whole(x: f32, places: i32, largest: i32) -> i32 {
    let limit = largest.min((1 << 30) - 1);
    let exponent = ((x.to_bits() >> 23) & 0xff) as i32 - 127;
    if exponent + places >= 30 {
        return if x < 0.0 { -limit } else { limit };
    }
    // Not `clamp`, which can panic.
    crate::cyclic::whole(x, places).min(limit).max(-limit)
}
