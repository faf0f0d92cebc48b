//! How many instructions a Cortex-M4F takes for one signal, estimated: what the kernels do, times what each of that takes
//! by the emulator's count.

use bispectral_core::Model;

/// The estimate for the streaming form, with a closure that does nothing.
#[must_use]
pub fn estimate(model: &Model<'_>) -> u64 {
    let (rows, inputs, pairs) = (model.rows(), model.inputs(), model.pairs());
    (9 * pairs * inputs + 170 * pairs + 13 * rows * inputs) as u64
}
