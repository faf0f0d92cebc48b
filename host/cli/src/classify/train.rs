//! `bispectral classify train`: a folder with a model, a classifier of its invariants, and how good it is.

use super::source::{Copies, Source};
use super::{CLASSIFIER, Choices, Evaluated, MODEL, RESULTS, files};
use crate::models;
use bispectral_experiments::mnist::Half;
use bispectral_experiments::rotated_digits::{Window, for_model};
use bispectral_learn::classify::evaluated::share;
use bispectral_learn::classify::prepared::{Prepared, Recipe, Stage, Trained};
use bispectral_learn::storage::{FolderLock, NewFile, keep_inputs, replacement};
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
use bispectral_run::training::tell;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Instant;

/// Train a classifier on the invariants of a model
///
/// Principal components of the invariants go into a perceptron; a share of the samples is held out, to lower the rate
/// by and to choose the weights. With --mnist, MNIST's test digits are classified in the end.
#[derive(Debug, Args)]
pub(super) struct Train {
    /// The model whose invariants are classified, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: Option<PathBuf>,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace the classifier that the folder holds
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    copies: Copies,
    #[command(flatten)]
    choices: Choices,
}

#[derive(Serialize)]
struct Results {
    seed: u64,
    window: Option<Window>,
    recipe: Recipe,
    trained: Trained,
    test: Option<Evaluated>,
    seconds: f64,
}

impl Train {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        let begun = Instant::now();
        let folder = &self.output;
        replacement::settle(folder)?;
        self.check_folder()?;
        let Some(model) = &self.model else {
            let remedy = "name one, or fit both at once: `bispectral classify fit --data X --labels y -o model.bsn`";
            return Err(Error::new("the model", "none is named", remedy));
        };
        let file = models::read(model)?;
        keep_inputs(
            folder,
            &[MODEL, CLASSIFIER, RESULTS],
            &self.inputs(file.path()),
        )?;
        let model = file.model()?;
        let recipe = self.choices.over(Recipe::default());
        let window = self.source.window(Window::default());
        let rotated = || for_model(model.inputs(), window, seed);
        let read = |half| self.source.read(half, rotated, console);
        let (data, names) = read(Half::Training)?;
        let copies = match &self.source.mnist {
            Some(folder) => self.copies.read(folder, &rotated()?)?,
            None => Vec::new(),
        };
        for flag in self.choices.without_effect() {
            console.say(&format!(
                "note: {flag} has no effect: it is of invariants, and something else is classified"
            ));
        }
        let mut progress = None;
        let epochs = recipe.protocol.epochs;
        let observe = &mut |stage: Stage<'_>| tell(console, &mut progress, epochs, stage);
        let prepared = Prepared::new(model, &data, &copies, &recipe, seed, observe)?;
        let (classifier, trained) = prepared.train(&recipe.protocol, seed, observe)?;
        let classifier = classifier.named(names);
        drop(progress);
        let test = match &self.source.mnist {
            Some(_) => {
                let (test, _) = read(Half::Test)?;
                let mut progress = console.progress("samples classified", test.labels.len());
                let observe = &mut |done| progress.at(done);
                let members = slice::from_ref(&classifier);
                Some(Evaluated::of(members, model, &test, observe)?)
            }
            None => None,
        };
        let _lock = FolderLock::acquire(folder)?;
        replacement::settle_locked(folder)?;
        // Again, as another process may have had the lock.
        self.check_folder()?;
        let stage = replacement::begin(folder)?;
        let mut copy = NewFile::create(&stage.join(MODEL), true)?;
        copy.write(file.bytes())?;
        copy.commit()?;
        let classifier = classifier.of_model(file.checksum());
        classifier.write(&stage.join(CLASSIFIER))?;
        let results = Results {
            seed,
            window: self.source.mnist.is_some().then_some(window),
            recipe,
            trained,
            test,
            seconds: begun.elapsed().as_secs_f64(),
        };
        let json = serde_json::to_vec_pretty(&results).expect("numbers and names serialise");
        let mut file = NewFile::create(&stage.join(RESULTS), true)?;
        file.write(&json)?;
        file.commit()?;
        replacement::commit(folder)?;
        console.summary(&results, &self.words(&results))
    }

    /// Nothing is replaced that --force does not speak of.
    fn check_folder(&self) -> Result<()> {
        let folder = &self.output;
        let what = match files(folder).map(|path| path.exists()) {
            [_, true, _] if self.force => return Ok(()),
            [_, true, _] => {
                let remedy = "choose another one, or add --force";
                return Err(Error::file(folder, "the folder holds a classifier", remedy));
            }
            [false, false, false] => return Ok(()),
            _ => "the folder holds a model or results, and no classifier",
        };
        Err(Error::file(folder, what, "choose another one"))
    }

    /// The files that are read.
    fn inputs<'a>(&'a self, model: &'a Path) -> Vec<&'a Path> {
        let Source { data, labels, .. } = &self.source;
        let given = data.iter().chain(labels).map(PathBuf::as_path);
        given.chain([model]).collect()
    }

    fn words(&self, results: &Results) -> String {
        let Trained {
            training,
            held_out,
            inputs,
            held,
            accuracy,
            ref epochs,
            ..
        } = results.trained;
        let mut words = format!(
            "classifier   {}\n\
             samples      {training} to train on, {held_out} held out\n\
             inputs       {inputs} numbers of a signal, which hold {:.2} % of its features' mean square\n\
             training     {} epochs, {:.1} s\n\
             held out     {}",
            self.output.display(),
            100.0 * held,
            epochs.len(),
            results.seconds,
            share((accuracy * held_out as f64).round() as usize, held_out),
        );
        if let Some(test) = &results.test {
            words += &format!("\ntest         {}", test.words());
        }
        words
    }
}
