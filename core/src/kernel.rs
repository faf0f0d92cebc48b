//! How z and z_ij are computed, one kind a file: what a [`Model`](crate::Model) asks of its structure and encoding.

use crate::bispectrum::{Dense, Scale};
use crate::combined::{Combined, Floats, longest};
use crate::conjugates::Conjugates;
use crate::couplings::Couplings;
use crate::cyclic::{
    Cyclic, FixedCyclic, FixedRoots, Roots, Tables, check_roots, is_ascending, of_factors,
};
use crate::degree_one::DegreeOne;
use crate::error::Error;
use crate::feature::{ANYWHERE, Feature};
use crate::fold::Fold;
use crate::format::{Encoding, Output, StoredStructure, View, order_and_exponent};
use crate::integer::{IntegerRows, Integers};
use crate::pairs::Order;
use crate::sample::Signal;
#[cfg(feature = "sliding")]
use crate::sample::{Follow, Tracked};
use crate::significance::{Floor, Measured};
use crate::weights::{Bytes, Largest, Matrix, Weights};
use num_complex::Complex32;

/// The largest weight must be within 2^±this; then no product of two weights and a scaled sample leaves f32.
pub(crate) const WEIGHT_EXPONENT: i32 = 60;

/// The computation a model calls for. The scratch it is given has [`scratch_len`](Self::scratch_len) elements.
pub(crate) trait Kernel: Copy {
    /// Elements of scratch for one signal.
    fn scratch_len(&self) -> usize;

    /// Whether the weights are read in place.
    fn is_aligned(&self) -> bool;

    /// How many powers of two z_i z_j conj z_ij of the scaled signal is smaller than if z_ij were scaled as z_i is, where the
    /// largest weight has this exponent.
    fn product_exponent(&self, largest_weight: i32) -> i32 {
        largest_weight
    }

    /// W_in of a row the model has.
    fn weight(&self, row: usize, column: usize) -> Option<Complex32>;

    /// What z_i of the scaled signal are read from.
    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> Coefficients<'s>;

    /// z_i of the scaled signal.
    fn coefficient(&self, z: &Coefficients<'_>, row: usize) -> Complex32;

    /// Every β_ij of the scaled signal in the order of the pairs, and their norm.
    fn each_term(
        &self,
        order: Order<'_>,
        x: Signal<'_>,
        scale: Scale,
        scratch: &mut [f32],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Measured;
}

/// Of the stored rows, or of all characters.
pub(crate) enum Coefficients<'s> {
    Complex(&'s [Complex32]),
    Real(&'s [f32]),
}

impl Coefficients<'_> {
    pub(crate) fn get(&self, at: usize) -> Complex32 {
        match self {
            Coefficients::Complex(z) => z.get(at).copied().unwrap_or_default(),
            Coefficients::Real(z) => z.get(at).copied().unwrap_or_default().into(),
        }
    }

    /// None where they are real.
    pub(crate) fn complex(&self) -> &[Complex32] {
        match self {
            Coefficients::Complex(z) => z,
            Coefficients::Real(_) => &[],
        }
    }
}

/// What reading a model finds out once, for all computations.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Findings {
    /// Of the largest weight.
    pub(crate) exponent: i8,
    /// Cyclic: whether each row's character is larger than that of the row before.
    ascending: bool,
    /// Cyclic: whether, besides, each input's element is larger than that of the input before.
    distinct: bool,
    /// The largest |W_in|².
    modulus: f32,
    /// Whole numbers: the least Λ².
    rounded: f32,
    /// Combined: the largest sum of coefficients.
    longest: f32,
}

impl Findings {
    /// Of a view that was checked, once every weight is known to be a number.
    pub(crate) fn of(view: &View<'_>) -> Result<Self, Error> {
        let inputs = usize::from(view.inputs);
        let mut width = inputs;
        let mut findings = Findings::default();
        let structure = view.structure().ok_or(Error::Malformed)?;
        match structure {
            StoredStructure::Cyclic {
                factors,
                characters,
                elements,
                ..
            } => {
                (_, width) = order_and_exponent(factors).ok_or(Error::Malformed)?;
                findings.ascending = is_ascending(characters);
                findings.distinct = findings.ascending && is_ascending(elements);
            }
            StoredStructure::Combined {
                terms,
                coefficients,
                ..
            } => findings.longest = longest(coefficients, terms),
            _ => {}
        }
        let in_place = match view.encoding() {
            Encoding::F32 => Matrix::<f32>::is_in_place(view.weights),
            Encoding::F16 => Matrix::<u16>::is_in_place(view.weights),
            Encoding::I8 { .. } | Encoding::I32 { .. } => true,
        };
        if !in_place && !Feature::Unaligned.is_on() {
            let feature = Feature::Unaligned;
            return Err(Error::NeedsFeature { feature });
        }
        let found = match (structure, view.encoding()) {
            (StoredStructure::Couplings { bytes }, _) if Feature::Couplings.is_on() => {
                Couplings::new(view, bytes).largest()?
            }
            (_, Encoding::I8 { scales }) if Feature::I8.is_on() => {
                let (found, rounded) =
                    Integers::new(view.weights, scales, inputs, 0.0).largest()?;
                findings.rounded = rounded;
                found
            }
            (_, Encoding::I32 { amplitude }) if Feature::I32.is_on() => {
                FixedRoots::new(view.weights, amplitude).check()?
            }
            (_, encoding) => {
                let halves = matches!(encoding, Encoding::F16);
                let weights = Bytes::new(view.weights, width, halves);
                let exponent = weights.largest().map_err(|refused| refused.error(width))?;
                let modulus = weights.largest_modulus();
                Largest { exponent, modulus }
            }
        };
        if found.exponent.abs() > WEIGHT_EXPONENT {
            return Err(Error::WeightRange);
        }
        findings.exponent = found.exponent as i8;
        findings.modulus = found.modulus;
        if let (
            StoredStructure::Cyclic {
                transform, factors, ..
            },
            Encoding::F32,
        ) = (structure, view.encoding())
        {
            let roots = Bytes::new(view.weights, width, false);
            check_roots(&roots, width, transform, factors)?;
        }
        degree_one(view, findings)?;
        Ok(findings)
    }

