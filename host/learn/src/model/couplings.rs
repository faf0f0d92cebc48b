//! Couplings as a model: U dense or sparse, in f32, f16 or i8; tensors with as few entries as they need, their coefficients
//! by a dictionary where there are few magnitudes; and back.

use super::file;
use super::form::Encoding;
use super::integers::quantised;
use crate::group::couplings::{Couplings, CouplingsError, Entry, Tensor, Term};
use crate::numeric::random::{Purpose, stream};
use crate::{Error, Result};
use bispectral_core::format::couplings::{
    self as stored, Basis, Coefficients, MAX_BLOCK, MAX_DICTIONARY, Numbers,
};
use bispectral_core::format::{self, Parts, Structure, Weights};
use bispectral_core::{Complex32, Model};
use half::f16;
use ndarray::Array2;
use rand::RngExt;
use rand_distr::StandardNormal;
use std::collections::BTreeMap;

/// A number of U below this share of the largest is what rounding left of zero.
const NEARLY_ZERO: f64 = 1e-10;
/// Magnitudes closer than this, relatively, are one: half a unit in the last place of the encoding.
const F32_STEP: f64 = 1.0 / (1 << 23) as f64;
const F16_STEP: f64 = 1.0 / (1 << 11) as f64;
/// A sparse row takes about twice the instructions a number, so fewer than half must be there.
const SPARSE: f64 = 0.5;
/// What numbers of one byte are below.
const BYTE: usize = 256;

/// The bytes of a model of couplings, once the core has read them.
///
/// Terms of one tensor come to stand beside each other, those of a selective set before the others: the invariants of the
/// model are in the order of [`ordered`].
///
/// # Errors
/// A block of more rows than the format has, a coefficient past its limits, or what the core has against the model.
pub fn encode(
    couplings: &Couplings,
    encoding: Encoding,
    name: &str,
    group: Option<&str>,
) -> Result<Vec<u8>> {
    let couplings = merged(&ordered(couplings));
    check(&couplings)?;
    let basis = StoredBasis::new(&couplings, encoding)?;
    let forms = StoredForms::new(&couplings, encoding)?;
    let parts = Parts {
        inputs: file::dimension(couplings.inputs()),
        rows: file::dimension(couplings.rows()),
        name,
        group,
        structure: Structure::Couplings(forms.section(&basis, &couplings)),
        weights: basis.weights(),
        ..Parts::default()
    };
    let refused = |error: bispectral_core::Error| {
        Error::new("couplings", error.to_string(), "scale them by a constant")
    };
    let bytes = file::encode(&parts).map_err(refused)?;
    Model::from_bytes(&bytes).map_err(refused)?;
    Ok(bytes)
}

/// The couplings of a model, as its encoding has rounded them; `None` where it is of another kind.
#[must_use]
pub fn decode(model: &Model<'_>) -> Option<Couplings> {
    let parts = model.parts();
    let Structure::Couplings(section) = parts.structure else {
        return None;
    };
    let basis = decode_basis(model, &section, &parts.weights)?;
    let (mut indices, mut at) = (section.indices.iter(), 0);
    let mut tensors = Vec::new();
    for head in section.tensors.iter() {
        let order = usize::from(head.order);
        let dims: Vec<usize> = head.dims.iter().take(order).map(|&d| d.into()).collect();
        let mut entries = Vec::new();
        for _ in 0..head.entries {
            let index: Vec<usize> = indices.by_ref().take(order).map(usize::from).collect();
            let value = section.coefficients.get(at)?;
            entries.push(Entry::new(&index, value.into()).ok()?);
            at += 1;
        }
        tensors.push(Tensor::new(&dims, entries).ok()?);
    }
    let mut offsets = section.offsets.iter();
    let terms = section.terms.iter().map(|tensor| {
        let order = tensors.get(tensor).map_or(0, Tensor::order);
        let offsets = offsets.by_ref().take(order).collect();
        Term { tensor, offsets }
    });
    let terms = terms.collect();
    let couplings = Couplings::new(basis, tensors, terms).ok()?;
    match section.selective {
        0 => Some(couplings),
        selective => couplings.with_selective(selective.into()).ok(),
    }
}

fn decode_basis(
    model: &Model<'_>,
    section: &format::Couplings<'_>,
    weights: &Weights<'_>,
) -> Option<Array2<f64>> {
    let (rows, inputs) = (model.rows(), model.inputs());
    let mut places: Vec<(usize, usize)> = Vec::new();
    match section.basis {
        Basis::Sparse { counts, columns } => {
            let mut columns = columns.iter();
            for (row, count) in counts.iter().enumerate() {
                places.extend(columns.by_ref().take(count.into()).map(|n| (row, n)));
            }
        }
        _ => places.extend((0..rows).flat_map(|row| (0..inputs).map(move |n| (row, n)))),
    }
    let mut basis = Array2::zeros((rows, inputs));
    for (at, (row, column)) in places.into_iter().enumerate() {
        basis[[row, column]] = match weights {
            Weights::F32(list) => list.get(at)?.into(),
            Weights::F16(list) => f16::from_bits(list.get(at)?).into(),
            Weights::I8 { weights, scales } => {
                f64::from(f32::from(weights.get(at)?) * scales.get(row)?)
            }
            _ => return None,
        };
    }
    Some(basis)
}

