//! Pictures people look at.

pub mod loss_curve;
