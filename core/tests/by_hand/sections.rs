//! The sections of a file, made from `docs/format.md` as the reader beside it.

use super::couplings::{Couplings, couplings};
use bispectral_core::{Complex32, Error, Feature, Part};

/// How many kinds of each section the page knows.
const KINDS: [(Part, u8); 4] = [
    (Part::Encoding, 4),
    (Part::Pairs, 4),
    (Part::Structure, 5),
    (Part::Head, 2),
];

/// A kind, and its bytes.
pub(crate) type Section = (u8, Vec<u8>);

/// The pairs of a model, and where its weights are.
pub(crate) struct Layout {
    /// All where none are listed.
    pub(crate) pairs: Option<Vec<(usize, usize)>>,
    pub(crate) couplings: Option<Couplings>,
    rows: Rows,
    /// Numbers in a stored row, and stored rows; the roots of unity are one.
    stored: (usize, usize),
    inputs: usize,
    scales: Option<Vec<f32>>,
    element_len: usize,
    kind: u8,
    /// Factors that are transformed fast.
    fast_factors: Vec<u16>,
    /// w, t and how z_ij is scaled, of features of degree one.
    degree_one: Option<(f32, f32, Option<i32>)>,
}

/// How W is made of what is stored.
enum Rows {
    /// The stored row, and whether it is conjugated.
    Stored(Vec<(usize, bool)>),
    /// The root of unity of every weight.
    Roots(Vec<usize>),
    /// Real numbers, where couplings have them.
    Real,
}

/// The factors that the transform of a structure is fast along.
fn fast_factors((kind, bytes): &Section) -> Vec<u16> {
    if *kind != 3 || bytes[0] == 0 {
        return Vec::new();
    }
    let factors = bytes[2..2 + 2 * usize::from(bytes[1])].chunks(2);
    let factors = factors.map(|m| u16::from_le_bytes([m[0], m[1]]));
    factors
        .filter(|m| [4, 8, 16, 32, 64, 128, 256, 512, 1024].contains(m))
        .collect()
}

/// Check 10.
pub(crate) fn known(sections: &[Section; 4]) -> Result<(), Error> {
    for ((part, kinds), (kind, bytes)) in KINDS.into_iter().zip(sections) {
        match (*kind, bytes.is_empty()) {
            (kind, _) if kind >= kinds => return Err(Error::Unsupported { part, kind }),
            (0, false) => return Err(Error::Malformed),
            _ => {}
        }
    }
    let [(encoding, _), _, (structure, _), (head, _)] = sections;
    let of_encoding = match (encoding, structure) {
        (3, _) => Some((Feature::I32, cfg!(feature = "i32"))),
        (_, 3) => None,
        (0, _) => Some((Feature::F32, cfg!(feature = "f32"))),
        (1, _) => Some((Feature::F16, cfg!(feature = "f16"))),
        _ => Some((Feature::I8, cfg!(feature = "i8"))),
    };
    let of_structure = match structure {
        0 => Some((Feature::Dense, cfg!(feature = "dense"))),
        1 => Some((Feature::Conjugates, cfg!(feature = "conjugates"))),
        2 => Some((Feature::Combined, cfg!(feature = "combined"))),
        3 if *encoding == 3 => None,
        3 => Some((Feature::Cyclic, cfg!(feature = "cyclic"))),
        _ => Some((Feature::Couplings, cfg!(feature = "couplings"))),
    };
    let of_head = (*head == 1).then_some((Feature::Head, cfg!(feature = "head")));
    let of_output =
        (sections[1].0 > 1).then_some((Feature::DegreeOne, cfg!(feature = "degree-one")));
    let needed = [of_encoding, of_structure, of_output, of_head];
    match needed.into_iter().flatten().find(|(_, on)| !on) {
        Some((feature, _)) => Err(Error::NeedsFeature { feature }),
        None => Ok(()),
    }
}

