//! From invariants to classes: the paper's downstream task, features → principal components → multi-layer perceptron.
//!
//! | file | what it is |
//! | --- | --- |
//! | `features` | what is computed of a signal |
//! | `pca` | principal components of features that do not fit into memory |
//! | `mlp` | the perceptron, its loss and gradient by hand |
//! | `fit` | how it is trained: batches, rate, when it stops |
//! | `scaling` | what brings its inputs to a common size |
//! | `classifier` | all of it together, and its file |
//! | `device` | the same as one perceptron of invariants, for `bispectral_core::Head` |
//! | `svm` | a linear machine to compare with |

pub mod classifier;
pub mod device;
pub mod features;
pub mod fit;
pub mod mlp;
pub mod pca;
pub mod scaling;
pub mod svm;
