//! W as complex numbers, row after row, written as a model.

use bispectral_core::Complex32;
use bispectral_core::format::{Parts, Weights};

/// The bytes of a model without a name.
pub(crate) fn model(inputs: usize, weights: &[Complex32]) -> Vec<u8> {
    let planar = planar(inputs, weights);
    let parts = Parts {
        inputs: inputs as u16,
        rows: (weights.len() / inputs) as u16,
        weights: Weights::F32((&planar[..]).into()),
        ..Parts::default()
    };
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.write(&mut bytes).unwrap();
    bytes
}

/// Rows as the format has them: N real parts, then N imaginary parts.
pub(crate) fn planar(inputs: usize, weights: &[Complex32]) -> Vec<f32> {
    weights
        .chunks(inputs)
        .flat_map(|row| {
            let (re, im) = (row.iter().map(|w| w.re), row.iter().map(|w| w.im));
            re.chain(im)
        })
        .collect()
}
