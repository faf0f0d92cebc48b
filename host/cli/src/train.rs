//! `bispectral train`: from orbits to a model.

use crate::choices::{Distance, Loss, Reconstruction, Schedule, Split, Transform};
use crate::diagnosis;
use bispectral_learn::learn::Recognised;
use bispectral_learn::learn::phase::{LossName, Phase};
use bispectral_learn::storage::keep_inputs;
use bispectral_learn::{Error, Result};
use bispectral_run::config::{Config, TransformName};
use bispectral_run::console::Console;
use bispectral_run::training::follow;
use bispectral_run::{CONFIG, METRICS, Outcome, Results, Run};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// What a run was begun with, and goes on with.
const CHOICES: [&str; 25] = [
    "output",
    "force",
    "group",
    "data",
    "labels",
    "images",
    "transform",
    "exemplars",
    "size",
    "angles",
    "noise",
    "rows",
    "split",
    "held_out",
    "restarts",
    "no_polish",
    "phases",
    "steps",
    "lr",
    "schedule",
    "gamma",
    "distance",
    "centre",
    "reconstruction",
    "config",
];

/// Held-out samples of which a share says little.
const FEW: usize = 20;

/// Learn W from orbits: a group by name, labelled samples, or exemplars and how to move them
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("place").required(true).args(["output", "resume"]))]
pub(super) struct Train {
    /// A configuration, over which flags take precedence
    #[arg(value_name = "CONFIG.toml", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// The folder of the run
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Go on with the run in this folder; it ends with the same bits as if it had never stopped
    #[arg(long, value_name = "DIR", conflicts_with_all = CHOICES)]
    resume: Option<PathBuf>,
    /// Replace the run that the folder holds
    #[arg(long)]
    force: bool,
    /// Random functions on a finite commutative group, and all their translates
    #[arg(long, value_name = "Z4xZ2", conflicts_with_all = ["data", "images"])]
    group: Option<String>,
    /// Samples [S, N]: .npy, .csv or IDX (.gz too); images may be [S, height, width]
    #[arg(long, value_name = "X.npy", conflicts_with = "images")]
    data: Option<PathBuf>,
    /// The orbit of each sample: S integers or words
    #[arg(
        long,
        value_name = "y.npy",
        requires = "data",
        conflicts_with = "transform"
    )]
    labels: Option<PathBuf>,
    /// Photographs to cut patches from: a folder of .png or .iml, or `natural` for those that come with the program
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// How exemplars are moved
    #[arg(long)]
    transform: Option<Transform>,
    /// Functions or patches to draw [default: 100]
    #[arg(long, value_name = "COUNT")]
    exemplars: Option<usize>,
    /// Pixels of a patch's side [default: 16]
    #[arg(long, value_name = "PIXELS")]
    size: Option<usize>,
    /// The share of the 360 whole degrees an exemplar is rotated by [default: 0.3]
    #[arg(long, value_name = "SHARE")]
    angles: Option<f64>,
    /// Normal noise on every sample, as a share of its size [default: 0]
    #[arg(long, value_name = "SHARE")]
    noise: Option<f64>,
    /// Rows of W [default: as many as inputs]
    #[arg(long, value_name = "COUNT")]
    rows: Option<usize>,
    /// What is held out [default: transforms of images, otherwise exemplars]
    #[arg(long)]
    split: Option<Split>,
    /// The share that is held out [default: 0.2]
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,
    /// Begin again at most so often where training stalls [default: by the data]
    #[arg(long, value_name = "COUNT")]
    restarts: Option<u32>,
    /// Leave W as it was learned, and train all phases, where a group is recognised
    #[arg(long)]
    no_polish: bool,
    /// What to minimise, one after the other [default: permutations,spectral,second-order,orbit-separation]
    #[arg(long, value_delimiter = ',', value_name = "LOSS,…")]
    phases: Vec<Loss>,
    /// Steps of every phase, or one number a phase
    #[arg(long, value_delimiter = ',', value_name = "COUNT,…")]
    steps: Vec<u64>,
    /// Learning rate of every phase, or one number a phase
    #[arg(long, value_delimiter = ',', value_name = "RATE,…")]
    lr: Vec<f64>,
    /// Schedule of every phase, or one a phase
    #[arg(long, value_delimiter = ',', value_name = "SCHEDULE,…")]
    schedule: Vec<Schedule>,
    /// Weight of the reconstruction
    #[arg(long)]
    gamma: Option<f64>,
    /// How invariants are compared
    #[arg(long)]
    distance: Option<Distance>,
    /// Subtract the mean of β before it is normalised
    #[arg(long)]
    centre: bool,
    /// What of the residual counts
    #[arg(long)]
    reconstruction: Option<Reconstruction>,
}

