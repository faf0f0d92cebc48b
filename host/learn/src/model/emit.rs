//! A model as a file of some language: the bytes, and the sizes of the buffers it computes in as constants.

use super::{c, rust};
use bispectral_core::{Model, Sizes};

/// A kind of file that holds a model. `stem` is what the file is called, without its ending.
pub trait Emit {
    /// The bytes of the file.
    fn emit(&self, exported: &Exported<'_>, stem: &str) -> Vec<u8>;
}

/// A model that the core has accepted, and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Exported<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) model: Model<'a>,
    pub(super) sizes: Sizes,
    /// What its classes are called; none where it has no classifier, or nobody knows.
    pub(super) classes: &'a [String],
}

impl<'a> Exported<'a> {
    /// Has the core check `bytes`.
    ///
    /// # Errors
    /// What the core has against them.
    pub fn new(bytes: &'a [u8]) -> Result<Self, bispectral_core::Error> {
        let model = Model::from_bytes(bytes)?;
        let sizes = Sizes::of(bytes).ok_or(bispectral_core::Error::Malformed)?;
        Ok(Exported {
            bytes,
            model,
            sizes,
            classes: &[],
        })
    }

    /// The same, with what its classes are called; other numbers of names than of classes are left out.
    #[must_use]
    pub fn with_classes(self, classes: &'a [String]) -> Self {
        let named = classes.len() == self.sizes.classes;
        Exported {
            classes: if named { classes } else { &[] },
            ..self
        }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model<'a> {
        &self.model
    }

    /// Its sizes, as a program has them that includes it.
    #[must_use]
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The model's bytes.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The constants a program needs, as `include_model!` gives them: name, value, what it is.
    pub(super) fn constants(&self) -> [(&'static str, usize, &'static str); 9] {
        let sizes = &self.sizes;
        [
            ("INPUTS", sizes.inputs, "N: the samples of a signal"),
            ("ROWS", sizes.rows, "R: the rows of W, one coefficient each"),
            ("PAIRS", sizes.pairs, "The invariants of a signal"),
            (
                "FEATURES",
                sizes.features,
                "Numbers that the features of a signal are",
            ),
            (
                "SCRATCH",
                sizes.scratch,
                "Floats of scratch for one signal, a classifier included",
            ),
            (
                "CLASSES",
                sizes.classes,
                "Classes that a classifier tells apart, or none",
            ),
            (
                "CHARACTERS",
                sizes.characters,
                "Coefficients that follow a stream, or none",
            ),
            (
                "STACK",
                sizes.stack,
                "Bytes of stack that the library takes at most",
            ),
            ("BYTES", self.bytes.len(), "Bytes of the model"),
        ]
    }

    /// One line that says what the model is, in characters which no compiler takes for anything but words.
    pub(super) fn title(&self) -> String {
        let harmless = |text: &str| -> String {
            let allowed = |c: char| c.is_alphanumeric() || " -_.,+()".contains(c);
            text.chars()
                .map(|c| if allowed(c) { c } else { '?' })
                .collect()
        };
        let Exported { bytes, model, .. } = self;
        let group = model.group().map_or("no group".into(), harmless);
        format!(
            "\"{}\", {group}: {} inputs, {} rows, {} invariants, {} bytes",
            harmless(model.name()),
            model.inputs(),
            model.rows(),
            model.pairs(),
            bytes.len(),
        )
    }
}

/// The model file itself.
#[derive(Debug, Clone, Copy)]
pub struct Postcard;

impl Emit for Postcard {
    fn emit(&self, exported: &Exported<'_>, _: &str) -> Vec<u8> {
        exported.bytes.to_vec()
    }
}

/// The kinds of files there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A model file, for `include_model!`, a file system or a partition of its own
    Postcard,
    /// A Rust module with the model and its sizes as constants
    Rust,
    /// A C header with the model and its sizes
    C,
}

impl Kind {
    /// What writes such a file.
    #[must_use]
    pub fn emitter(self) -> &'static dyn Emit {
        match self {
            Kind::Postcard => &Postcard,
            Kind::Rust => &rust::Rust,
            Kind::C => &c::C,
        }
    }
}

/// `stem` as a name that C and Rust accept: letters, digits and `_`, no digit in front.
pub(super) fn identifier(stem: &str) -> String {
    let letters = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let name: String = letters.collect::<String>().to_ascii_lowercase();
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name
    } else {
        format!("model_{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_file_name_gives_an_identifier() {
        for (stem, expected) in [
            ("turn", "turn"),
            ("Turn-2.final", "turn_2_final"),
            ("2turns", "model_2turns"),
            ("", "model_"),
            ("été", "model__t_"),
        ] {
            assert_eq!(identifier(stem), expected);
        }
    }
}
