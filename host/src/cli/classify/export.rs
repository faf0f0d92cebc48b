//! `bispectral classify export`: a classifier as a device has it.

use super::evaluate::trained_window;
use super::source::{digits, turned};
use super::{CLASSIFIER, Evaluated, MODEL};
use crate::classify::classifier::Classifier;
use crate::classify::device::{self, Encoding};
use crate::cli::console::Console;
use crate::data::mnist::Half;
use crate::export::NewFile;
use crate::export::bsn::ModelFile;
use crate::{Error, Result};
use bispectral_core::Head;
use clap::Args;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

/// Its name in the folder that is written.
const HEAD: &str = "head.bin";

/// Put a classifier into the bytes that a device reads
///
/// Principal components and the perceptron's first layer become one layer of the invariants, which a device adds up
/// term by term: DIR then holds model.bsn and head.bin, for `Model::from_bytes` and `Head::from_bytes`.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The folder that `bispectral classify train` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// What a weight of the perceptron is
    #[arg(long, default_value = "i8")]
    encoding: Encoding,
    /// Classify MNIST's test digits with what was exported: the folder with its four files
    #[arg(long, value_name = "DIR")]
    mnist: Option<PathBuf>,
    /// Replace what the folder holds
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Exported {
    output: PathBuf,
    encoding: Encoding,
    terms: usize,
    classes: usize,
    /// Bytes of the model, and of the perceptron.
    model: usize,
    head: usize,
    /// Bytes of buffers for one signal, with the signal and the outputs.
    ram: usize,
    test: Option<Evaluated>,
}

impl Export {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        let file = ModelFile::read(&self.folder.join(MODEL))?;
        let model = file.model()?;
        let classifier = Classifier::read(&self.folder.join(CLASSIFIER))?;
        let bytes = classifier.folded()?.bytes(self.encoding);
        let head = Head::from_bytes(&bytes, model.pairs()).map_err(|error| {
            Error::file(
                &self.folder,
                error.to_string(),
                "train the classifier again",
            )
        })?;
        let test = match &self.mnist {
            Some(folder) => {
                let window = trained_window(&self.folder).unwrap_or(28.0);
                let turned = turned(model.inputs(), window, seed)?;
                let data = digits(folder, Half::Test, &turned, usize::MAX)?;
                let taken = device::classify(model, &head, data.samples.view())?;
                let classes = classifier.classes_of(&data.labels)?;
                Some(Evaluated::new(&classes, taken, classifier.labels()))
            }
            None => None,
        };
        let folder = &self.output;
        fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
        for (name, bytes) in [(MODEL, file.bytes()), (HEAD, &bytes)] {
            let mut file = NewFile::create(&folder.join(name), self.force)?;
            file.write(bytes)?;
            file.commit()?;
        }
        let numbers = model.scratch_len() + head.scratch_len() + model.inputs() + head.classes();
        let exported = Exported {
            output: folder.clone(),
            encoding: self.encoding,
            terms: model.pairs(),
            classes: head.classes(),
            model: file.bytes().len(),
            head: bytes.len(),
            ram: numbers * size_of::<f32>(),
            test,
        };
        console.summary(&exported, &exported.words())
    }
}

impl Exported {
    fn words(&self) -> String {
        let mut words = format!(
            "exported     {}: {MODEL}, {HEAD}\n\
             flash        {} bytes: {} of the model, {} of the perceptron\n\
             RAM          {} bytes of buffers, for one signal with {} terms",
            self.output.display(),
            self.model + self.head,
            self.model,
            self.head,
            self.ram,
            self.terms,
        );
        if let Some(test) = &self.test {
            words += &format!("\ntest         {}", test.words());
        }
        words
    }
}
