//! The sections of a file, made from `docs/format.md` as the reader beside it.

use bispectral_core::{Complex32, Error, Part};

/// How many kinds of each section the page knows.
const KINDS: [(Part, u8); 4] = [
    (Part::Encoding, 3),
    (Part::Pairs, 2),
    (Part::Structure, 4),
    (Part::Head, 1),
];

/// A kind, and its bytes.
pub(crate) type Section = (u8, Vec<u8>);

/// The pairs of a model, and where its weights are.
pub(crate) struct Layout {
    /// All where none are listed.
    pub(crate) pairs: Option<Vec<(usize, usize)>>,
    rows: Rows,
    /// Numbers in a stored row, and stored rows; the roots of unity are one.
    stored: (usize, usize),
    inputs: usize,
    scales: Option<Vec<f32>>,
    element_len: usize,
    kind: u8,
    fast: bool,
}

/// How W is made of what is stored.
enum Rows {
    /// The stored row, and whether it is conjugated.
    Stored(Vec<(usize, bool)>),
    /// The root of unity of every weight.
    Roots(Vec<usize>),
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
    Ok(())
}

/// Checks 12 to 14.
pub(crate) fn layout(sections: &[Section; 4], inputs: usize, rows: usize) -> Result<Layout, Error> {
    let [encoding, pairs, structure, _] = sections;
    let pairs = listed(pairs, rows).ok_or(Error::Malformed)?;
    let count = pairs.as_ref().map_or(rows * (rows + 1) / 2, Vec::len);
    let (made, stored) =
        structured(structure, encoding.0, inputs, rows, count).ok_or(Error::Malformed)?;
    let scales = match (encoding.0, &encoding.1[..]) {
        (2, bytes) => Some(scales(bytes, stored.1).ok_or(Error::Malformed)?),
        (_, []) => None,
        _ => return Err(Error::Malformed),
    };
    Ok(Layout {
        pairs,
        rows: made,
        stored,
        inputs,
        scales,
        element_len: [4, 2, 1][usize::from(encoding.0)],
        kind: structure.0,
        fast: structure.1.first() == Some(&1),
    })
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
        _ => cyclic(bytes, inputs, rows).filter(|_| encoding == 0),
    }
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
fn half(bytes: &[u8]) -> f32 {
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

impl Layout {
    /// Check 15.
    pub(crate) fn weight_len(&self) -> u32 {
        (2 * self.stored.0 * self.stored.1 * self.element_len) as u32
    }

    /// W, row after row, once every stored number is finite and the largest within 2^-60 ≤ · < 2^61.
    pub(crate) fn weights(&self, bytes: &[u8]) -> Result<Vec<Complex32>, Error> {
        let (width, _) = self.stored;
        let stored = match (self.element_len, &self.scales) {
            (1, Some(scales)) => integers(bytes, scales, width).ok_or(Error::Malformed)?,
            (2, _) => bytes.chunks_exact(2).map(half).collect(),
            _ => floats(bytes),
        };
        let not_finite = stored.iter().position(|w| !w.is_finite());
        if let Some(at) = not_finite.filter(|_| self.scales.is_none()) {
            return Err(Error::NonFiniteWeight {
                row: (at / width / 2) as u16,
                column: (at % width) as u16,
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
            if self.fast && !cfg!(feature = "fft") {
                return Err(Error::NeedsFft);
            }
        }
        let number = |row: usize, n: usize| {
            let at = 2 * width * row + n;
            Complex32::new(stored[at], stored[at + width])
        };
        Ok(match &self.rows {
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