impl Train {
    pub(super) fn run(&self, seed: Option<u64>, console: &Console) -> Result<()> {
        let (folder, run) = match (&self.resume, &self.output) {
            (Some(folder), _) => {
                let run = Run::resume(folder)?;
                let own = run.config().seed;
                if let Some(seed) = seed.filter(|seed| *seed != own) {
                    let what = format!("{seed}, where the run was begun with {own}");
                    return Err(Error::new(
                        "--seed",
                        what,
                        "leave it out, or begin a new run",
                    ));
                }
                (folder, run)
            }
            (None, Some(folder)) => {
                let config = self.configuration(seed)?;
                if let Some(own) = &self.config {
                    keep_inputs(folder, &[CONFIG], &[own])?;
                }
                (folder, Run::create(config, folder, self.force)?)
            }
            (None, None) => unreachable!("clap asks for one of them"),
        };
        console.note(run.remarks());
        if run.missing_metrics() > 0 {
            console.say(&format!(
                "note: {}: it was cut, and goes on behind the last whole line",
                folder.join(METRICS).display()
            ));
        }
        for note in self.without_effect(run.config()) {
            console.say(&format!("note: {note}"));
        }
        let begun = Instant::now();
        let outcome = follow(run, console)?;
        match outcome {
            Outcome::Finished(results) => report(&results, begun.elapsed().as_secs_f64(), console),
            Outcome::Stopped => Err(Error::file(
                folder,
                "stopped, and saved",
                format!(
                    "go on with `bispectral train --resume {}`",
                    folder.display()
                ),
            )),
        }
    }

    fn configuration(&self, seed: Option<u64>) -> Result<Config> {
        let mut config = match &self.config {
            Some(path) => Config::read(path)?,
            None => Config::default(),
        };
        set(&mut config.seed, seed);
        set(&mut config.held_out, self.held_out);
        config.rows = self.rows.or(config.rows);
        config.split = self.split.map(Into::into).or(config.split);
        config.restarts = self.restarts.or(config.restarts);
        config.polish &= !self.no_polish;
        let data = &mut config.data;
        if self.group.is_some() || self.data.is_some() || self.images.is_some() {
            data.group.clone_from(&self.group);
            data.samples.clone_from(&self.data);
            data.labels.clone_from(&self.labels);
            data.images.clone_from(&self.images);
        }
        data.transform = self.transform.map(Into::into).or(data.transform);
        set(&mut data.exemplars, self.exemplars);
        set(&mut data.size, self.size);
        set(&mut data.angles, self.angles);
        set(&mut data.noise, self.noise);
        if !self.phases.is_empty() {
            config.phases = self
                .phases
                .iter()
                .map(|&loss| Phase::new(loss.into()))
                .collect();
        } else if config.phases.is_empty() {
            config.phases = Phase::recipe(config.motion());
        }
        self.change(&mut config.phases)?;
        Ok(config)
    }

    /// Flags that were given and change nothing, and why.
    fn without_effect(&self, config: &Config) -> Vec<String> {
        let data = &config.data;
        let drawn = data.group.is_some() || data.images.is_some();
        let rotated = data.transform == Some(TransformName::Rotate);
        let images = data.images.is_some()
            || data
                .transform
                .is_some_and(|name| name != TransformName::Translate1d);
        let separates = config
            .phases
            .iter()
            .any(|phase| phase.loss == LossName::OrbitSeparation);
        let flags = [
            (
                "--exemplars",
                self.exemplars.is_some() && !drawn,
                "all samples are taken",
            ),
            (
                "--angles",
                self.angles.is_some() && !rotated,
                "nothing is rotated",
            ),
            (
                "--size",
                self.size.is_some() && !images,
                "the samples are no images",
            ),
            (
                "--transform",
                self.transform.is_some() && data.group.is_some(),
                "the group moves its functions",
            ),
            (
                "--distance",
                self.distance.is_some() && !separates,
                "no phase is orbit-separation",
            ),
            (
                "--centre",
                self.centre && !separates,
                "no phase is orbit-separation",
            ),
            (
                "--reconstruction",
                self.reconstruction.is_some() && !separates,
                "no phase is orbit-separation",
            ),
        ];
        let given = flags.into_iter().filter(|(_, idle, _)| *idle);
        given
            .map(|(flag, _, why)| format!("{flag} has no effect: {why}"))
            .collect()
    }

