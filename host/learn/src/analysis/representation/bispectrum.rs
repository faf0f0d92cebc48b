//! β̄: the normalised bispectrum of a W.

use super::Representation;
use crate::Result;
use crate::network::{Network, Targets, Workspace};
use ndarray::ArrayView2;
use num_complex::Complex32;

/// The normalised bispectrum.
#[derive(Debug)]
pub struct Bispectrum {
    network: Network<f32>,
    targets: Targets<f32>,
    workspace: Workspace<f32>,
}

impl Bispectrum {
    /// The invariants in the rows of `targets` are to be had; pairs as in [`Workspace::invariants`].
    #[must_use]
    pub fn new(w: &ArrayView2<'_, Complex32>, targets: &ArrayView2<'_, Complex32>) -> Self {
        Bispectrum {
            network: Network::from_array(w),
            targets: Targets::new(targets),
            workspace: Workspace::new(),
        }
    }

    /// Those of the signals in the rows of `targets` are to be had.
    ///
    /// # Errors
    /// The signals do not fit W, or one of them is not finite.
    pub fn of_signals(
        w: &ArrayView2<'_, Complex32>,
        targets: &ArrayView2<'_, f32>,
    ) -> Result<Self> {
        let network = Network::from_array(w);
        let mut workspace = Workspace::new();
        let signals: Vec<f32> = targets.iter().copied().collect();
        let invariants = workspace.invariants(&network, &signals, false)?;
        Ok(Bispectrum {
            network,
            targets: Targets::new(&invariants.view()),
            workspace,
        })
    }
}

impl Representation for Bispectrum {
    fn inputs(&self) -> usize {
        self.network.inputs()
    }

    fn features(&self) -> usize {
        let rows = self.network.rows();
        rows * (rows + 1)
    }

    fn targets(&self) -> usize {
        self.targets.len()
    }

    fn approach(
        &mut self,
        signals: &[f32],
        which: &[usize],
        gradient: &mut [f32],
    ) -> Result<Vec<f64>> {
        self.workspace
            .input_gradient(&self.network, signals, &self.targets, which, gradient)
    }
}
