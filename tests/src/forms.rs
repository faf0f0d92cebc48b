//! The forms of two models: Z16xZ16, whose dense form has 34 million multiply-adds, and the example's turn of a machine.

use crate::{device, example, repository};
use bispectral_core::format::Transform;
use bispectral_core::{Complex32, Model};
use bispectral_learn::analysis::evaluation::evaluate;
use bispectral_learn::analysis::fit::random_signals;
use bispectral_learn::data::group::Group;
use bispectral_learn::group::selective;
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::file::encode_array;
use bispectral_learn::model::form::{self, Encoding, Source, Structure};
use std::fs;
use std::path::Path;

/// A form of a model, and what the host makes of it.
#[derive(Debug)]
pub struct Form {
    /// Group, structure, encoding and pairs.
    pub name: String,
    /// The model.
    pub bytes: Vec<u8>,
    /// What it takes.
    pub cost: Cost,
    /// Root of the mean squared distance of invariants within orbits.
    pub change: f64,
    /// What the boards must compute, too.
    pub checksum: u32,
}

type Kind = (Structure, Encoding);

/// What is made of either model with all of its pairs.
const KINDS: [Kind; 11] = [
    (Structure::Dense, Encoding::F32),
    (Structure::Dense, Encoding::F16),
    (Structure::Dense, Encoding::I8),
    (Structure::Conjugates, Encoding::F32),
    (Structure::Conjugates, Encoding::I8),
    (Structure::Combined(1), Encoding::F32),
    (Structure::Combined(1), Encoding::I8),
    (Structure::Cyclic(Transform::Sums), Encoding::F32),
    (Structure::Cyclic(Transform::Fft), Encoding::F32),
    (Structure::Cyclic(Transform::Sums), Encoding::I32),
    (Structure::Cyclic(Transform::Fft), Encoding::I32),
];

/// All of them.
///
/// # Panics
/// The host cannot make one.
#[must_use]
pub fn forms() -> Vec<Form> {
    let group: Group = "Z16xZ16".parse().expect("a group");
    let w = group
        .characters()
        .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
    let square = encode_array(&w.view(), "square", Some("Z16xZ16")).expect("a model");
    let turn = fs::read(repository().join("firmware-example/model/turn.bsn")).expect("the model");
    [("Z16xZ16", square), ("Z64, half", turn)]
        .into_iter()
        .flat_map(|(name, bytes)| of(name, &bytes))
        .collect()
}

fn of(name: &str, bytes: &[u8]) -> Vec<Form> {
    let model = Model::from_bytes(bytes).expect("a sound model");
    let source = Source::new(Path::new(name), &model);
    let found = source.cyclic().expect("a group").identification();
    let signals = random_signals(found, 0).expect("signals");
    let form = |((structure, encoding), pairs): (Kind, Option<Vec<(usize, usize)>>)| {
        let form = form::Form {
            encoding,
            structure,
            pairs,
        };
        let bytes = source.form(&form, None).expect("this form");
        let model = Model::from_bytes(&bytes).expect("a sound model");
        let evaluation = evaluate(&model, &signals).expect("invariants");
        Form {
            name: format!(
                "{name} {structure} {encoding}, {} invariants",
                model.pairs()
            ),
            cost: Cost::of(&model, bytes.len()),
            change: evaluation.within.sqrt(),
            checksum: example::checksum(&model, &device::signal(model.inputs())),
            bytes,
        }
    };
    // Half of a group's characters has no row that is the conjugate of another.
    let folds = |structure| structure != Structure::Conjugates || !source.folded().is_identity();
    let all = KINDS.into_iter().filter(|(structure, _)| folds(*structure));
    let all = all.map(|kind| (kind, None));
    let few = Some(selective(found, 1));
    let few = [
        (Transform::Sums, Encoding::F32),
        (Transform::Fft, Encoding::F32),
        (Transform::Fft, Encoding::I32),
    ]
    .map(|(transform, encoding)| ((Structure::Cyclic(transform), encoding), few.clone()));
    all.chain(few).map(form).collect()
}
