//! One step of training: draw a batch, take the gradient, move W, bring its rows back to unit length.
//!
//! A run ends as soon as W is the characters of a group. Where it stalls instead, it begins again from another start.

use super::checkpoint::{Checkpoint, Kept};
use super::diagnosis::Diagnosis;
use super::learned::{Learned, Recognised};
use super::memory;
use super::moments::{self, NoMoments};
use super::permutations::{self, NoPermutations, Permuted, permutations};
use super::phase::{LossName, Phase};
use super::pruning::steadiest;
use super::sampler::{Batch, Sampler};
use super::schedule::Progress;
use super::spectral::{self, Spectral};
use super::{Divergence, LearnError, NotRecognised, Options};
use crate::Error;
use crate::analysis::certification::{Certified, certified};
use crate::analysis::evaluation::{Evaluation, distances, evaluate};
use crate::data::orbits::{Motion, Orbits};
use crate::group::compact::Compact;
use crate::group::identify::characters;
use crate::model::file::ModelBytes;
use crate::network::{Loss, Network, SecondOrder, Workspace};
use crate::numeric::adam::Adam;
use crate::numeric::orthogonal::orthogonal;
use crate::numeric::whitening::{Whitening, normalise};
use ndarray::Array2;
use num_complex::{Complex32, Complex64};
use serde::Serialize;
use std::sync::Arc;

/// A gradient longer than this is not one of a healthy run: rows and invariants are unit vectors, so only the
/// reconstruction of enormous samples, or an enormous γ, makes one.
const EXPLOSION: f64 = 1e9;
/// ‖a − b‖² / ‖a‖² of signals that have nothing to do with each other.
pub(super) const UNRELATED: f64 = 2.0;
/// Up to so many inputs the selective set of couplings is tried on so many signals, in a fraction of a second.
const MOST_TRIED: usize = 24;
const TRIALS: usize = 40;
/// Far from each other, so that an attempt shares no start with the next seed's run.
const ATTEMPT: u64 = 0x9e37_79b9_7f4a_7c15;

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Step {
    /// The attempt, counted from one.
    pub attempt: u32,
    /// The phase, counted from one.
    pub phase: usize,
    /// The step of the phase, counted from one.
    pub step: u64,
    /// The change along orbits.
    pub invariance: f64,
    /// What keeps W from forgetting: the reconstruction, or how far its rows are from orthonormal.
    pub reconstruction: f64,
    /// Both, weighted.
    pub total: f64,
    /// The length of the gradient.
    pub gradient: f64,
    /// The learning rate.
    pub lr: f64,
}

/// W on its way through the phases. [`learn`](super::learn) is all of it at once; a caller that wants to see every step,
/// to stop or to go on later takes the steps one by one.
///
/// ```
/// use bispectral_learn::{Options, Orbits};
/// use bispectral_learn::learn::Trainer;
///
/// let orbits = Orbits::of_group(&"Z6".parse()?, 20, 0);
/// let mut trainer = Trainer::new(&orbits, &Options::default())?;
/// while let Some(step) = trainer.step()? {
///     println!("phase {}, step {}: {:.1e}", step.phase, step.step, step.invariance);
/// }
/// assert_eq!(trainer.finish()?.group().unwrap().name, "Z6");
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
pub struct Trainer {
    /// With everything resolved.
    pub(super) options: Options,
    /// What is trained on, without inputs that are always zero.
    pub(super) orbits: Orbits,
    /// The inputs that are left.
    pub(super) support: Arc<[usize]>,
    pub(super) held_out: Orbits,
    pub(super) attempt: u32,
    pub(super) kept: Option<Kept>,
    phase: usize,
    step: u64,
    taken: u64,
    pub(super) network: Network<f32>,
    adam: Adam,
    pub(super) progress: Progress,
    whitening: Option<Whitening>,
    spectral: Option<Spectral>,
    /// What matching members came to, where it was tried.
    pub(super) permuted: Option<Result<Permuted, NoPermutations>>,
    /// The invariants of that group, where W cannot express it.
    couplings: Option<Certified>,
    /// What the moments of orbits came to, where they were computed.
    pub(super) compact: Option<Result<Compact, NoMoments>>,
    pub(super) workspace: Workspace<f32>,
    pub(super) batch: Batch,
}

