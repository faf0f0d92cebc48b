//! The bispectral network: forward pass, loss and gradient.