    /// As words, for a program that holds them.
    pub(crate) const fn words(self) -> [u32; 4] {
        let flags = (self.ascending as u32) << 8 | (self.distinct as u32) << 9;
        [
            self.exponent as u8 as u32 | flags,
            self.modulus.to_bits(),
            self.rounded.to_bits(),
            self.longest.to_bits(),
        ]
    }

    /// Of [`words`](Self::words).
    pub(crate) const fn from_words([first, modulus, rounded, longest]: [u32; 4]) -> Self {
        Findings {
            exponent: first as u8 as i8,
            ascending: first >> 8 & 1 != 0,
            distinct: first >> 9 & 1 != 0,
            modulus: f32::from_bits(modulus),
            rounded: f32::from_bits(rounded),
            longest: f32::from_bits(longest),
        }
    }

    /// What rounding can make of a signal.
    pub(crate) fn floor<const KINDS: u32>(&self, view: &View<'_, KINDS>) -> Floor {
        let (inputs, rows) = (view.inputs.into(), view.rows.into());
        Floor::new(inputs, rows, self.modulus, self.exponent.into())
    }
}

/// `$body` with `$weights` the numbers of rows of `$width`: in place, where that is known when the program is built, otherwise
/// in whichever way their bytes can be read.
macro_rules! with_weights {
    ($kinds:ident, $view:expr, $width:expr, $weights:ident => $body:expr) => {{
        if $kinds & ANYWHERE != 0 {
            let halves = matches!($view.encoding(), Encoding::F16);
            let $weights = Weights::new($view.weights, $width, halves);
            $body
        } else {
            with_weights_in_place!($view, $width, $weights => $body)
        }
    }};
}

#[cfg(feature = "f16")]
macro_rules! with_weights_in_place {
    ($view:expr, $width:expr, $weights:ident => $body:expr) => {
        if let Encoding::F16 = $view.encoding() {
            let $weights = Matrix::<u16>::in_place($view.weights, $width);
            $body
        } else {
            let $weights = Matrix::<f32>::in_place($view.weights, $width);
            $body
        }
    };
}

#[cfg(not(feature = "f16"))]
macro_rules! with_weights_in_place {
    ($view:expr, $width:expr, $weights:ident => $body:expr) => {{
        let $weights = Matrix::<f32>::in_place($view.weights, $width);
        $body
    }};
}

/// `$body` with `$kernel` that of a view that was checked; `$none` where it has none, which no checked view has. What a
/// program was built without, or no model of these kinds needs, is not compiled.
macro_rules! with_kernel {
    ($kinds:ident, $view:expr, $findings:expr, $kernel:ident => $body:expr, $none:expr) => {{
        let (view, findings): (&View<'_, $kinds>, Findings) = ($view, $findings);
        let inputs = usize::from(view.inputs);
        match (view.structure(), view.encoding()) {
            (
                Some(StoredStructure::Cyclic {
                    transform,
                    factors,
                    characters,
                    elements,
                }),
                Encoding::I32 { amplitude },
            ) if Feature::I32.is_in($kinds) => {
                let tables = Tables {
                    transform,
                    factors,
                    characters,
                    elements,
                };
                let roots = FixedRoots::new(view.weights, amplitude);
                let $kernel = FixedCyclic(of_group(&tables, roots, findings));
                $body
            }
            (
                Some(StoredStructure::Cyclic {
                    transform,
                    factors,
                    characters,
                    elements,
                }),
                _,
            ) if Feature::Cyclic.is_in($kinds) => {
                let tables = Tables {
                    transform,
                    factors,
                    characters,
                    elements,
                };
                let (_, width) = order_and_exponent(factors).unwrap_or_default();
                with_weights!($kinds, view, width, roots => {
                    let $kernel = of_group(&tables, roots, findings);
                    $body
                })
            }
            (Some(StoredStructure::Couplings { bytes }), _)
                if Feature::Couplings.is_in($kinds) =>
            {
                let $kernel = Couplings::new(view, bytes);
                $body
            }
            (
                Some(StoredStructure::Combined {
                    rows,
                    terms,
                    scale,
                    coefficients,
                }),
                Encoding::I8 { scales },
            ) if Feature::Combined.is_in($kinds) && Feature::I8.is_in($kinds) => {
                let integers = Integers::new(view.weights, scales, inputs, findings.rounded);
                let $kernel = Combined::new(
                    integers,
                    Fold::new(rows),
                    terms,
                    scale,
                    coefficients,
                    findings.longest,
                );
                $body
            }
            (
                Some(StoredStructure::Combined {
                    rows,
                    terms,
                    scale,
                    coefficients,
                }),
                _,
            ) if Feature::Combined.is_in($kinds) && floats($kinds) => {
                with_weights!($kinds, view, inputs, weights => {
                    let floats = Floats {
                        weights,
                        rows: view.stored_rows(),
                    };
                    let $kernel = Combined::new(
                        floats,
                        Fold::new(rows),
                        terms,
                        scale,
                        coefficients,
                        findings.longest,
                    );
                    $body
                })
            }
            (Some(structure), Encoding::I8 { scales }) if Feature::I8.is_in($kinds) => {
                let integers = Integers::new(view.weights, scales, inputs, findings.rounded);
                let fold = match structure {
                    StoredStructure::Conjugates { rows } => Fold::new(rows),
                    _ => Fold::NONE,
                };
                let $kernel = IntegerRows { integers, fold };
                $body
            }
            (Some(StoredStructure::Conjugates { rows }), _)
                if Feature::Conjugates.is_in($kinds) && floats($kinds) =>
            {
                with_weights!($kinds, view, inputs, weights => {
                    let $kernel = Conjugates {
                        weights,
                        fold: Fold::new(rows),
                        inputs,
                        stored_rows: view.stored_rows(),
                    };
                    $body
                })
            }
            (Some(StoredStructure::Dense), _)
                if Feature::Dense.is_in($kinds) && floats($kinds) =>
            {
                with_weights!($kinds, view, inputs, weights => {
                    let $kernel = Dense {
                        weights,
                        inputs,
                        rows: view.rows.into(),
                    };
                    $body
                })
            }
            _ => $none,
        }
    }};
}

/// Whether W of floats is computed with at all.
const fn floats(kinds: u32) -> bool {
    Feature::F32.is_in(kinds) || Feature::F16.is_in(kinds)
}

fn of_group<'a, W: Roots>(tables: &Tables<'a>, roots: W, findings: Findings) -> Cyclic<'a, W> {
    let ascending = (findings.ascending, findings.distinct);
    Cyclic::new(tables, roots, findings.exponent.into(), ascending)
}