/// The same in the order of a model: the terms of a selective set first, and in either part by their tensors.
#[must_use]
pub fn ordered(couplings: &Couplings) -> Couplings {
    let first = couplings.selective().unwrap_or(0);
    let mut numbers: Vec<usize> = (0..couplings.terms().len()).collect();
    numbers.sort_by_key(|&t| (t >= first, couplings.terms()[t].tensor));
    let order: Vec<Term> = (numbers.iter())
        .map(|&t| couplings.terms()[t].clone())
        .collect();
    couplings.with_terms(couplings.tensors().to_vec(), order)
}

/// The same invariants with fewer entries: where all terms of a tensor have one block in two places, c_ab and c_ba are one.
fn merged(couplings: &Couplings) -> Couplings {
    let tensors = couplings.tensors().iter().enumerate();
    let tensors = tensors.map(|(number, tensor)| {
        let terms = couplings.terms().iter().filter(|t| t.tensor == number);
        let offsets: Vec<&[usize]> = terms.map(|term| &term.offsets[..]).collect();
        let same = |a: usize, b: usize| {
            tensor.dims()[a] == tensor.dims()[b] && offsets.iter().all(|o| o[a] == o[b])
        };
        symmetric(tensor, same).unwrap_or_else(|| tensor.clone())
    });
    let tensors = tensors.collect();
    couplings.with_terms(tensors, couplings.terms().to_vec())
}

/// A tensor with ascending indices in the places that are the same block; `None` where nothing would be left.
fn symmetric(tensor: &Tensor, same: impl Fn(usize, usize) -> bool) -> Option<Tensor> {
    let mut sums: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
    for entry in tensor.entries() {
        let mut index: Vec<usize> = entry.index().map(usize::from)[..tensor.order()].to_vec();
        for a in 0..index.len() {
            for b in a + 1..index.len() {
                if same(a, b) && index[a] > index[b] {
                    index.swap(a, b);
                }
            }
        }
        *sums.entry(index).or_default() += entry.value;
    }
    let largest = sums.values().fold(0.0_f64, |l, value| l.max(value.abs()));
    let entries = (sums.iter())
        .filter(|(_, value)| value.abs() > NEARLY_ZERO * largest)
        .map(|(index, value)| Entry::new(index, *value));
    let entries = entries.collect::<std::result::Result<Vec<_>, _>>().ok()?;
    Tensor::new(tensor.dims(), entries).ok()
}

/// What the format has no room for.
fn check(couplings: &Couplings) -> Result<()> {
    let refuse = |what: String, remedy: &str| Err(Error::new("couplings", what, remedy));
    let dims = couplings.tensors().iter().flat_map(Tensor::dims);
    if let Some(rows) = dims.copied().find(|&d| d > usize::from(MAX_BLOCK)) {
        let what = format!("a block of {rows} rows is more than the {MAX_BLOCK} of a model");
        return refuse(what, "split it into irreps");
    }
    let entries = couplings.tensors().iter().map(|t| t.entries().len());
    let counts = entries.chain([couplings.tensors().len(), couplings.terms().len()]);
    match counts.max() {
        Some(most) if most > usize::from(u16::MAX) => {
            let what = format!("{most} terms, tensors or entries are more than 65535");
            refuse(what, "keep fewer terms")
        }
        _ => Ok(()),
    }
}

/// U as a model stores it.
struct StoredBasis {
    /// How many numbers of each row, and their columns, where not all are stored.
    sparse: Option<(Vec<u16>, Vec<u16>)>,
    bytes: Vec<u8>,
    numbers: StoredNumbers,
}

enum StoredNumbers {
    F32(Vec<f32>),
    F16(Vec<u16>),
    I8(Vec<f32>, Vec<i8>),
}

