//! Signals to classify, as they lie behind a model: a postcard message, and its CRC-32 behind it.

use serde::{Deserialize, Serialize};

/// Signals, and what each of them is.
#[derive(Debug, Serialize, Deserialize)]
pub struct Signals<'a> {
    /// The class of each.
    #[serde(borrow)]
    pub labels: &'a [u8],
    /// f32, little-endian: signal after signal, as many samples each as the model has inputs.
    pub samples: &'a [u8],
}
