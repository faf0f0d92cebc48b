//! `bispectral classify evaluate`: how often a classifier is right on samples it has not seen.

use super::source::Source;
use super::{Evaluated, RESULTS, Trained};
use crate::features::check_length;
use bispectral_experiments::mnist::Half;
use bispectral_experiments::rotated_digits::{Window, for_model};
use bispectral_learn::classify::device;
use bispectral_learn::limits::MOST_RESULTS_BYTES;
use bispectral_learn::storage::read_file;
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
use clap::Args;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Say how often a classifier is right
#[derive(Debug, Args)]
pub(super) struct Evaluate {
    /// The folder that `bispectral classify train` wrote, or a model with a classifier
    #[arg(value_name = "DIR|MODEL.bsn")]
    folder: PathBuf,
    #[command(flatten)]
    source: Source,
}

impl Evaluate {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        let trained = Trained::open(&self.folder)?;
        let model = trained.file.model()?;
        let window = self.source.window(trained_window(&self.folder));
        let rotated = || for_model(model.inputs(), window, seed);
        let (mut data, names) = self.source.read(Half::Test, rotated, console)?;
        let mut progress = console.progress("samples classified", data.labels.len());
        let observe = &mut |done| progress.at(done);
        let evaluated = match trained.classifier {
            Some(classifier) => {
                data.labels = classifier.numbered(data.labels, &names)?;
                Evaluated::of(&[classifier], model, &data, observe)?
            }
            None if trained.names.is_some() => {
                check_length("the data", data.samples.ncols(), &trained.file)?;
                let known = trained.names.unwrap_or_default();
                let classes = known_classes(&data.labels, &names, &known)?;
                let taken = device::classify(&model, data.samples.view())?;
                let numbers: Vec<i64> = (0..).take(known.len()).collect();
                let mut evaluated = Evaluated::new(&classes, taken, &numbers);
                evaluated.names = known;
                evaluated
            }
            // Without names, classes are those of the data, in their order.
            None => {
                check_length("the data", data.samples.ncols(), &trained.file)?;
                let mut labels = data.labels.clone();
                labels.sort_unstable();
                labels.dedup();
                if labels.len() != model.classes() {
                    let what = format!(
                        "{} classes where the model has {}",
                        labels.len(),
                        model.classes()
                    );
                    let remedy =
                        "give samples of every class, or name the folder of the classifier";
                    return Err(Error::new("the labels", what, remedy));
                }
                let class = |label: &i64| labels.binary_search(label).unwrap_or(0) as u8;
                let classes: Vec<u8> = data.labels.iter().map(class).collect();
                let taken = device::classify(&model, data.samples.view())?;
                let mut evaluated = Evaluated::new(&classes, taken, &labels);
                evaluated.names = names;
                evaluated
            }
        };
        drop(progress);
        console.answer(&evaluated, &evaluated.words())
    }
}

/// The class of each label, by what classes are called; `words` are what labels stand for, where they are words.
fn known_classes(labels: &[i64], words: &[String], known: &[String]) -> Result<Vec<u8>> {
    let class = |label: &i64| {
        let word = usize::try_from(*label).ok().and_then(|at| words.get(at));
        let name = word.cloned().unwrap_or_else(|| label.to_string());
        let place = known.iter().position(|class| *class == name);
        place.map(|place| place as u8).ok_or_else(|| {
            let what = format!(
                "{name:?} is none of the model's classes: {}",
                known.join(", ")
            );
            Error::new("the labels", what, "give samples of these classes alone")
        })
    };
    labels.iter().map(class).collect()
}

/// What the classifier in a folder was trained with, where its results still say so.
pub(super) fn trained_window(folder: &Path) -> Window {
    #[derive(Deserialize)]
    struct Results {
        window: Window,
    }
    let results = read_file(&folder.join(RESULTS), "results", MOST_RESULTS_BYTES).ok();
    let results = results.and_then(|text| serde_json::from_slice::<Results>(&text).ok());
    let window = results.map_or_else(Window::default, |results| results.window);
    let is_in_range = (8.0..=40.0).contains(&window.pixels)
        && (1..=32).contains(&window.places)
        && (0.0..=8.0).contains(&window.radius);
    if is_in_range {
        window
    } else {
        Window::default()
    }
}