impl StoredBasis {
    fn new(couplings: &Couplings, encoding: Encoding) -> Result<Self> {
        let basis = couplings.basis();
        let largest = basis.iter().fold(0.0_f64, |l, u| l.max(u.abs()));
        let counts = |u: &f64| u.abs() > NEARLY_ZERO * largest;
        let nonzero = basis.iter().filter(|u| counts(u)).count();
        let is_sparse = (nonzero as f64) < SPARSE * basis.len() as f64;
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let (mut lengths, mut columns) = (Vec::new(), Vec::new());
        for row in basis.rows() {
            let kept = row.iter().enumerate().filter(|(_, u)| counts(u));
            if is_sparse {
                let (places, values): (Vec<u16>, Vec<f64>) =
                    kept.map(|(n, u)| (n as u16, *u)).unzip();
                lengths.push(places.len() as u16);
                columns.extend(places);
                rows.push(values);
            } else {
                rows.push(
                    row.iter()
                        .map(|u| if counts(u) { *u } else { 0.0 })
                        .collect(),
                );
            }
        }
        Ok(StoredBasis {
            bytes: columns.iter().map(|&n: &u16| n as u8).collect(),
            sparse: is_sparse.then_some((lengths, columns)),
            numbers: StoredNumbers::new(&rows, encoding)?,
        })
    }

    fn basis(&self, inputs: usize) -> Basis<'_> {
        let Some((counts, columns)) = &self.sparse else {
            return Basis::Dense;
        };
        Basis::Sparse {
            counts: counts.into(),
            columns: narrow(inputs, &self.bytes, columns),
        }
    }

    fn weights(&self) -> Weights<'_> {
        match &self.numbers {
            StoredNumbers::F32(weights) => Weights::F32(weights.into()),
            StoredNumbers::F16(weights) => Weights::F16(weights.into()),
            StoredNumbers::I8(scales, weights) => Weights::I8 {
                weights: weights.into(),
                scales: scales.into(),
            },
        }
    }
}

impl StoredNumbers {
    fn new(rows: &[Vec<f64>], encoding: Encoding) -> Result<Self> {
        let refuse = |what: &str| {
            let remedy = "scale the basis by a constant, or take f32";
            Err(Error::new("couplings", what, remedy))
        };
        match encoding {
            Encoding::F32 => Ok(StoredNumbers::F32(
                rows.iter().flatten().map(|&u| u as f32).collect(),
            )),
            Encoding::F16 => {
                let halves: Vec<f16> = rows.iter().flatten().map(|&u| f16::from_f64(u)).collect();
                if !halves.iter().all(|u| u.is_finite()) {
                    return refuse("a number of the basis is none that f16 has");
                }
                Ok(StoredNumbers::F16(
                    halves.into_iter().map(f16::to_bits).collect(),
                ))
            }
            Encoding::I8 => {
                let (mut scales, mut weights) = (Vec::new(), Vec::new());
                for row in rows {
                    let (scale, q) = quantised(row);
                    scales.push(scale);
                    weights.extend(q);
                }
                let range = 2_f32.powi(-60)..2_f32.powi(61);
                if !scales.iter().all(|scale| range.contains(scale)) {
                    return refuse("a row of the basis is too large or too small for i8");
                }
                Ok(StoredNumbers::I8(scales, weights))
            }
            Encoding::I32 => Err(Error::new(
                "couplings",
                "i32 is an encoding of a commutative group's roots of unity, and these have a basis",
                "take f32, f16 or i8",
            )),
        }
    }
}

/// Numbers below `end`, in whichever width the format has them.
fn narrow<'a>(end: usize, bytes: &'a [u8], words: &'a [u16]) -> Numbers<'a> {
    if end <= BYTE {
        Numbers::Bytes(bytes.into())
    } else {
        Numbers::Words(words.into())
    }
}

/// Tensors and terms as a model stores them.
struct StoredForms {
    heads: Vec<stored::Tensor>,
    indices: Vec<u8>,
    coefficients: StoredCoefficients,
    terms: (Vec<u8>, Vec<u16>),
    offsets: (Vec<u8>, Vec<u16>),
}

enum StoredCoefficients {
    Dictionary(Vec<f32>, Vec<u8>),
    F16(Vec<u16>),
    F32(Vec<f32>),
}

