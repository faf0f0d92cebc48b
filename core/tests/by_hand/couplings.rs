//! The section of couplings, made from `docs/format.md` as the reader beside it.

use bispectral_core::Model;
use bispectral_core::format::Structure;

/// What the section says.
#[derive(Debug, Clone)]
pub(crate) struct Couplings {
    pub(crate) selective: usize,
    /// Indices and coefficient of every entry.
    pub(crate) tensors: Vec<Vec<(Vec<usize>, f32)>>,
    /// Tensor and offsets.
    pub(crate) terms: Vec<(usize, Vec<usize>)>,
    /// Row and column of every stored number of U.
    pub(crate) stored: Vec<(usize, usize)>,
}

impl Couplings {
    /// What the crate has of them, value by value.
    pub(crate) fn assert_are_those_of(&self, model: &Model<'_>) {
        let Structure::Couplings(found) = model.parts().structure else {
            panic!("{model:?} has no couplings");
        };
        assert_eq!(usize::from(found.selective), self.selective);
        let tensors = found.terms.iter().zip(&self.terms);
        assert!(tensors.clone().all(|(found, (tensor, _))| found == *tensor));
        let offsets = self.terms.iter().flat_map(|(_, offsets)| offsets);
        assert!(found.offsets.iter().eq(offsets.copied()));
        let entries = || self.tensors.iter().flatten();
        let indices = entries().flat_map(|(indices, _)| indices.iter().map(|i| *i as u8));
        assert!(found.indices.iter().eq(indices));
        assert_eq!(found.coefficients.len(), entries().count());
        for (at, (_, coefficient)) in entries().enumerate() {
            let bits = found.coefficients.get(at).map(f32::to_bits);
            assert_eq!(bits, Some(coefficient.to_bits()));
        }
    }
}

/// Bytes from front to back.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken.to_vec())
    }

    fn word(&mut self) -> Option<usize> {
        let two = self.take(2)?;
        Some(usize::from(two[0]) + 256 * usize::from(two[1]))
    }

    /// A number below `end`: of one byte where `end` is at most 256.
    fn number(&mut self, end: usize) -> Option<usize> {
        match end {
            ..=256 => Some(self.take(1)?[0].into()),
            _ => self.word(),
        }
    }

    fn float(&mut self) -> Option<f32> {
        Some(f32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}

/// Checks 12 and 14; the pairs are all.
pub(crate) fn couplings(bytes: &[u8], inputs: usize, rows: usize) -> Option<Couplings> {
    let mut bytes = Bytes(bytes);
    let (sparse, kind) = (bytes.take(1)?[0], bytes.take(1)?[0]);
    let [selective, tensor_count, term_count] = [bytes.word()?, bytes.word()?, bytes.word()?];
    if sparse > 1 || kind > 2 {
        return None;
    }
    let mut magnitudes = Vec::new();
    if kind == 0 {
        for _ in 0..bytes.take(1)?[0] {
            magnitudes.push(bytes.float()?);
        }
        let right = (1..=128).contains(&magnitudes.len())
            && magnitudes.windows(2).all(|two| two[0] < two[1])
            && (magnitudes.iter()).all(|m| (f32::MIN_POSITIVE..65536.0).contains(m));
        if !right {
            return None;
        }
    }
    let mut heads = Vec::new();
    for _ in 0..tensor_count {
        let order = usize::from(bytes.take(1)?[0]);
        let dims: Vec<usize> = (bytes.take(4)?.iter())
            .map(|dim| usize::from(*dim) + 1)
            .collect();
        let entries = bytes.word()?;
        if !(1..=4).contains(&order) || entries == 0 || dims[order..].iter().any(|d| *d != 1) {
            return None;
        }
        heads.push((dims[..order].to_vec(), entries));
    }
    let mut indices = Vec::new();
    for (dims, entries) in &heads {
        let mut of_tensor: Vec<Vec<usize>> = Vec::new();
        for _ in 0..*entries {
            let entry: Vec<usize> = bytes
                .take(dims.len())?
                .iter()
                .map(|i| (*i).into())
                .collect();
            let within = entry.iter().zip(dims).all(|(index, dim)| index < dim);
            if !within || of_tensor.last().is_some_and(|last| *last >= entry) {
                return None;
            }
            of_tensor.push(entry);
        }
        indices.push(of_tensor);
    }
    let mut tensors = Vec::new();
    for of_tensor in indices {
        let mut entries = Vec::new();
        for entry in of_tensor {
            let coefficient = match kind {
                0 => {
                    let code = bytes.take(1)?[0];
                    let magnitude = *magnitudes.get(usize::from(code % 128))?;
                    if code >= 128 { -magnitude } else { magnitude }
                }
                1 => super::sections::half(&bytes.take(2)?),
                _ => bytes.float()?,
            };
            if coefficient == 0.0 || coefficient.is_nan() || coefficient.abs() >= 65536.0 {
                return None;
            }
            entries.push((entry, coefficient));
        }
        tensors.push(entries);
    }
    let mut of_terms = Vec::new();
    for _ in 0..term_count {
        of_terms.push(bytes.number(tensor_count)?);
    }
    let (first, others) = of_terms.split_at_checked(selective)?;
    if of_terms.is_empty() || !first.is_sorted() || !others.is_sorted() {
        return None;
    }
    let mut stored: Vec<(usize, usize)> = Vec::new();
    if sparse == 1 {
        let mut counts = Vec::new();
        for _ in 0..rows {
            counts.push(bytes.word()?);
        }
        for (row, count) in counts.into_iter().enumerate() {
            let mut last = None;
            for _ in 0..count {
                let column = bytes.number(inputs)?;
                if column >= inputs || last >= Some(column) {
                    return None;
                }
                last = Some(column);
                stored.push((row, column));
            }
        }
        if stored.is_empty() || stored.len() == rows * inputs {
            return None;
        }
    } else {
        stored.extend((0..rows).flat_map(|row| (0..inputs).map(move |column| (row, column))));
    }
    let mut terms = Vec::new();
    for tensor in of_terms {
        let (dims, _) = heads.get(tensor)?;
        let mut offsets = Vec::new();
        for dim in dims {
            let offset = bytes.number(rows)?;
            if offset + dim > rows {
                return None;
            }
            offsets.push(offset);
        }
        terms.push((tensor, offsets));
    }
    bytes.0.is_empty().then_some(Couplings {
        selective,
        tensors,
        terms,
        stored,
    })
}