impl Trainer {
    /// At the first step, with random orthonormal rows.
    ///
    /// # Errors
    /// An option cannot be meant, or there are too few orbits or members to hold some out.
    pub fn new(orbits: &Orbits, options: &Options) -> Result<Self, LearnError> {
        let mut trainer = Trainer::unprepared(orbits, options)?;
        trainer.prepare();
        Ok(trainer)
    }

    fn unprepared(orbits: &Orbits, options: &Options) -> Result<Self, LearnError> {
        let options = options.resolved(orbits.motion())?;
        let split = orbits.split(options.split, options.held_out, options.seed);
        let (training, held_out) = split.map_err(Error::from)?;
        let (training, support) = training.supported();
        let inputs = training.inputs();
        let rows = options.rows.unwrap_or(inputs);
        memory::check(&training, rows, &options)?;
        Ok(Trainer {
            attempt: 0,
            kept: None,
            phase: 0,
            step: 0,
            taken: 0,
            adam: Adam::new(2 * rows * inputs),
            network: random(rows, inputs, options.seed),
            options,
            orbits: training,
            support,
            held_out,
            progress: Progress::default(),
            whitening: None,
            spectral: None,
            permuted: None,
            couplings: None,
            compact: None,
            workspace: Workspace::new(),
            batch: Batch::default(),
        })
    }

    /// Where `checkpoint` was made.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), or the checkpoint is of a W of another shape.
    pub fn resume(
        orbits: &Orbits,
        options: &Options,
        checkpoint: Checkpoint,
    ) -> Result<Self, LearnError> {
        let mut trainer = Trainer::unprepared(orbits, options)?;
        trainer.accept(&checkpoint)?;
        trainer.load(&checkpoint.weights);
        trainer.attempt = checkpoint.attempt;
        trainer.kept = checkpoint.kept;
        trainer.phase = checkpoint.phase as usize;
        trainer.step = checkpoint.step;
        trainer.taken = checkpoint.taken;
        trainer.adam = checkpoint.adam;
        trainer.progress = checkpoint.progress;
        trainer.prepare();
        Ok(trainer)
    }

    fn accept(&self, checkpoint: &Checkpoint) -> Result<(), LearnError> {
        let expected = [self.network.rows(), self.network.inputs()];
        let found = [checkpoint.rows as usize, checkpoint.inputs as usize];
        // Phases may leave rows out, but never add any.
        let fewer = self.options.phases.iter().any(|phase| phase.keep < 1.0);
        let fits = found[0] == expected[0] || fewer && (1..expected[0]).contains(&found[0]);
        if found[1] != expected[1] || !fits {
            return Err(LearnError::Checkpoint { found, expected });
        }
        Ok(())
    }

    /// The options with everything filled in that was left open.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What is trained on, without inputs that are zero in every member.
    #[must_use]
    pub fn training(&self) -> &Orbits {
        &self.orbits
    }

    /// What is held out of training.
    #[must_use]
    pub fn held_out(&self) -> &Orbits {
        &self.held_out
    }

    /// All of the state; `origin` and `metrics` are the caller's.
    #[must_use]
    pub fn checkpoint(&self, origin: u32, metrics: u64) -> Checkpoint {
        Checkpoint {
            origin,
            attempt: self.attempt,
            kept: self.kept.clone(),
            phase: self.phase as u32,
            step: self.step,
            taken: self.taken,
            rows: self.network.rows() as u32,
            inputs: self.network.inputs() as u32,
            weights: self.parts(),
            adam: self.adam.clone(),
            progress: self.progress,
            metrics,
        }
    }

    /// W as it is now.
    #[must_use]
    pub fn weights(&self) -> Array2<Complex32> {
        self.network.to_array()
    }

    /// The phase at hand and its number, counted from zero; `None` when the run is over.
    #[must_use]
    pub fn phase(&self) -> Option<(usize, &Phase)> {
        Some((self.phase, self.options.phases.get(self.phase)?))
    }

    /// The next step of the phase at hand, counted from zero.
    #[must_use]
    pub fn next_step(&self) -> u64 {
        self.step
    }

