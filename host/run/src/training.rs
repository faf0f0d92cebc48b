//! Training that is watched: progress on the console, and Ctrl-C.

use crate::console::{Console, Progress};
use crate::{Outcome, Run};
use bispectral_learn::Result;
use bispectral_learn::classify::prepared::Stage;
use bispectral_learn::learn::Step;
use std::sync::atomic::AtomicBool;
#[cfg(not(target_family = "wasm"))]
use std::sync::atomic::Ordering;

/// Trains, tells how each phase goes, and stops at Ctrl-C.
///
/// # Errors
/// Training went wrong, or a file cannot be written.
pub fn follow(run: Run, console: &Console) -> Result<Outcome> {
    let steps: Vec<u64> = run
        .config()
        .phases
        .iter()
        .map(|phase| phase.steps)
        .collect();
    let mut progress: Option<(usize, Progress)> = None;
    run.train(stop_on_interrupt(), |step| {
        let told = match &mut progress {
            Some((phase, told)) if *phase == step.phase => told,
            other => {
                let total = steps[step.phase - 1] as usize;
                let told = console.progress("steps", total).from(step.step as usize);
                &mut other.insert((step.phase, told)).1
            }
        };
        told.tell(step.step as usize, |rate| detail(step, rate));
    })
}

/// Set by Ctrl-C; a second Ctrl-C ends the program at once.
pub fn stop_on_interrupt() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    // A handler that is there already does the same; without any, Ctrl-C still leaves the last checkpoint.
    #[cfg(not(target_family = "wasm"))]
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
    });
    &STOP
}

fn detail(step: &Step, rate: f64) -> String {
    format!(
        " of phase {}, change along orbits {:.2e}, reconstruction {:.2e}, {rate:.0} steps/s",
        step.phase, step.invariance, step.reconstruction,
    )
}

/// Tells how far a classifier is: first its features, then its epochs.
pub fn tell(
    console: &Console,
    progress: &mut Option<(bool, Progress)>,
    epochs: usize,
    stage: Stage<'_>,
) {
    let (trains, what, total) = match stage {
        Stage::Features { of, .. } => (false, "samples", of),
        Stage::Epoch(_) => (true, "epochs", epochs),
    };
    let (_, progress) = match progress {
        Some(told) if told.0 == trains => told,
        other => other.insert((trains, console.progress(what, total))),
    };
    match stage {
        Stage::Features { done, .. } => progress.at(done),
        Stage::Epoch(epoch) => progress.tell(epoch.epoch, |_| {
            format!(
                ", loss {:.4}, held out {:.2} % right",
                epoch.loss,
                100.0 * epoch.held_out_accuracy
            )
        }),
    }
}