/// Checks 12 to 16.
pub(crate) fn layout(sections: &[Section; 4], inputs: usize, rows: usize) -> Result<Layout, Error> {
    let [encoding, pairs, structure, head] = sections;
    let coupled = match (structure, pairs.0) {
        ((4, bytes), 0) => Some(couplings(bytes, inputs, rows).ok_or(Error::Malformed)?),
        ((4, _), _) => return Err(Error::Malformed),
        _ => None,
    };
    let (weights, pairs) = match pairs {
        (kind @ (2 | 3), bytes) => {
            let (weights, list) = bytes.split_at_checked(8).ok_or(Error::Malformed)?;
            if *kind == 2 && !list.is_empty() {
                return Err(Error::Malformed);
            }
            let weights = floats(weights);
            (Some((weights[0], weights[1])), (kind - 2, list.to_vec()))
        }
        section => (None, section.clone()),
    };
    let pairs = listed(&pairs, rows).ok_or(Error::Malformed)?;
    let count = pairs.as_ref().map_or(rows * (rows + 1) / 2, Vec::len);
    let (made, stored) = match &coupled {
        Some(_) => (Rows::Real, (inputs, rows)),
        None => structured(structure, encoding.0, inputs, rows, count).ok_or(Error::Malformed)?,
    };
    let features = coupled.as_ref().map_or(2 * count, |c| c.terms.len());
    let scales = match (encoding.0, &encoding.1[..]) {
        (2, bytes) => Some(scales(bytes, stored.1).ok_or(Error::Malformed)?),
        // Roots in whole numbers: their amplitude.
        (3, bytes) if structure.0 == 3 => Some(scales(bytes, 1).ok_or(Error::Malformed)?),
        (3, _) => return Err(Error::Malformed),
        (_, []) => None,
        _ => return Err(Error::Malformed),
    };
    if head.0 == 1 {
        let magnitudes = if weights.is_some() { rows } else { 0 };
        perceptron(&head.1, magnitudes + features).ok_or(Error::Malformed)?;
    }
    Ok(Layout {
        pairs,
        couplings: coupled,
        rows: made,
        stored,
        inputs,
        scales,
        element_len: [4, 2, 1, 4][usize::from(encoding.0)],
        kind: structure.0,
        fast_factors: fast_factors(structure),
        degree_one: weights.map(|(w, t)| (w, t, combined_exponent(structure, rows))),
    })
}

/// ⌊log2 scale⌋ + 15 + ⌈log2 K⌉ of a combined model.
fn combined_exponent((kind, bytes): &Section, rows: usize) -> Option<i32> {
    let behind = bytes.get(2 * rows..).filter(|_| *kind == 2)?;
    let scale = f64::from(floats(behind.get(1..5)?)[0]);
    let exponent = scale.log2().floor() as i32;
    Some(exponent + 15 + f64::from(behind[0]).log2().ceil() as i32)
}

/// Numbers of 16 bits, as many as there are bytes for.
fn numbers(bytes: &[u8]) -> Vec<usize> {
    let number = |pair: &[u8]| usize::from(pair[0]) + 256 * usize::from(pair[1]);
    bytes.chunks_exact(2).map(number).collect()
}

fn listed((kind, bytes): &Section, rows: usize) -> Option<Option<Vec<(usize, usize)>>> {
    if *kind == 0 {
        return Some(None);
    }
    let pairs: Vec<_> = numbers(bytes)
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let right = bytes.len() % 4 == 0
        && (1..rows * (rows + 1) / 2).contains(&pairs.len())
        && pairs.iter().all(|(i, j)| i <= j && *j < rows)
        && pairs.windows(2).all(|two| two[0] < two[1]);
    right.then_some(Some(pairs))
}

fn structured(
    (kind, bytes): &Section,
    encoding: u8,
    inputs: usize,
    rows: usize,
    pairs: usize,
) -> Option<(Rows, (usize, usize))> {
    let stored = |table: Vec<(usize, bool)>| {
        let count = table.iter().map(|(row, _)| row + 1).max()?;
        Some((Rows::Stored(table), (inputs, count)))
    };
    match kind {
        0 => stored((0..rows).map(|row| (row, false)).collect()),
        1 => {
            let table = table(bytes, rows)?;
            let folded = table
                .iter()
                .enumerate()
                .any(|(at, row)| *row != (at, false));
            stored(table).filter(|_| folded)
        }
        2 => {
            let (table_bytes, rest) = bytes.split_at_checked(2 * rows)?;
            let (rows, (_, count)) = stored(table(table_bytes, rows)?)?;
            let (&terms, rest) = rest.split_first()?;
            let (scale, terms_bytes) = rest.split_at_checked(4)?;
            let scale = f32::from_le_bytes(scale.try_into().ok()?);
            let whole = terms_bytes.len() == pairs * usize::from(terms) * 6;
            let known = |term: &[u8]| numbers(term)[0] % 32768 < count;
            let right = whole
                && terms > 0
                && (f32::MIN_POSITIVE..=f32::MAX).contains(&scale)
                && terms_bytes.chunks(6).all(known);
            right.then_some((rows, (inputs, count)))
        }
        _ => cyclic(bytes, inputs, rows).filter(|_| matches!(encoding, 0 | 3)),
    }
}

