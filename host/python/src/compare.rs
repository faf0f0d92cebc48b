//! Whether invariants help, beside what people use today: the table of `bispectral compare`.

use crate::error::Error;
use crate::signals::Signals;
use crate::work::in_steps;
use bispectral_learn::classify::compare::{self as library, Disturbance, Labelled};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde_json::json;

/// A share of held-out samples that leaves some to train on.
const MOST_HELD_OUT: f64 = 0.9;

fn labelled(signals: &Signals<'_>, classes: &PyReadonlyArray1<'_, i64>) -> PyResult<Labelled> {
    let classes = classes.as_array();
    let classes: Result<Vec<usize>, _> = classes.iter().map(|&c| usize::try_from(c)).collect();
    Ok(Labelled {
        signals: signals.to_f32(),
        classes: classes
            .map_err(|_| Error::new_err("y: a class below 0: number classes from 0"))?,
    })
}

/// One line a method, as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    training: (Signals<'py>, PyReadonlyArray1<'py, i64>),
    test: Option<(Signals<'py>, PyReadonlyArray1<'py, i64>)>,
    disturbance: (bool, f64, f64, f64),
    plan: (usize, f64, u64),
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let (shift, noise, window, speed) = disturbance;
    let (draws, held_out, seed) = plan;
    for (name, value, least, most) in [
        ("held_out", held_out, 0.0, MOST_HELD_OUT),
        ("noise", noise, 0.0, 100.0),
        ("window", window, 0.1, 1.0),
        ("speed", speed, 0.0, 0.9),
    ] {
        if !(least..=most).contains(&value) {
            let line = format!("{name}: {value}: take a number from {least} to {most}");
            return Err(Error::new_err(line));
        }
    }
    if draws == 0 {
        return Err(Error::new_err("draws: 0: take 1 or more"));
    }
    let training = labelled(&training.0, &training.1)?;
    let test = test.map(|(signals, classes)| labelled(&signals, &classes));
    let test = test.transpose()?;
    let inputs = training.signals.ncols();
    if let Some(test) = test.as_ref().filter(|test| test.signals.ncols() != inputs) {
        let found = test.signals.ncols();
        return Err(Error::new_err(format!(
            "X_test: signals of {found} values, the others have {inputs}: give signals of the same length"
        )));
    }
    let disturbance = Disturbance {
        shift,
        noise,
        window,
        speed,
    };
    let lines = in_steps(py, threads, progress.as_ref(), |steps| {
        let mut stopped = None;
        let lines = library::compare(
            &training,
            test.as_ref(),
            disturbance,
            draws,
            held_out,
            seed,
            &mut |draw| {
                let told = steps.done(|| json!({"draw": draw, "draws": draws}).to_string());
                stopped = stopped.take().or(told.err());
            },
        )?;
        stopped.map_or(Ok(lines), Err)
    })?;
    serde_json::to_string(&lines).map_err(|error| Error::new_err(error.to_string()))
}
