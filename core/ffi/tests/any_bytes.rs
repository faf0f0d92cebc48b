//! Random models, damaged ones and buffers of wrong lengths through the C interface. libFuzzer begins where this ends (`core/fuzz`).

#![allow(dead_code)]

#[path = "any_bytes/mod.rs"]
mod any_bytes;
#[path = "../src/buffers.rs"]
mod buffers;
#[path = "../src/compute.rs"]
mod compute;
#[path = "../src/model.rs"]
mod model;
#[path = "../src/status.rs"]
mod status;

use bispectral_core::format::{Parts, Weights};

#[test]
fn whatever_the_bytes_and_lengths_there_is_a_status() {
    // Numerical Recipes' generator.
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as u32
    };
    for _ in 0..2000 {
        let (inputs, rows) = (1 + random() as u16 % 8, 1 + random() as u16 % 8);
        let count = 2 * usize::from(inputs) * usize::from(rows);
        let weights: Vec<f32> = (0..count).map(|_| random() as f32 / 1e9 - 1.0).collect();
        let parts = Parts {
            inputs,
            rows,
            weights: Weights::F32((&weights[..]).into()),
            ..Parts::default()
        };
        let mut bytes = vec![0; parts.encoded_len().unwrap()];
        parts.write(&mut bytes).unwrap();
        assert!(any_bytes::examine(&bytes));
        let at = random() as usize % bytes.len();
        bytes[at] ^= 1 << (random() % 8);
        assert!(!any_bytes::examine(&bytes));
        bytes.truncate(at);
        assert!(!any_bytes::examine(&bytes));
    }
}