    /// Steps of all phases and attempts so far.
    #[must_use]
    pub fn steps_taken(&self) -> u64 {
        self.taken
    }

    /// How often training began.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempt + 1
    }

    /// Takes one step; `None` when the run is over.
    ///
    /// # Errors
    /// The loss or the gradient is not finite, or far too large: W is as it was before the step.
    pub fn step(&mut self) -> Result<Option<Step>, LearnError> {
        let number = self.phase;
        let Some(phase) = self.options.phases.get(number).cloned() else {
            return Ok(None);
        };
        let phase = &phase;
        let (loss, gradient, lr) = match phase.loss {
            LossName::Permutations => self.match_members(),
            LossName::Spectral => self.diagonalise(),
            LossName::Moments => self.find_forms(),
            _ => self.descend(number, phase)?,
        };
        self.step += 1;
        self.taken += 1;
        let step = Step {
            attempt: self.attempt + 1,
            phase: number + 1,
            step: self.step,
            invariance: loss.invariance,
            reconstruction: loss.reconstruction,
            total: loss.total,
            gradient,
            lr,
        };
        let mean = self.progress.observe(loss.invariance, &phase.rates());
        let converged = mean.is_some_and(|mean| mean < phase.tolerance);
        let stalled = phase.stall > 0 && self.progress.stalled() >= phase.stall;
        // A second step would compute the same forms.
        let closed = phase.loss == LossName::Moments;
        if converged || stalled || closed || self.step >= phase.steps {
            self.end_phase(number, loss.invariance);
        }
        Ok(Some(step))
    }

    /// One step down the gradient; the loss, the gradient's length and the rate.
    fn descend(&mut self, number: usize, phase: &Phase) -> Result<(Loss, f64, f64), LearnError> {
        let lr = self.progress.rate(self.step, &phase.rates());
        let loss = self.gradient(number, phase)?;
        let gradient = self.workspace.gradient();
        let squares = gradient
            .re
            .iter()
            .chain(gradient.im)
            .map(|&g| f64::from(g) * f64::from(g));
        let length = squares.sum::<f64>().sqrt();
        self.guard(number, loss, length)?;
        let (re, im) = self.network.parts_mut();
        let gradient = gradient.re.iter().chain(gradient.im);
        self.adam.update(re.iter_mut().chain(im), gradient, lr);
        self.network.normalise_rows();
        Ok((loss, length, lr))
    }

    /// The group of permutations behind the orbits: W becomes its exact characters where it has one for every input. There is
    /// neither gradient nor rate; the loss is what the permutations leave, and that of unrelated signals where there are none.
    fn match_members(&mut self) -> (Loss, f64, f64) {
        let found = permutations(&self.orbits, self.seed());
        let residual = found.as_ref().map_or(UNRELATED, |found| found.residual);
        if let Ok(found) = &found
            && self.network.rows() == self.network.inputs()
            && let Some(identification) = characters(&found.action)
        {
            self.network = Network::from_array(&identification.exact().view());
        }
        self.permuted = Some(found);
        self.couplings = None;
        let loss = Loss {
            invariance: residual,
            reconstruction: 0.0,
            total: residual,
        };
        (loss, 0.0, 0.0)
    }

    /// One round of the closed form; there is neither gradient nor rate.
    fn diagonalise(&mut self) -> (Loss, f64, f64) {
        let Some(spectral) = &self.spectral else {
            unreachable!("the phase was prepared");
        };
        let inputs = self.network.inputs();
        let rows = self.network.rows().min(inputs);
        let (re, im) = self.network.parts_mut();
        let mut w: Vec<Complex64> = if self.step == 0 {
            spectral.start(rows)
        } else {
            let parts = re.iter().zip(&*im).take(rows * inputs);
            parts
                .map(|(&re, &im)| Complex64::new(re.into(), im.into()))
                .collect()
        };
        let invariance = spectral.improve(&mut w);
        for (w, (re, im)) in w.iter().zip(re.iter_mut().zip(im)) {
            (*re, *im) = (w.re as f32, w.im as f32);
        }
        let loss = Loss {
            invariance,
            reconstruction: 0.0,
            total: invariance,
        };
        (loss, 0.0, 0.0)
    }

    /// The loss of this step's batch; its gradient stays in the workspace.
    fn gradient(&mut self, number: usize, phase: &Phase) -> Result<Loss, Error> {
        let sampler = Sampler {
            seed: self.seed(),
            phase: number as u64,
            orbits: phase.orbits,
            members: phase.members,
        };
        sampler.draw(&self.orbits, self.step, &mut self.batch);
        let Batch { samples, sizes } = &mut self.batch;
        match phase.loss {
            LossName::SecondOrder => {
                if let Some(whitening) = &self.whitening {
                    whitening.apply(samples);
                }
                normalise(samples, self.network.inputs());
                self.workspace
                    .second_order(&self.network, samples, sizes, &SecondOrder::default())
            }
            LossName::Permutations | LossName::Spectral | LossName::Moments => {
                unreachable!("it has no gradient")
            }
            LossName::OrbitSeparation => {
                self.workspace
                    .loss_and_gradient(&self.network, samples, sizes, &phase.objective())
            }
        }
    }

    fn guard(&self, number: usize, loss: Loss, gradient: f64) -> Result<(), LearnError> {
        let sign = if !loss.total.is_finite() {
            Divergence::Loss
        } else if !gradient.is_finite() {
            Divergence::Gradient
        } else if gradient > EXPLOSION {
            Divergence::Explosion
        } else {
            return Ok(());
        };
        Err(LearnError::Diverged {
            phase: number + 1,
            step: self.step + 1,
            sign,
        })
    }

    pub(super) fn begin(&mut self, phase: usize) {
        self.phase = phase;
        self.step = 0;
        self.prune();
        self.adam = Adam::new(2 * self.network.re().len());
        self.progress = Progress::default();
        self.prepare();
    }

    /// Leaves the rows that the phase at hand is to begin with.
    fn prune(&mut self) {
        let number = self.phase;
        let Some(keep) = self.options.phases.get(number).map(|phase| phase.keep) else {
            return;
        };
        let rows = self.network.rows();
        let count = ((keep * rows as f64).ceil() as usize).max(1);
        if count >= rows {
            return;
        }
        let sampler = Sampler {
            seed: self.seed(),
            phase: u64::MAX - 1 - number as u64,
            orbits: 40,
            members: 12,
        };
        sampler.draw(&self.orbits, 0, &mut self.batch);
        let Batch { samples, sizes } = &self.batch;
        let kept = steadiest(&self.network, samples, sizes, count);
        let w = self.weights().select(ndarray::Axis(0), &kept);
        self.network = Network::from_array(&w.view());
    }

    /// What a phase needs from the data, made anew wherever a run begins or goes on.
    fn prepare(&mut self) {
        (self.whitening, self.spectral) = (None, None);
        let Some((number, &Phase { loss, whiten, .. })) = self.phase() else {
            return;
        };
        match loss {
            LossName::Permutations if self.orbits.inputs() > permutations::MOST_INPUTS => {
                self.begin(number + 1);
            }
            LossName::Spectral if self.orbits.inputs() > spectral::MOST_INPUTS => {
                self.begin(number + 1);
            }
            LossName::Spectral => {
                self.spectral = Some(Spectral::of(&self.orbits, whiten, self.seed()));
            }
            LossName::SecondOrder if whiten => {
                self.whitening = Some(Whitening::of(self.orbits.covariance()));
            }
            LossName::Moments if self.orbits.inputs() > moments::MOST_INPUTS => {
                self.begin(number + 1);
            }
            LossName::Permutations
            | LossName::SecondOrder
            | LossName::OrbitSeparation
            | LossName::Moments => {}
        }
    }

    /// Takes the steps that are left, and makes the model of what was learned.
    ///
    /// # Errors
    /// Training diverged, W is no model, or a held-out sample has no invariants.
    pub fn finish(mut self) -> Result<Learned, LearnError> {
        while self.step()?.is_some() {}
        let identification = self.recognise();
        if identification.is_err()
            && let Some((found, couplings)) = self.coupled()
        {
            return self.with_couplings(found, &couplings);
        }
        self.matched();
        let weights = self.for_all_inputs(&self.weights());
        let group = identification.as_ref().ok().map(Recognised::from);
        let w = match &identification {
            Ok(found) if self.options.polish => &self.for_all_inputs(&found.exact()),
            _ => &weights,
        };
        let name = group.as_ref().map(|group| group.name.as_str());
        let model =
            ModelBytes::of(&w.view(), &self.options.name, name).map_err(LearnError::Model)?;
        let (model, diagnosis) = self.diagnosed(model, identification.is_ok())?;
        let view = model.view();
        let evaluation = evaluate(&view, &self.held_out)?;
        if identification.is_err()
            && let Some((found, model)) = self.moved_linearly()
            && let Ok(by_couplings) = evaluate(&model.view(), &self.held_out)
            && moments::tells_more(&by_couplings, &evaluation)
        {
            return self.with_moments(&found, model, by_couplings);
        }
        let distances = distances(&view, &self.held_out)?;
        let attempts = self.attempts();
        let permuted = self.permuted.and_then(Result::ok);
        Ok(Learned {
            weights,
            identification,
            group,
            permuted: permuted.map(|found| found.among(&self.support, self.held_out.inputs())),
            model,
            diagnosis,
            evaluation,
            distances,
            steps: self.taken,
            attempts,
        })
    }

    /// What matching members came to, where that is a phase: again in a run that goes on from a checkpoint, which has not kept it.
    fn matched(&mut self) -> Option<&Result<Permuted, NoPermutations>> {
        let matches = |phase: &Phase| phase.loss == LossName::Permutations;
        if !self.options.phases.iter().any(matches)
            || self.orbits.inputs() > permutations::MOST_INPUTS
        {
            return None;
        }
        let (orbits, seed) = (&self.orbits, self.seed());
        Some((self.permuted).get_or_insert_with(|| permutations(orbits, seed)))
    }

    /// The group of permutations that W cannot express, and its invariants, where such a group was found and W was to be
    /// learned as it comes.
    pub(super) fn coupled(&mut self) -> Option<(Permuted, Certified)> {
        if !self.options.polish || self.options.rows.is_some() {
            return None;
        }
        let found = self.matched()?.as_ref().ok()?.clone();
        if self.couplings.is_none() && characters(&found.action).is_none() {
            let trials = match found.action.degree() {
                ..=MOST_TRIED => TRIALS,
                _ => 0,
            };
            self.couplings = certified(&found.action, trials, self.options.seed).ok();
        }
        Some((found, self.couplings.clone()?))
    }

    /// What was learned where the invariants are couplings: no W, and no group of characters.
    fn with_couplings(self, found: Permuted, certified: &Certified) -> Result<Learned, LearnError> {
        let inputs = self.held_out.inputs();
        let found = found.among(&self.support, inputs);
        let couplings = (certified.couplings)
            .among(&self.support, inputs)
            .map_err(Error::from)?;
        let group = Recognised::of_permutations(&found, certified.confused.is_some());
        let name = Some(group.name.as_str());
        let model = ModelBytes::of_couplings(&couplings, &self.options.name, name)?;
        let view = model.view();
        let evaluation = evaluate(&view, &self.held_out)?;
        let distances = distances(&view, &self.held_out)?;
        Ok(Learned {
            weights: couplings.basis().map(|&u| Complex32::new(u as f32, 0.0)),
            identification: Err(NotRecognised::Couplings {
                group: group.name.clone(),
            }),
            group: Some(group),
            permuted: Some(found),
            model,
            diagnosis: None,
            evaluation,
            distances,
            steps: self.taken,
            attempts: self.attempts(),
        })
    }

    /// What was learned where a compact group moves the signals: no W, and no group of characters.
    fn with_moments(
        self,
        found: &Compact,
        model: ModelBytes,
        evaluation: Evaluation,
    ) -> Result<Learned, LearnError> {
        let group = Recognised::of_compact(found);
        let basis = found.couplings().basis();
        let basis = basis.map(|&u| Complex32::new(u as f32, 0.0));
        let distances = distances(&model.view(), &self.held_out)?;
        Ok(Learned {
            weights: self.for_all_inputs(&basis),
            identification: Err(NotRecognised::Linear {
                group: group.name.clone(),
            }),
            group: Some(group),
            permuted: None,
            model,
            diagnosis: None,
            evaluation,
            distances,
            steps: self.taken,
            attempts: self.attempts(),
        })
    }

    /// The model, or that of a known group where it is clearly better and none was recognised; and what the data looks like then.
    fn diagnosed(
        &self,
        model: ModelBytes,
        recognised: bool,
    ) -> Result<(ModelBytes, Option<Diagnosis>), LearnError> {
        let known = self.orbits.motion() != Motion::Unknown;
        if recognised || known || !self.options.polish {
            return Ok((model, None));
        }
        let learned = evaluate(&model.view(), &self.held_out)?;
        let permuted = self.permuted.as_ref();
        let diagnosis = Diagnosis::of(
            &self.orbits.with_all_inputs(),
            &self.held_out,
            learned,
            permuted,
            self.options.seed,
        );
        let better = diagnosis
            .chosen
            .and_then(|group| group.model(&self.options.name));
        Ok((better.unwrap_or(model), Some(diagnosis)))
    }

    /// W for all inputs: zero where every sample is.
    fn for_all_inputs(&self, w: &Array2<Complex32>) -> Array2<Complex32> {
        let mut all = Array2::zeros((w.nrows(), self.held_out.inputs()));
        for (column, &input) in w.columns().into_iter().zip(&*self.support) {
            all.column_mut(input).assign(&column);
        }
        all
    }

    /// Of the attempt at hand; the first has the run's.
    pub(super) fn seed(&self) -> u64 {
        let attempt = u64::from(self.attempt).wrapping_mul(ATTEMPT);
        self.options.seed.wrapping_add(attempt)
    }

    /// R·N real parts, then R·N imaginary parts.
    pub(super) fn parts(&self) -> Vec<f32> {
        [self.network.re(), self.network.im()].concat()
    }

    /// Takes `parts` for W, of however many rows.
    pub(super) fn load(&mut self, parts: &[f32]) {
        let inputs = self.network.inputs();
        let (re, im) = parts.split_at(parts.len() / 2);
        let w = Array2::from_shape_fn((re.len() / inputs, inputs), |(i, n)| {
            Complex32::new(re[i * inputs + n], im[i * inputs + n])
        });
        self.network = Network::from_array(&w.view());
    }
}