/// Elements of scratch for one signal.
pub(crate) fn scratch_len<const KINDS: u32>(view: &View<'_, KINDS>, findings: Findings) -> usize {
    match view.structure() {
        // Without the tables that a kernel of it makes.
        Some(StoredStructure::Cyclic { factors, .. }) => of_factors(factors),
        _ => with_kernel!(KINDS, view, findings, kernel => kernel.scratch_len(), 0),
    }
}

/// See [`Kernel::product_exponent`].
fn product_exponent<const KINDS: u32>(view: &View<'_, KINDS>, findings: Findings) -> i32 {
    let largest = findings.exponent.into();
    with_kernel!(KINDS, view, findings, kernel => kernel.product_exponent(largest), largest)
}

/// The form of the features, where it is of degree one; an error where its numbers are out of range.
pub(crate) fn degree_one<const KINDS: u32>(
    view: &View<'_, KINDS>,
    findings: Findings,
) -> Result<Option<DegreeOne>, Error> {
    match view.output() {
        Output::DegreeOne { weight, products } if Feature::DegreeOne.is_in(KINDS) => {
            let exponent = product_exponent(view, findings);
            let form = DegreeOne::new(weight, products, exponent).ok_or(Error::Malformed)?;
            Ok(Some(form))
        }
        _ => Ok(None),
    }
}