impl StoredForms {
    fn new(couplings: &Couplings, encoding: Encoding) -> Result<Self> {
        let (mut heads, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for tensor in couplings.tensors() {
            let mut dims = [1; stored::MAX_ORDER];
            for (dim, &of_tensor) in dims.iter_mut().zip(tensor.dims()) {
                *dim = of_tensor as u16;
            }
            heads.push(stored::Tensor {
                order: tensor.order() as u8,
                dims,
                entries: tensor.entries().len() as u16,
            });
            for entry in tensor.entries() {
                indices.extend(entry.index().iter().take(tensor.order()).map(|&i| i as u8));
                values.push(entry.value);
            }
        }
        let both = |numbers: Vec<usize>| {
            let bytes = numbers.iter().map(|&n| n as u8).collect();
            (bytes, numbers.iter().map(|&n| n as u16).collect())
        };
        let terms = couplings.terms();
        Ok(StoredForms {
            heads,
            indices,
            coefficients: StoredCoefficients::new(&values, encoding)?,
            terms: both(terms.iter().map(|term| term.tensor).collect()),
            offsets: both(terms.iter().flat_map(|term| term.offsets.clone()).collect()),
        })
    }

    fn section<'a>(&'a self, basis: &'a StoredBasis, of: &Couplings) -> format::Couplings<'a> {
        format::Couplings {
            basis: basis.basis(of.inputs()),
            selective: of.selective().map_or(0, file::dimension),
            tensors: (&self.heads).into(),
            indices: (&self.indices).into(),
            coefficients: match &self.coefficients {
                StoredCoefficients::Dictionary(magnitudes, codes) => Coefficients::Dictionary {
                    magnitudes: magnitudes.into(),
                    codes: codes.into(),
                },
                StoredCoefficients::F16(bits) => Coefficients::F16(bits.into()),
                StoredCoefficients::F32(values) => Coefficients::F32(values.into()),
            },
            terms: narrow(self.heads.len(), &self.terms.0, &self.terms.1),
            offsets: narrow(of.rows(), &self.offsets.0, &self.offsets.1),
        }
    }
}

impl StoredCoefficients {
    /// A dictionary where the magnitudes are few, up to what the encoding rounds; with i8, always.
    fn new(values: &[f64], encoding: Encoding) -> Result<Self> {
        let mut sorted: Vec<f64> = values.iter().map(|c| c.abs()).collect();
        sorted.sort_by(f64::total_cmp);
        let mut step = match encoding {
            Encoding::F16 | Encoding::I8 => F16_STEP,
            _ => F32_STEP,
        };
        let mut magnitudes = distinct(&sorted, step);
        while encoding == Encoding::I8 && magnitudes.len() > MAX_DICTIONARY {
            step *= 1.1;
            magnitudes = distinct(&sorted, step);
        }
        if magnitudes.len() <= MAX_DICTIONARY {
            let code = |c: &f64| {
                let nearest = |a: &usize, b: &usize| {
                    let off = |k: usize| (f64::from(magnitudes[k]) - c.abs()).abs();
                    off(*a).total_cmp(&off(*b))
                };
                let number = (0..magnitudes.len()).min_by(nearest).unwrap_or_default();
                number as u8 | u8::from(*c < 0.0) << 7
            };
            let codes = values.iter().map(code).collect();
            return Ok(StoredCoefficients::Dictionary(magnitudes, codes));
        }
        if encoding == Encoding::F32 {
            return Ok(StoredCoefficients::F32(
                values.iter().map(|&c| c as f32).collect(),
            ));
        }
        let halves: Vec<f16> = values.iter().map(|&c| f16::from_f64(c)).collect();
        if halves.iter().any(|c| !c.is_finite() || *c == f16::ZERO) {
            let what = "a coefficient is none that f16 has";
            return Err(Error::new(
                "couplings",
                what,
                "scale the tensors, or take f32",
            ));
        }
        Ok(StoredCoefficients::F16(
            halves.into_iter().map(f16::to_bits).collect(),
        ))
    }
}

/// The middle of each run of ascending numbers that are within `step` of its first, relatively, as f32 that ascend.
fn distinct(sorted: &[f64], step: f64) -> Vec<f32> {
    let mut found: Vec<f32> = Vec::new();
    let mut rest = sorted;
    while let Some(first) = rest.first() {
        let end = rest.partition_point(|c| *c <= first * (1.0 + step));
        let run = &rest[..end.max(1)];
        let middle = (0.5 * (run[0] + run[run.len() - 1])) as f32;
        if found.last().is_none_or(|last| *last < middle) {
            found.push(middle);
        }
        rest = &rest[run.len()..];
    }
    found
}

/// How far the invariants of a model are from those of `couplings` at most, over so many random signals.
///
/// # Errors
/// The model is of other couplings.
pub fn largest_error(
    model: &Model<'_>,
    couplings: &Couplings,
    signals: usize,
    seed: u64,
) -> Result<f64> {
    let mut random = stream(seed, Purpose::Exemplars);
    let mut largest = 0.0_f64;
    for _ in 0..signals {
        let x: Vec<f32> = (0..couplings.inputs())
            .map(|_| random.sample(StandardNormal))
            .collect();
        let refused = |error: bispectral_core::Error| {
            Error::new("a random signal", error.to_string(), "compute them again")
        };
        let found: Vec<Complex32> = model.invariants_vec(&x).map_err(refused)?;
        let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        let exact = couplings.invariants(&x)?;
        if exact.len() != found.len() {
            return Err(CouplingsError::Length {
                what: "terms",
                needed: exact.len(),
                found: found.len(),
            }
            .into());
        }
        let off = (found.iter().zip(&exact)).map(|(found, t)| (f64::from(found.re) - t).abs());
        largest = off.fold(largest, f64::max);
    }
    Ok(largest)
}
