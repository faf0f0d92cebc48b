//! W as complex numbers, row after row, written as a model.

use bispectral_core::Complex32;
use bispectral_core::format::Parts;

/// The bytes of a model without a name.
pub(crate) fn model(inputs: usize, weights: &[Complex32]) -> Vec<u8> {
    let planar = planar(inputs, weights);
    let parts = Parts {
        inputs: inputs as u16,
        rows: (weights.len() / inputs) as u16,
        weights: &planar,
        ..Parts::default()
    };
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.write(&mut bytes).unwrap();
    bytes
}

/// Rows as the format has them: N real parts, then N imaginary parts, little-endian.
pub(crate) fn planar(inputs: usize, weights: &[Complex32]) -> Vec<u8> {
    weights
        .chunks(inputs)
        .flat_map(|row| {
            let (re, im) = (row.iter().map(|w| w.re), row.iter().map(|w| w.im));
            re.chain(im).flat_map(f32::to_le_bytes)
        })
        .collect()
}