/// Whether the weights are read in place.
pub(crate) fn is_aligned<const KINDS: u32>(view: &View<'_, KINDS>, findings: Findings) -> bool {
    with_kernel!(KINDS, view, findings, kernel => kernel.is_aligned(), false)
}

/// W_in of a row the model has.
pub(crate) fn weight<const KINDS: u32>(
    view: &View<'_, KINDS>,
    findings: Findings,
    row: usize,
    column: usize,
) -> Option<Complex32> {
    with_kernel!(KINDS, view, findings, kernel => kernel.weight(row, column), None)
}

/// z_i of the scaled signal, row after row.
pub(crate) fn each_coefficient<const KINDS: u32>(
    view: &View<'_, KINDS>,
    findings: Findings,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: &mut dyn FnMut(Complex32),
) {
    with_kernel!(KINDS, view, findings, kernel => {
        let z = kernel.coefficients(x, scale, scratch);
        for row in 0..view.rows.into() {
            each(kernel.coefficient(&z, row));
        }
    }, ())
}

/// Every β_ij of the scaled signal in the order of the pairs, and their norm. Not inlined: a caller with several
/// uses would hold the locals of all of them in its frame at once.
#[inline(never)]
pub(crate) fn each_term<const KINDS: u32>(
    view: &View<'_, KINDS>,
    findings: Findings,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: impl FnMut(usize, usize, Complex32),
) -> Measured {
    with_kernel!(
        KINDS,
        view,
        findings,
        kernel => kernel.each_term(view.order(), x, scale, scratch, each),
        Measured::NONE
    )
}

/// `$body` with `$cyclic` the group of a view that was checked; `$none` where it has none.
#[cfg(feature = "sliding")]
macro_rules! with_group {
    ($view:expr, $findings:expr, $cyclic:ident => $body:expr, $none:expr) => {
        match ($view.structure(), $view.encoding()) {
            (
                Some(StoredStructure::Cyclic {
                    transform,
                    factors,
                    characters,
                    elements,
                }),
                encoding,
            ) => {
                let tables = Tables {
                    transform,
                    factors,
                    characters,
                    elements,
                };
                match encoding {
                    Encoding::I32 { amplitude } if Feature::I32.is_on() => {
                        let roots = FixedRoots::new($view.weights, amplitude);
                        let $cyclic = of_group(&tables, roots, $findings);
                        $body
                    }
                    _ if Feature::Cyclic.is_on() => {
                        let (_, width) = order_and_exponent(factors).unwrap_or_default();
                        let roots = Weights::new($view.weights, width, false);
                        let $cyclic = of_group(&tables, roots, $findings);
                        $body
                    }
                    _ => $none,
                }
            }
            _ => $none,
        }
    };
}

/// Hands out every character that a window needs, and how its coefficient begins; `false` where `each` ended it.
#[cfg(feature = "sliding")]
pub(crate) fn track(
    view: &View<'_>,
    findings: Findings,
    each: &mut dyn FnMut(usize, &dyn Fn() -> Tracked) -> bool,
) -> Result<bool, Error> {
    with_group!(view, findings, cyclic => {
        let stride = cyclic.stride().ok_or(Error::NotSliding)?;
        let mut each = |k| each(k, &|| cyclic.tracked(k, stride));
        Ok(cyclic.each_needed(view.order(), &mut each))
    }, Err(Error::NotSliding))
}

/// Characters that a window needs at most.
#[cfg(feature = "sliding")]
pub(crate) fn most_characters(view: &View<'_>, findings: Findings) -> usize {
    with_group!(view, findings, cyclic => cyclic.up_to_conjugation(), 0)
}

/// Calls `with` with what adds a change of a sample to a coefficient.
#[cfg(feature = "sliding")]
pub(crate) fn follow(view: &View<'_>, findings: Findings, with: &mut dyn FnMut(&Follow<'_>)) {
    with_group!(view, findings, cyclic => with(&|tracked, change| {
        cyclic.follow_change(tracked, change);
    }), ());
}

/// The number, the order and the value of every form of couplings; `false` where the model is of another kind.
pub(crate) fn each_form<const KINDS: u32>(
    view: &View<'_, KINDS>,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: &mut dyn FnMut(usize, usize, f32),
) -> bool {
    match view.structure() {
        Some(StoredStructure::Couplings { bytes }) if Feature::Couplings.is_in(KINDS) => {
            Couplings::new(view, bytes).each_form(x, scale, scratch, each);
            true
        }
        _ => false,
    }
}
