//! The bispectral network: forward pass, loss and gradient.
//!
//! One complex matrix W (R×N) acts on real samples x:
//!
//! > z = W x,  z_ij = (W_i ⊙ W_j) x,  β_ij = z_i z_j conj(z_ij) for i ≤ j,  β̄ = β / ‖β‖₂.
//!
//! [`Network`] holds W, [`Workspace`] the buffers of a step: a training loop allocates in its first step only.
//! The gradient is written by hand; it is ∂L/∂Re W + i ∂L/∂Im W, the direction of steepest ascent.
//!
//! ```
//! use bispectral_learn::network::{Network, Objective, Workspace};
//!
//! let w = ndarray::array![[1.0, 1.0, 1.0], [1.0, 0.5, -0.5]].mapv(num_complex::Complex64::from);
//! let mut network = Network::from_array(&w.view());
//! network.normalise_rows();
//!
//! // Two samples of one orbit, then two of another.
//! let samples = [1.0, 2.0, 4.0, 4.0, 1.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
//! let mut workspace = Workspace::new();
//! let loss = workspace.loss_and_gradient(&network, &samples, &[2, 2], &Objective::default())?;
//! assert!(loss.invariance > 0.0);
//! assert_eq!(workspace.gradient().re.len(), 2 * 3);
//! # Ok::<(), bispectral_learn::Error>(())
//! ```
//!
//! | file | what it computes |
//! | --- | --- |
//! | `weights` | W, its rows at unit length |
//! | `objective` | which loss |
//! | `batch` | samples at a common magnitude, z |
//! | `reconstruction` | x − W†z and its gradient |
//! | `pairs` | the pairs (i, j), cut into tiles and parts |
//! | `forward` | P = W_i ⊙ W_j, z_ij, β, ‖β‖ |
//! | `invariance` | β̄ and the distances within orbits |
//! | `gradient` | from distances back to W |
//! | `second_order` | the cheap objective on abs(z)² |
//! | `input_gradient` | from given invariants back to x |
//! | `part` | what one thread works through |
//! | `workspace` | a step: all of these in order |
//! | `features` | z, β, β̄ without a loss |
//! | `lanes`, `planar` | vectors, and rows of complex numbers as two rows of real ones |
//!
//! # The same bits for any number of threads
//! Pairs are cut into tiles and tiles into parts by the shape of the problem alone; a part is worked through by one
//! thread with sequential matrix products; what parts have in common is added in the order of the parts.

mod batch;
mod features;
mod forward;
mod gradient;
mod input_gradient;
mod invariance;
mod lanes;
mod objective;
mod pairs;
mod part;
mod planar;
mod reconstruction;
mod second_order;
mod weights;
mod workspace;

pub use input_gradient::Targets;
pub use objective::{Distance, Loss, Objective, Reconstruction};
pub use second_order::SecondOrder;
pub use weights::{Gradient, Network};
pub use workspace::Workspace;
