//! What the classes of a model are called: a device knows them by number, people by these words, which lie beside the model in a
//! file of their own, `motor.classes.json` beside `motor.bsn`. It says of which model it is, by that one's checksum.

use bispectral_learn::limits::MOST_RESULTS_BYTES;
use bispectral_learn::model::file::ModelFile;
use bispectral_learn::storage::{NewFile, read_file};
use bispectral_learn::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How the name of a file with class names ends.
const ENDING: &str = "classes.json";

/// Class names, as they are kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// The CRC-32 of the model.
    model: u32,
    /// In the order of the scores.
    classes: Vec<String>,
}

/// Where the class names of the model at `path` are.
///
/// ```
/// use bispectral_run::class_names::path_of;
///
/// assert_eq!(path_of("run/motor.bsn".as_ref()), std::path::Path::new("run/motor.classes.json"));
/// ```
#[must_use]
pub fn path_of(model: &Path) -> PathBuf {
    model.with_extension(ENDING)
}

/// The class names beside a model, where there are any.
///
/// # Errors
/// They are damaged, of another model, or of another number of classes.
pub fn beside(file: &ModelFile) -> Result<Option<Vec<String>>> {
    let path = path_of(file.path());
    if !path.exists() {
        return Ok(None);
    }
    let text = read_file(&path, "class names", MOST_RESULTS_BYTES)?;
    let refuse = |what: String| {
        let remedy = "make model and names anew, or remove this file to have classes by number";
        Err(Error::file(&path, what, remedy))
    };
    let kept: Kept = match serde_json::from_slice(&text) {
        Ok(kept) => kept,
        Err(error) => return refuse(error.to_string()),
    };
    let classes = file.model()?.classes();
    if kept.model != file.checksum() {
        return refuse("these are the classes of another model than the one beside them".into());
    }
    if kept.classes.len() != classes {
        let found = kept.classes.len();
        return refuse(format!(
            "{found} names, and the model has {classes} classes"
        ));
    }
    Ok(Some(kept.classes))
}

/// Class names of a model that will be at a path.
#[derive(Debug)]
pub struct NewNames(NewFile);

impl NewNames {
    /// Begins the file beside `model`.
    ///
    /// # Errors
    /// There is one already and `replace` is false, or the folder cannot be written to.
    pub fn create(model: &Path, replace: bool) -> Result<Self> {
        NewFile::create(&path_of(model), replace).map(NewNames)
    }

    /// Writes the names of the classes of the model with these bytes.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn write(mut self, model: &[u8], classes: &[String]) -> Result<()> {
        let crc = model.last_chunk::<4>();
        let kept = Kept {
            model: crc.map_or(0, |crc| u32::from_le_bytes(*crc)),
            classes: classes.to_vec(),
        };
        let text = serde_json::to_string(&kept).expect("words and a number have a form in JSON");
        self.0.write(format!("{text}\n").as_bytes())?;
        self.0.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bispectral_learn::classify::chain::{Chain, Size};

    /// A model of two classes, another one for another weight.
    fn model(weight: f32) -> Vec<u8> {
        let samples = (0..6).flat_map(|s| (0..8).map(move |n| ((s + 2) * n * n % 11) as f32));
        let samples = samples.map(|x| x * x + weight * x).collect();
        let samples = ndarray::Array2::from_shape_vec((6, 8), samples).unwrap();
        let chain = Chain::fit(Size::default(), samples.view(), &[0, 1, 0, 1, 0, 1], 2, 0);
        chain.unwrap().bytes
    }

    #[test]
    fn names_are_read_with_their_own_model_and_refused_with_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.bsn");
        let read = || beside(&ModelFile::read(&path).unwrap());
        std::fs::write(&path, model(0.0)).unwrap();
        assert_eq!(read().unwrap(), None);
        let words = ["worn \"out\",\nloose".to_string(), "été".into()];
        let begin = |replace| NewNames::create(&path, replace);
        begin(false).unwrap().write(&model(0.0), &words).unwrap();
        assert_eq!(read().unwrap().unwrap(), words);
        assert!(begin(false).is_err());

        std::fs::write(&path, model(1.0)).unwrap();
        let line = read().unwrap_err().to_string();
        assert!(line.contains("of another model"), "{line}");
        begin(true)
            .unwrap()
            .write(&model(1.0), &words[..1])
            .unwrap();
        let line = read().unwrap_err().to_string();
        assert!(
            line.contains("1 names, and the model has 2 classes"),
            "{line}"
        );
        std::fs::write(path_of(&path), "[").unwrap();
        assert!(read().is_err());
    }
}
