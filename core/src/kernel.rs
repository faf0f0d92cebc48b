//! How z and z_ij are computed, one kind a file: what a [`Model`](crate::Model) asks of its structure and encoding.

use crate::bispectrum::{Dense, Scale};
use crate::combined::{Combined, Floats, longest};
use crate::conjugates::Conjugates;
use crate::couplings::Couplings;
use crate::cyclic::{Cyclic, FixedCyclic, FixedRoots, Roots, Tables, check_roots, is_ascending};
use crate::degree_one::DegreeOne;
use crate::error::Error;
use crate::feature::Feature;
use crate::fold::Fold;
use crate::format::{Encoding, Output, StoredStructure, View, order_and_exponent};
use crate::integer::{IntegerRows, Integers};
use crate::pairs::Order;
use crate::sample::Signal;
#[cfg(feature = "sliding")]
use crate::sample::Tracked;
use crate::significance::{Floor, Measured};
use crate::weights::{Largest, Weights, largest, largest_modulus};
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
                let exponent =
                    largest(view.weights, halves).map_err(|refused| refused.error(width))?;
                let weights = Weights::new(view.weights, width, halves);
                let count = width * view.stored_rows().max(1);
                let modulus = largest_modulus(&weights, count, width);
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
            let roots = Weights::new(view.weights, width, false);
            check_roots(&roots, width, transform, factors)?;
        }
        degree_one(view, findings)?;
        Ok(findings)
    }

    /// What rounding can make of a signal.
    pub(crate) fn floor(&self, view: &View<'_>) -> Floor {
        let (inputs, rows) = (view.inputs.into(), view.rows.into());
        Floor::new(inputs, rows, self.modulus, self.exponent.into())
    }
}

/// `$body` with `$kernel` that of a view that was checked; `$none` where it has none, which no checked view has. What a
/// program was built without is not compiled.
macro_rules! with_kernel {
    ($view:expr, $findings:expr, $kernel:ident => $body:expr, $none:expr) => {{
        let (view, findings): (&$crate::format::View<'_>, $crate::kernel::Findings) =
            ($view, $findings);
        match (view.structure(), view.encoding()) {
            (
                Some(StoredStructure::Cyclic {
                    transform,
                    factors,
                    characters,
                    elements,
                }),
                Encoding::I32 { amplitude },
            ) if Feature::I32.is_on() => {
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
            ) if Feature::Cyclic.is_on() => {
                let tables = Tables {
                    transform,
                    factors,
                    characters,
                    elements,
                };
                let $kernel = cyclic(view, &tables, findings);
                $body
            }
            (Some(StoredStructure::Couplings { bytes }), _) if Feature::Couplings.is_on() => {
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
            ) if Feature::Combined.is_on() && Feature::I8.is_on() => {
                let integers =
                    Integers::new(view.weights, scales, view.inputs.into(), findings.rounded);
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
            ) if Feature::Combined.is_on() && FLOATS => {
                let floats = Floats {
                    weights: weights(view),
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
            }
            (Some(structure), Encoding::I8 { scales }) if Feature::I8.is_on() => {
                let integers =
                    Integers::new(view.weights, scales, view.inputs.into(), findings.rounded);
                let fold = match structure {
                    StoredStructure::Conjugates { rows } => Fold::new(rows),
                    _ => Fold::NONE,
                };
                let $kernel = IntegerRows { integers, fold };
                $body
            }
            (Some(StoredStructure::Conjugates { rows }), _)
                if Feature::Conjugates.is_on() && FLOATS =>
            {
                let $kernel = Conjugates {
                    weights: weights(view),
                    fold: Fold::new(rows),
                    inputs: view.inputs.into(),
                    stored_rows: view.stored_rows(),
                };
                $body
            }
            (Some(StoredStructure::Dense), _) if Feature::Dense.is_on() && FLOATS => {
                let $kernel = Dense {
                    weights: weights(view),
                    inputs: view.inputs.into(),
                    rows: view.rows.into(),
                };
                $body
            }
            _ => $none,
        }
    }};
}

/// Whether W of floats is computed with at all.
const FLOATS: bool = Feature::F32.is_on() || Feature::F16.is_on();

fn weights<'a>(view: &View<'a>) -> Weights<'a> {
    let halves = matches!(view.encoding(), Encoding::F16);
    Weights::new(view.weights, view.inputs.into(), halves)
}

