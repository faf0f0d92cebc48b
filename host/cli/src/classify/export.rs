//! `bispectral classify export`: a classifier as a device has it.

use super::evaluate::trained_window;
use super::{Evaluated, Trained, files};
use crate::choices::{Emit, LayerEncoding};
use bispectral_core::Model;
use bispectral_experiments::mnist::Half;
use bispectral_experiments::rotated_digits::{Window, digits, for_model};
use bispectral_learn::classify::device::{self, Encoding};
use bispectral_learn::model::emit;
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_run::class_names::NewNames;
use bispectral_run::console::Console;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Put a classifier into the bytes that a device reads
///
/// Principal components and the perceptron's first layer become one layer of the invariants, which a device adds up
/// term by term. All of it is one model, for `Model::classify`; what its classes are called is written beside it, to
/// OUT.classes.json, or into the module or header.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The folder that `bispectral classify train` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The model to write
    #[arg(short, long, value_name = "MODEL.bsn")]
    output: PathBuf,
    /// What a weight of the perceptron is
    #[arg(long, default_value = "i8")]
    encoding: LayerEncoding,
    /// What kind of file to write
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Emit::Postcard)]
    emit: Emit,
    /// Classify MNIST's test digits with what was exported: the folder with its four files
    #[arg(long, value_name = "DIR")]
    mnist: Option<PathBuf>,
    /// Replace the output file where it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Exported {
    output: PathBuf,
    encoding: Encoding,
    terms: usize,
    classes: usize,
    /// Bytes of all of it, and of the invariants' part.
    flash: usize,
    model: usize,
    /// Bytes of buffers for one signal, with the signal and the outputs.
    ram: usize,
    test: Option<Evaluated>,
}

impl Export {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.emit.check(&self.output)?;
        let mut output =
            NewFile::create(&self.output, self.force)?.other_than(files(&self.folder))?;
        // A module or a header has the names in itself.
        let names = matches!(self.emit, Emit::Postcard)
            .then(|| NewNames::create(&self.output, self.force))
            .transpose()?;
        let Trained {
            file, classifier, ..
        } = Trained::open_folder(&self.folder)?;
        let classifier = classifier.expect("a folder has one");
        let bytes = classifier
            .folded()?
            .behind(&file.model()?, self.encoding.into())?;
        let model = Model::from_bytes(&bytes).map_err(|error| Error::model(&self.output, error))?;
        let test = match &self.mnist {
            Some(folder) => {
                let window = Window {
                    places: 1,
                    ..trained_window(&self.folder)
                };
                let rotated = for_model(model.inputs(), window, seed)?;
                let data = digits(folder, Half::Test, &rotated, usize::MAX)?;
                let taken = device::classify(&model, data.samples.view())?;
                let classes = classifier.classes_of(&data.labels)?;
                Some(Evaluated::new(&classes, taken, classifier.labels()))
            }
            None => None,
        };
        let stem = self.output.file_stem().unwrap_or_default();
        let exported =
            emit::Exported::new(&bytes).map_err(|error| Error::model(&self.output, error))?;
        let classes: Vec<String> = (0..model.classes())
            .map(|class| classifier.name(class as u8))
            .collect();
        let exported = exported.with_classes(&classes);
        let emitter = emit::Kind::from(self.emit).emitter();
        output.write(&emitter.emit(&exported, &stem.to_string_lossy()))?;
        if let Some(names) = names {
            names.write(&bytes, &classes)?;
        }
        output.commit()?;
        let numbers = model.classifier_scratch_len() + model.inputs() + model.classes();
        let exported = Exported {
            output: self.output.clone(),
            encoding: self.encoding.into(),
            terms: model.pairs(),
            classes: model.classes(),
            flash: bytes.len(),
            model: file.bytes().len(),
            ram: numbers * size_of::<f32>(),
            test,
        };
        console.summary(&exported, &exported.words())
    }
}

impl Exported {
    fn words(&self) -> String {
        let mut words = format!(
            "exported     {}\n\
             flash        {} bytes, of these {} without the classifier\n\
             RAM          {} bytes of buffers, for one signal with {} terms",
            self.output.display(),
            self.flash,
            self.model,
            self.ram,
            self.terms,
        );
        if let Some(test) = &self.test {
            words += &format!("\ntest         {}", test.words());
        }
        words
    }
}