    fn change(&self, phases: &mut [Phase]) -> Result<()> {
        each(phases, "--steps", &self.steps, |phase, steps| {
            phase.steps = steps
        })?;
        each(phases, "--lr", &self.lr, |phase, lr| phase.lr = lr)?;
        each(phases, "--schedule", &self.schedule, |phase, schedule| {
            phase.schedule = schedule.into()
        })?;
        for phase in phases {
            set(&mut phase.gamma, self.gamma);
            set(&mut phase.distance, self.distance.map(Into::into));
            set(
                &mut phase.reconstruction,
                self.reconstruction.map(Into::into),
            );
            phase.centre |= self.centre;
        }
        Ok(())
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// One value for all phases, or one for each.
fn each<T: Copy>(
    phases: &mut [Phase],
    flag: &str,
    values: &[T],
    put: fn(&mut Phase, T),
) -> Result<()> {
    let count = phases.len();
    match values {
        [] => {}
        [value] => phases.iter_mut().for_each(|phase| put(phase, *value)),
        values if values.len() == count => phases
            .iter_mut()
            .zip(values)
            .for_each(|(phase, value)| put(phase, *value)),
        values => {
            let what = format!("{} values for {count} phases", values.len());
            return Err(Error::new(
                flag,
                what,
                "give one value, or one for each phase",
            ));
        }
    }
    Ok(())
}

/// `blocks 1, 3, 5 of degrees 0, 1, 2`: one block for each copy of an irrep.
pub(super) fn irreps(group: &Recognised) -> String {
    let what = if group.name == "SO(3)" {
        "degree"
    } else {
        "order"
    };
    let words = group.irreps.iter().map(|irrep| {
        let orders: Vec<String> = irrep.orders.iter().map(i64::to_string).collect();
        let mut words = match &orders[..] {
            [] => format!("{}", irrep.dimension),
            [order] => format!("{} ({what} {order})", irrep.dimension),
            orders => format!("{} ({what} ({}))", irrep.dimension, orders.join(",")),
        };
        if irrep.copies > 1 {
            words = format!("{} × {words}", irrep.copies);
        }
        words
    });
    format!("blocks {}", words.collect::<Vec<String>>().join(", "))
}

/// What was recognised, and how well; or why nothing was.
fn group(results: &Results) -> String {
    match (&results.group, &results.no_group) {
        (Some(group), _) if group.permutations.is_some() => format!(
            "{}, {} permutations of the inputs, exactly; the model is of couplings{}",
            group.name,
            group.permutations.unwrap_or_default(),
            if group.incomplete {
                ", which do not tell all orbits apart"
            } else {
                ""
            }
        ),
        (Some(group), _) if group.is_coupled() => format!(
            "{}, which moves signals linearly by {}; the model is of couplings",
            group.name,
            irreps(group)
        ),
        (Some(group), _) if group.known < results.rows => format!(
            "{} ({} rows are learned, the others their products: no signal excites them)",
            group.name, group.known
        ),
        (Some(group), _) => format!(
            "{} (learned rows and exact characters overlap by {:.4} or more)",
            group.name, group.least_overlap
        ),
        (None, _) if results.diagnosis.is_some() => {
            let known = results.diagnosis.as_ref().and_then(|found| found.chosen);
            let known =
                known.map(|group| format!("; the model is that of {group} ({})", group.name()));
            format!("none recognised{}", known.unwrap_or_default())
        }
        (None, Some(why)) => format!("none recognised: {why}"),
        (None, None) => "none recognised".into(),
    }
}

fn steps(results: &Results) -> String {
    match results.attempts {
        1 => format!("{} steps", results.steps),
        attempts => format!("{} steps in {attempts} attempts", results.steps),
    }
}

/// What to think of a share of so many samples.
fn few(samples: usize) -> String {
    match samples {
        ..FEW => format!(" (of {samples} samples, which says little: give more orbits)"),
        _ => String::new(),
    }
}

fn report(results: &Results, seconds: f64, console: &Console) -> Result<()> {
    let held_out = &results.held_out;
    let words = format!(
        "model        {}: {} rows, {} inputs\n\
         group        {}\n\
         training     {}, {seconds:.1} s\n\
         held out     {} orbits, {} samples\n\
         mean squared distance within orbits    {:.2e}\n\
         mean squared distance between orbits   {:.2e}\n\
         nearest neighbour is of the same orbit {:.1} %{}\n\
         reconstruction error                   {:.2e}",
        results.model.display(),
        results.rows,
        results.inputs,
        group(results),
        steps(results),
        held_out.orbits,
        held_out.samples,
        held_out.within,
        held_out.between,
        100.0 * held_out.nearest,
        few(held_out.samples),
        held_out.reconstruction,
    );
    let words = match &results.diagnosis {
        Some(diagnosis) => format!("{words}\n{}", diagnosis::lines(diagnosis)),
        None => words,
    };
    let mut object = serde_json::to_value(results).unwrap_or_default();
    object["seconds"] = json!(seconds);
    console.summary(&object, &words)
}
