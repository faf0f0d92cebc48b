//! From invariants to classes: the paper's downstream task, features → principal components → multi-layer perceptron.
//!
//! | file | what it is |
//! | --- | --- |
//! | `samples` | signals and what each of them is |
//! | `features` | what is computed of a signal |
//! | `pca`, `products` | principal components of features that do not fit into memory |
//! | `scaling` | what brings a perceptron's inputs to a common size |
//! | `mlp`, `gradient`, `outputs` | the perceptron, its loss and gradient by hand, what it says |
//! | `protocol`, `fit` | how it is trained |
//! | `prepared`, `classifier` | all of it together, and its file |
//! | `evaluated` | how often it is right |
//! | `harmonics`, `ridge`, `templates`, `chain` | all shifts of a signal without learning: features of degree one, classifiers in closed form, the best within limits |
//! | `neighbours` | the nearest of known samples |
//! | `compare` | whether invariants help: raw, magnitudes, brute force over shifts and these |
//! | `device` | the same as one perceptron of invariants, in the model's file |

pub mod chain;
pub mod classifier;
pub mod compare;
pub mod device;
pub mod evaluated;
pub mod features;
pub mod fit;
pub mod gradient;
pub mod harmonics;
pub mod mlp;
mod neighbours;
pub mod outputs;
pub mod pca;
pub mod prepared;
mod products;
pub mod protocol;
pub mod ridge;
pub mod samples;
pub mod scaling;
mod templates;