fn cyclic<'a>(view: &View<'a>, tables: &Tables<'a>, findings: Findings) -> Cyclic<'a, Weights<'a>> {
    let (_, width) = order_and_exponent(tables.factors).unwrap_or_default();
    of_group(tables, Weights::new(view.weights, width, false), findings)
}

fn of_group<'a, W: Roots>(tables: &Tables<'a>, roots: W, findings: Findings) -> Cyclic<'a, W> {
    let ascending = (findings.ascending, findings.distinct);
    Cyclic::new(tables, roots, findings.exponent.into(), ascending)
}

/// Elements of scratch for one signal.
pub(crate) fn scratch_len(view: &View<'_>, findings: Findings) -> usize {
    with_kernel!(view, findings, kernel => kernel.scratch_len(), 0)
}

/// See [`Kernel::product_exponent`].
fn product_exponent(view: &View<'_>, findings: Findings) -> i32 {
    let largest = findings.exponent.into();
    with_kernel!(view, findings, kernel => kernel.product_exponent(largest), largest)
}

/// The form of the features, where it is of degree one; an error where its numbers are out of range.
pub(crate) fn degree_one(view: &View<'_>, findings: Findings) -> Result<Option<DegreeOne>, Error> {
    match view.output() {
        Output::DegreeOne { weight, products } if Feature::DegreeOne.is_on() => {
            let exponent = product_exponent(view, findings);
            let form = DegreeOne::new(weight, products, exponent).ok_or(Error::Malformed)?;
            Ok(Some(form))
        }
        _ => Ok(None),
    }
}

/// Whether the weights are read in place.
pub(crate) fn is_aligned(view: &View<'_>, findings: Findings) -> bool {
    with_kernel!(view, findings, kernel => kernel.is_aligned(), false)
}

/// W_in of a row the model has.
pub(crate) fn weight(
    view: &View<'_>,
    findings: Findings,
    row: usize,
    column: usize,
) -> Option<Complex32> {
    with_kernel!(view, findings, kernel => kernel.weight(row, column), None)
}

/// z_i of the scaled signal, row after row.
pub(crate) fn each_coefficient(
    view: &View<'_>,
    findings: Findings,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: &mut dyn FnMut(Complex32),
) {
    with_kernel!(view, findings, kernel => {
        let z = kernel.coefficients(x, scale, scratch);
        for row in 0..view.rows.into() {
            each(kernel.coefficient(&z, row));
        }
    }, ())
}

/// Every β_ij of the scaled signal in the order of the pairs, and their norm.
#[inline]
pub(crate) fn each_term(
    view: &View<'_>,
    findings: Findings,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: impl FnMut(usize, usize, Complex32),
) -> Measured {
    with_kernel!(
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
                        let $cyclic = cyclic($view, &tables, $findings);
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
pub(crate) fn follow(
    view: &View<'_>,
    findings: Findings,
    with: &mut dyn FnMut(&dyn Fn(&mut Tracked, i64)),
) {
    with_group!(view, findings, cyclic => with(&|tracked, change| {
        cyclic.follow_change(tracked, change);
    }), ());
}

/// The number, the order and the value of every form of couplings; `false` where the model is of another kind.
pub(crate) fn each_form(
    view: &View<'_>,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: &mut dyn FnMut(usize, usize, f32),
) -> bool {
    match view.structure() {
        Some(StoredStructure::Couplings { bytes }) if Feature::Couplings.is_on() => {
            Couplings::new(view, bytes).each_form(x, scale, scratch, each);
            true
        }
        _ => false,
    }
}