/// Random orthonormal rows.
pub(super) fn random(rows: usize, inputs: usize, seed: u64) -> Network<f32> {
    let w = orthogonal(rows, inputs, seed);
    let w = Array2::from_shape_fn((rows, inputs), |(i, n)| {
        let w = w[i * inputs + n];
        Complex32::new(w.re as f32, w.im as f32)
    });
    let mut network = Network::from_array(&w.view());
    network.normalise_rows();
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_inputs_for_the_closed_form_leave_it_out() {
        let orbits = Orbits::of_group(&"Z1025".parse().unwrap(), 4, 0);
        let mut options = Options {
            rows: Some(2),
            phases: [LossName::Spectral, LossName::SecondOrder]
                .map(Phase::new)
                .to_vec(),
            ..Options::default()
        };
        options.phases[1].whiten = false;
        let trainer = Trainer::new(&orbits, &options).unwrap();
        assert_eq!(trainer.phase().map(|(number, _)| number), Some(1));
    }

    #[test]
    fn learning_from_a_checkpoint_ends_with_the_same_bits() {
        let orbits = Orbits::of_group(&"Z4xZ2".parse().unwrap(), 20, 0);
        let options = Options {
            phases: vec![Phase::new(LossName::SecondOrder)],
            ..Options::default()
        };
        let whole = super::super::learn(&orbits, &options).unwrap();
        let mut trainer = Trainer::new(&orbits, &options).unwrap();
        for _ in 0..17 {
            trainer.step().unwrap();
        }
        let checkpoint = trainer.checkpoint(0, 0);
        let resumed = Trainer::resume(&orbits, &options, checkpoint.clone()).unwrap();
        assert_eq!(resumed.finish().unwrap().model(), whole.model());
        let other = Orbits::of_group(&"Z9".parse().unwrap(), 20, 0);
        assert_eq!(
            Trainer::resume(&other, &options, checkpoint).err(),
            Some(LearnError::Checkpoint {
                found: [8, 8],
                expected: [9, 9]
            })
        );
    }
}