/// A perceptron that `inputs` numbers enter is whole, and all of its numbers are finite.
fn perceptron(bytes: &[u8], inputs: usize) -> Option<()> {
    let (head, rest) = bytes.split_at_checked(2)?;
    let (sizes, mut rest) = rest.split_at_checked(2 * usize::from(head[1]))?;
    let mut inputs = inputs;
    for outputs in numbers(sizes) {
        let (weight, scales) = match head[0] {
            0 => (4, 0),
            1 => (1, outputs),
            _ => return None,
        };
        let (weights, behind) = rest.split_at_checked(inputs * outputs * weight)?;
        let (others, behind) = behind.split_at_checked(4 * (scales + outputs))?;
        rest = behind;
        let finite = |bytes: &[u8]| {
            let number = |four: &[u8]| f32::from_le_bytes(four.try_into().unwrap());
            bytes.chunks(4).all(|four| number(four).is_finite())
        };
        let right = match head[0] {
            0 => finite(weights),
            _ => weights.iter().all(|q| *q != 128),
        };
        if !(right && finite(others) && (1..=8192).contains(&outputs)) {
            return None;
        }
        inputs = outputs;
    }
    (matches!(head[0], 0 | 1) && head[1] > 0 && rest.is_empty()).then_some(())
}

/// Stored rows, numbered as they first appear, and then not conjugated.
fn table(bytes: &[u8], rows: usize) -> Option<Vec<(usize, bool)>> {
    let entries: Vec<_> = numbers(bytes)
        .iter()
        .map(|e| (e % 32768, *e >= 32768))
        .collect();
    let mut seen = 0;
    for entry in &entries {
        if *entry == (seen, false) {
            seen += 1;
        } else if entry.0 >= seen {
            return None;
        }
    }
    (bytes.len() == 2 * rows).then_some(entries)
}

fn cyclic(bytes: &[u8], inputs: usize, rows: usize) -> Option<(Rows, (usize, usize))> {
    let (&[transform, count], rest) = bytes.split_first_chunk::<2>()?;
    let (factors, rest) = rest.split_at_checked(2 * usize::from(count))?;
    let (characters, elements) = rest.split_at_checked(2 * rows)?;
    let [factors, characters, elements] = [factors, characters, elements].map(numbers);
    let order: usize = factors.iter().product();
    let fast = |m: &usize| [4, 8, 16, 32, 64, 128, 256, 512, 1024].contains(m);
    let right = (transform == 0 || transform == 1 && factors.iter().any(fast))
        && count > 0
        && (1..=8192).contains(&factors.iter().fold(1_usize, |n, m| n.saturating_mul(*m)))
        && rest.len() == 2 * (rows + inputs)
        && characters.iter().chain(&elements).all(|k| *k < order);
    if !right {
        return None;
    }
    let exponent = (1..).find(|e| factors.iter().all(|m| e % m == 0))?;
    let coordinates = |mut index: usize| -> Vec<usize> {
        let digits = factors.iter().rev().map(|m| {
            let digit = index % m;
            index /= m;
            digit
        });
        digits.collect()
    };
    let root = |k: usize, g: usize| -> usize {
        let (k, g) = (coordinates(k), coordinates(g));
        let phase = |f: usize| k[f] * g[f] * (exponent / factors[factors.len() - 1 - f]);
        (0..factors.len()).map(phase).sum::<usize>() % exponent
    };
    let roots = characters
        .iter()
        .flat_map(|k| elements.iter().map(move |g| root(*k, *g)));
    Some((Rows::Roots(roots.collect()), (exponent, 1)))
}

fn scales(bytes: &[u8], stored: usize) -> Option<Vec<f32>> {
    let scales: Vec<f32> = floats(bytes);
    let right = bytes.len() == 4 * stored && scales.iter().all(|s| *s > 0.0 && s.is_finite());
    right.then_some(scales)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let float = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    bytes.chunks_exact(4).map(float).collect()
}

