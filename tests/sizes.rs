//! The sizes that are read from a model's bytes when a program is built are those of the model itself, for every kind there is.

use bispectral_core::format::{Output, Parts};
use bispectral_core::{Complex32, Model, Sizes};
use bispectral_learn::analysis::fit::Choices;
use bispectral_learn::data::group::Group;
use bispectral_learn::group::selective;
use bispectral_learn::model::couplings;
use bispectral_learn::model::emit::{Exported, Kind};
use bispectral_learn::model::file::{encode, encode_array};
use bispectral_learn::model::form::{Encoding, Source};
use bispectral_tests::least::{self, COLUMNS, TARGETS, grown, measured, recorded};
use bispectral_tests::{octahedral, repository};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What the model says of itself; of a classifier, the scratch is that of classifying.
fn own(model: &Model<'_>) -> [usize; 6] {
    let scratch = match model.classes() {
        0 => model.scratch_len(),
        _ => model.classifier_scratch_len(),
    };
    [
        model.inputs(),
        model.rows(),
        model.pairs(),
        model.feature_count(),
        scratch,
        model.classes(),
    ]
}

fn read(bytes: &[u8]) -> [usize; 6] {
    let sizes = Sizes::of(bytes).expect("a model");
    let Sizes {
        inputs,
        rows,
        pairs,
        features,
        scratch,
        classes,
        ..
    } = sizes;
    [inputs, rows, pairs, features, scratch, classes]
}

/// Every form of the characters of a group, all pairs and some.
fn forms_of(group: &str) -> Vec<Vec<u8>> {
    let group: Group = group.parse().expect("a group");
    let w = group
        .characters()
        .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
    let bytes = encode_array(&w.view(), "", None).expect("a model");
    let model = Model::from_bytes(&bytes).expect("a sound model");
    let source = Source::new(Path::new("model"), &model);
    let few = selective(source.cyclic().expect("a group").identification(), 1);
    let choices = Choices {
        encoding: None,
        structure: None,
        pairs: vec![("full".into(), None), ("selective".into(), Some(few))],
    };
    let forms = choices.forms(&source).into_iter();
    forms
        .map(|(form, _)| source.form(&form, None).expect("this form"))
        .collect()
}

/// The same with features of degree one.
fn of_degree_one(bytes: &[u8]) -> Vec<u8> {
    let model = Model::from_bytes(bytes).expect("a sound model");
    let output = Output::DegreeOne {
        weight: 0.5,
        products: 0.5,
    };
    let parts = model.parts();
    encode(&Parts { output, ..parts }).expect("a model of degree one")
}

/// Seeds of every kind, forms of three groups, couplings, and features of degree one.
fn models() -> Vec<Vec<u8>> {
    let seeds = fs::read_dir(repository().join("core/fuzz/seeds/model")).expect("seeds");
    let mut models: Vec<Vec<u8>> = seeds
        .map(|seed| fs::read(seed.expect("a seed").path()).expect("a seed"))
        .filter(|seed| Model::from_bytes(seed).is_ok())
        .collect();
    let forms: Vec<Vec<u8>> = ["Z4xZ12", "Z3xZ15", "Z128"]
        .into_iter()
        .flat_map(forms_of)
        .collect();
    models.extend(forms.iter().map(|form| of_degree_one(form)));
    models.extend(forms);
    let couplings = octahedral::couplings();
    for encoding in [Encoding::F32, Encoding::F16, Encoding::I8] {
        let bytes = couplings::encode(&couplings, encoding, "octahedral", Some("S4"));
        models.push(bytes.expect("a model"));
    }
    models
}

#[test]
fn sizes_read_from_the_bytes_are_those_of_the_model_for_every_kind() {
    let mut kinds = BTreeSet::new();
    for bytes in models() {
        let model = Model::from_bytes(&bytes).expect("a sound model");
        let features: Vec<&str> = model.needed_features().map(|f| f.name()).collect();
        assert_eq!(read(&bytes), own(&model), "{features:?}");
        kinds.extend(features);
    }
    let all = "combined conjugates couplings cyclic degree-one dense f16 f32 fft head i32 i8";
    assert_eq!(kinds.into_iter().collect::<Vec<_>>().join(" "), all);
}

#[test]
fn what_is_no_model_has_no_sizes() {
    let bytes = forms_of("Z4").remove(0);
    let begin = |end: usize| Sizes::of(&bytes[..end]);
    assert!((0..bytes.len() - 5).all(|end| begin(end).is_none()));
    let mut newer = bytes.clone();
    newer[4] = 2;
    assert_eq!(Sizes::of(&newer), None);
}

#[test]
fn emitted_modules_and_headers_have_the_same_sizes() {
    for bytes in models() {
        let exported = Exported::new(&bytes).expect("a sound model");
        let text = |kind: Kind| {
            let text = kind.emitter().emit(&exported, "turn");
            String::from_utf8(text).expect("UTF-8")
        };
        let (rust, c) = (text(Kind::Rust), text(Kind::C));
        let names = ["INPUTS", "ROWS", "PAIRS", "FEATURES", "SCRATCH", "CLASSES"];
        for (name, value) in names.into_iter().zip(read(&bytes)) {
            assert!(rust.contains(&format!("pub const {name}: usize = {value};\n")));
            assert!(c.contains(&format!("#define TURN_{name} {value}\n")));
        }
    }
}

#[test]
fn the_least_programs_have_not_grown() {
    let rows = recorded(&repository().join(least::RECORDED)).expect("a recorded table");
    let mut wrong = Vec::new();
    for (kind, target, column) in [
        ("dense,f32", TARGETS[0], 0),
        ("dense,f32", TARGETS[0], 2),
        ("fft", TARGETS[0], 0),
        ("fft", TARGETS[0], 2),
        ("dense,i8,head", TARGETS[0], 0),
        ("dense,f32", TARGETS[1], 0),
    ] {
        let row = rows
            .iter()
            .find(|row| row.kind == kind && row.target == target)
            .expect("a row");
        let bytes = measured(kind, target, COLUMNS[column]).expect("a program");
        let name = format!("{kind} for {target}, {:?}", COLUMNS[column].0);
        wrong.extend(grown(&name, bytes, row.bytes[column]));
    }
    assert!(
        wrong.is_empty(),
        "{wrong:#?}: if that is meant, `cargo run -p bispectral-tests --bin sizes -- --record`"
    );
}
