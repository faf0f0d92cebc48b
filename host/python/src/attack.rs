//! From noise to signals with a target's features.

use crate::error::{Error, exception, unknown};
use crate::model::Model;
use crate::signals::Signals;
use crate::work::in_steps;
use bispectral_learn::Error as LibraryError;
use bispectral_learn::analysis::descent::Progress;
use bispectral_learn::analysis::trial::{Features, Trial, World};
use bispectral_learn::group::identify::identify;
use bispectral_learn::model::couplings;
use bispectral_learn::model::file::weights;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;
use serde_json::json;

/// Metamers, one a target; and what became of them, as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn attack<'py>(
    py: Python<'py>,
    model: &Model,
    targets: Signals<'py>,
    features: &str,
    rotate: bool,
    plan: (usize, u32, u64),
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyArray2<f32>>, String)> {
    let (steps, restarts, seed) = plan;
    let features = match features {
        "bispectrum" => Features::Bispectrum,
        "power" => Features::Power,
        "pooled" => Features::Pooled,
        other => return Err(unknown("features", other, "bispectrum, power or pooled")),
    };
    let view = model.bytes.view();
    let (w, couplings) = (weights(&view), couplings::decode(&view));
    if couplings.is_some() && features == Features::Power {
        let what = "the squares of the rows of couplings are not invariant";
        let remedy = "attack its invariants: take bispectrum";
        return Err(exception(LibraryError::new("features", what, remedy)));
    }
    let mut targets = targets.to_f32();
    let inputs = w.ncols();
    if targets.ncols() != inputs {
        let what = format!(
            "they have {} values, the model has {inputs} inputs",
            targets.ncols()
        );
        return Err(exception(LibraryError::new(
            "targets",
            what,
            "give signals of the model",
        )));
    }
    let size = inputs.isqrt();
    if rotate && (size * size != inputs || size < 2) {
        return Err(Error::new_err(format!(
            "transform: {inputs} inputs are no square image: leave it out"
        )));
    }
    let (outcome, motions) = in_steps(py, threads, progress.as_ref(), |told| {
        let (world, motions) = if rotate {
            (World::of_rotation(size), Some("rotations".to_owned()))
        } else if couplings.is_some() {
            (World::unknown(inputs), None)
        } else {
            match identify(&w.view()) {
                Ok(found) => (World::of_group(&found), Some(found.group.to_string())),
                Err(_) => (World::unknown(inputs), None),
            }
        };
        for mut target in targets.rows_mut() {
            let pixels = target.iter_mut().zip(&world.support);
            pixels.for_each(|(x, &inside)| *x = if inside { *x } else { 0.0 });
        }
        let (w, targets, world) = (w.view(), targets.view(), &world);
        let trial = Trial {
            w,
            targets,
            world,
            steps,
            restarts,
            seed,
        };
        let observe = |round: u32, progress: Progress| {
            told.done(|| {
                json!({"round": round, "step": progress.steps, "moving": progress.moving})
                    .to_string()
            })
        };
        let outcome = match couplings
            .as_ref()
            .filter(|_| features == Features::Bispectrum)
        {
            Some(couplings) => trial.run_couplings(couplings, observe)?,
            None => trial.run(features, observe)?,
        };
        Ok((outcome, motions))
    })?;
    let words = json!({
        "motions": motions, "reached": outcome.reached, "summary": outcome.summary(), "endings": outcome.endings,
        "distances": outcome.attacked.distances, "numbers": outcome.numbers, "steps": outcome.attacked.steps,
        "seconds": outcome.seconds,
    });
    Ok((
        outcome.attacked.metamers.into_pyarray(py),
        words.to_string(),
    ))
}