/// Sign, five bits of exponent, ten of fraction.
pub(super) fn half(bytes: &[u8]) -> f32 {
    let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3ff) / 1024.0);
    let magnitude = match (exponent, fraction) {
        (0, _) => fraction * 2_f32.powi(-14),
        (31, 0.0) => f32::INFINITY,
        (31, _) => f32::NAN,
        _ => (1.0 + fraction) * 2_f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// q times the scale of its row; −128 is no q.
fn integers(bytes: &[u8], scales: &[f32], width: usize) -> Option<Vec<f32>> {
    let row = |(row, scale): (&[u8], &f32)| -> Vec<f32> {
        row.iter().map(|q| f32::from(*q as i8) * scale).collect()
    };
    let rows = bytes.chunks(2 * width).zip(scales);
    (!bytes.contains(&0x80)).then(|| rows.flat_map(row).collect())
}

/// Roots in 2^-30 times their amplitude, which is within 2^-60 ≤ · < 2^61; the first is 1, and no part larger.
fn fixed(bytes: &[u8], amplitude: f32) -> Result<Vec<f32>, Error> {
    if !(2_f32.powi(-60)..2_f32.powi(61)).contains(&amplitude) {
        return Err(Error::WeightRange);
    }
    let roots: Vec<i32> = (bytes.chunks(4))
        .map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let one = 1 << 30;
    let bounded = roots.iter().all(|q| (-one..=one).contains(q));
    if roots[0] != one || roots[roots.len() / 2] != 0 || !bounded {
        return Err(Error::Malformed);
    }
    let unit = amplitude * 2_f32.powi(-30);
    Ok(roots.iter().map(|q| *q as f32 * unit).collect())
}

impl Layout {
    /// Check 15.
    pub(crate) fn weight_len(&self) -> u32 {
        let numbers = match &self.couplings {
            Some(couplings) => couplings.stored.len(),
            None => 2 * self.stored.0 * self.stored.1,
        };
        (numbers * self.element_len) as u32
    }

    /// W, row after row, once every stored number is finite and the largest within 2^-60 ≤ · < 2^61.
    pub(crate) fn weights(&self, bytes: &[u8]) -> Result<Vec<Complex32>, Error> {
        let (width, _) = self.stored;
        let stored = match (self.element_len, &self.scales) {
            (1, Some(scales)) if self.couplings.is_some() => {
                let rows = self.couplings.iter().flat_map(|c| &c.stored);
                let q = bytes.iter().zip(rows);
                let weights = q.map(|(q, (row, _))| f32::from(*q as i8) * scales[*row]);
                let whole = !bytes.contains(&0x80);
                whole.then(|| weights.collect()).ok_or(Error::Malformed)?
            }
            (1, Some(scales)) => integers(bytes, scales, width).ok_or(Error::Malformed)?,
            (4, Some(amplitude)) => fixed(bytes, amplitude[0])?,
            (2, _) => bytes.chunks_exact(2).map(half).collect(),
            _ => floats(bytes),
        };
        let not_finite = stored.iter().position(|w| !w.is_finite());
        if let Some(at) = not_finite.filter(|_| self.scales.is_none()) {
            let (row, column) = match &self.couplings {
                Some(couplings) => couplings.stored[at],
                None => (at / width / 2, at % width),
            };
            return Err(Error::NonFiniteWeight {
                row: row as u16,
                column: column as u16,
            });
        }
        // Scales count too, where there are any, but not in place of a weight.
        let zero = stored.iter().all(|w| *w == 0.0);
        let numbers = stored.iter().chain(self.scales.iter().flatten());
        let largest = numbers.fold(0.0_f32, |l, w| l.max(w.abs()));
        if zero || !(2_f32.powi(-60)..2_f32.powi(61)).contains(&largest) {
            return Err(Error::WeightRange);
        }
        if self.kind == 3 {
            let (a, b) = (stored[0], stored[width]);
            if a != largest || b != 0.0 {
                return Err(Error::Malformed);
            }
            let large = (self.fast_factors.iter()).any(|factor| *factor > 256);
            let floats = self.scales.is_none();
            for (needed, on, feature) in [
                (
                    !self.fast_factors.is_empty(),
                    cfg!(feature = "fft"),
                    Feature::Fft,
                ),
                (large, cfg!(feature = "fft-1024"), Feature::Fft1024),
            ] {
                if floats && needed && !on {
                    return Err(Error::NeedsFeature { feature });
                }
            }
        }
        if let Some((w, t, combined)) = self.degree_one {
            let exponent = combined.unwrap_or(f64::from(largest).log2().floor() as i32);
            let within = |value: f64| (2_f64.powi(-30)..=2_f64.powi(30)).contains(&value);
            if !(within(w.into()) && within(f64::from(t) * 2_f64.powi(exponent))) {
                return Err(Error::Malformed);
            }
        }
        let number = |row: usize, n: usize| {
            let at = 2 * width * row + n;
            Complex32::new(stored[at], stored[at + width])
        };
        Ok(match &self.rows {
            Rows::Real => {
                let mut all = vec![Complex32::ZERO; self.inputs * self.stored.1];
                let places = self.couplings.iter().flat_map(|c| &c.stored);
                for (weight, (row, column)) in stored.iter().zip(places) {
                    all[row * self.inputs + column].re = *weight;
                }
                all
            }
            Rows::Roots(roots) => roots.iter().map(|t| number(0, *t)).collect(),
            Rows::Stored(rows) => rows
                .iter()
                .flat_map(|&(row, conjugated)| (0..self.inputs).map(move |n| (row, n, conjugated)))
                .map(|(row, n, conjugated)| {
                    let w = number(row, n);
                    if conjugated { w.conj() } else { w }
                })
                .collect(),
        })
    }
}
