//! What the page asks for: models and what they compute, an attack and learning step by step, files to take along.

use crate::drawing::{self, Line};
use crate::learning::{Learning, Task, commutative, refused};
use crate::turns;
use bispectral_core::format::Transform;
use bispectral_core::{Complex32, Model};
use bispectral_learn::analysis::descent::{Descent, Settings};
use bispectral_learn::analysis::representation::{Bispectrum, Power};
use bispectral_learn::data::group::Group;
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::emit::{Exported, Kind};
use bispectral_learn::model::file::{encode_array, weights};
use bispectral_learn::model::firmware::{BOARDS, Language, Project, made_up_windows};
use bispectral_learn::model::form::{Encoding, Form, Source, Structure};
use bispectral_learn::{Error, Result};
use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use ndarray::{Array2, ArrayView2};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// Of the bits of the invariants.
const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// Models the engine keeps; the page never needs more, and a loop of it must not fill the memory.
const MOST_MODELS: usize = 256;

/// ‖f(x) − t‖ at which an attack ends. β is cubic: what is weak in a smooth signal shows in the last digits only.
const NEAR: f64 = 2e-6;

/// What a call can ask for. `first` and `second` are the two numbers of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A model from its bytes: JSON that describes it, with its handle.
    Load,
    /// The exact model of a commutative group from its name, in its fastest form: as [`Load`](Self::Load).
    Group,
    /// Of the model `first` and a signal of f32: the checksum as u32, then z, the invariants and |z|² as f32.
    Compute,
    /// Begins an attack on the model `first` with a target of f32; by its power spectrum where `second` is 1.
    Attack,
    /// `first` steps of the attack: the distance, the steps and whether it goes on as f32, then the signal.
    Descend,
    /// Begins learning: JSON of what is to be learned.
    Learn,
    /// `first` steps of learning: JSON of how far it is; W of now is what [`Weights`](Self::Weights) gives.
    Train,
    /// W of the learning under way: rows and inputs as u32, then real parts and imaginary parts of each row as f32.
    Weights,
    /// Ends learning: JSON with group, table and the handle of the model.
    Finish,
    /// The model `first` as a file: its bytes (0), a Rust module (1), a C header (2), a whole firmware project in Rust (3) or C
    /// (4) as a .zip; `second` says which.
    Export,
    /// One sample of the learning under way: orbit `first`, member `second`, as f32.
    Sample,
    /// The report of what [`Finish`](Self::Finish) ended: HTML.
    Report,
    /// JSON of the examples: lines of digits, and turns by name.
    Examples,
    /// 256 samples of a drawing as f32. The argument is f32: the angle it is turned by, then for each line how many points it has
    /// and these. On the square grid, or on the polar one where `first` is 1.
    Draw,
    /// What the classifier at the end of the model `first` takes a signal of f32 for: JSON of class and scores.
    Classify,
}

impl TryFrom<u32> for Operation {
    type Error = Error;

    fn try_from(number: u32) -> Result<Self> {
        use Operation::*;
        let all = [
            Load, Group, Compute, Attack, Descend, Learn, Train, Weights, Finish, Export, Sample,
            Report, Examples, Draw, Classify,
        ];
        let found = all.get(number as usize).copied();
        found.ok_or_else(|| refused(format!("there is no operation {number}"), "update the page"))
    }
}

/// All that the page has begun.
#[derive(Default)]
pub struct Engine {
    models: Vec<Vec<u8>>,
    attack: Option<Attack>,
    learning: Option<Learning>,
    /// W and the report of what was learned last.
    learned: Option<(Array2<Complex32>, String)>,
}

enum Measure {
    Bispectrum(Box<Bispectrum>),
    Power(Box<Power>),
}

struct Attack {
    measure: Measure,
    descent: Descent,
}

/// What the page needs to know of a model.
#[derive(Serialize)]
struct Description<'a> {
    handle: usize,
    name: &'a str,
    group: Option<&'a str>,
    inputs: usize,
    rows: usize,
    pairs: usize,
    classes: usize,
    bytes: usize,
    instructions: u64,
    ram: usize,
}

fn core_error(error: bispectral_core::Error) -> Error {
    refused(error.to_string(), "give it another model or signal")
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|&n| f32::from_le_bytes(n)).collect()
}

fn put(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = f32>) {
    out.extend(numbers.into_iter().flat_map(f32::to_le_bytes));
}

fn parts(values: &[Complex32]) -> impl Iterator<Item = f32> + '_ {
    values.iter().flat_map(|v| [v.re, v.im])
}

impl Engine {
    /// Does what `operation` says.
    ///
    /// # Errors
    /// One line that says what is wrong and what to do.
    pub fn call(
        &mut self,
        operation: Operation,
        first: usize,
        second: usize,
        input: &[u8],
    ) -> Result<Vec<u8>> {
        match operation {
            Operation::Load => self.keep(input.to_vec()),
            Operation::Group => self.group(&String::from_utf8_lossy(input)),
            Operation::Compute => self.compute(first, &floats(input)),
            Operation::Attack => self.attack(first, second == 1, floats(input)),
            Operation::Descend => self.descend(first),
            Operation::Learn => self.learn(input),
            Operation::Train => self.train(first),
            Operation::Weights => self.weights(),
            Operation::Finish => self.finish(),
            Operation::Export => self.export(first, second),
            Operation::Sample => self.sample(first, second),
            Operation::Report => self.report(),
            Operation::Examples => examples(),
            Operation::Classify => self.classify(first, &floats(input)),
            Operation::Draw => draw(&floats(input), first == 1),
        }
    }

    fn model(&self, handle: usize) -> Result<Model<'_>> {
        let bytes = self.models.get(handle);
        let bytes = bytes.ok_or_else(|| refused("there is no such model", "load it first"))?;
        Model::from_bytes(bytes).map_err(core_error)
    }

    /// Keeps a model that the core accepts, and describes it.
    fn keep(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        let model = Model::from_bytes(&bytes).map_err(core_error)?;
        let known = self.models.iter().position(|kept| *kept == bytes);
        if known.is_none() && self.models.len() == MOST_MODELS {
            return Err(refused("too many models", "reload the page"));
        }
        let cost = Cost::of(&model, bytes.len());
        let description = Description {
            handle: known.unwrap_or(self.models.len()),
            name: model.name(),
            group: model.group(),
            inputs: model.inputs(),
            rows: model.rows(),
            pairs: model.pairs(),
            classes: model.classes(),
            bytes: bytes.len(),
            instructions: cost.estimated_instructions,
            ram: cost.ram.streaming_bytes,
        };
        let answer = answer(&description)?;
        if known.is_none() {
            self.models.push(bytes);
        }
        Ok(answer)
    }

    fn group(&mut self, name: &str) -> Result<Vec<u8>> {
        let bytes = exact(&commutative(name)?)?;
        self.keep(bytes)
    }

    fn compute(&self, handle: usize, x: &[f32]) -> Result<Vec<u8>> {
        let model = self.model(handle)?;
        let invariants = model.invariants_vec(x).map_err(core_error)?;
        let z = model.coefficients_vec(x).map_err(core_error)?;
        let mut bits = Vec::new();
        put(&mut bits, parts(&invariants));
        let mut out = CRC.checksum(&bits).to_le_bytes().to_vec();
        put(&mut out, parts(&z));
        out.extend(bits);
        put(&mut out, z.iter().map(|z| z.norm_sqr()));
        Ok(out)
    }

    fn classify(&self, handle: usize, x: &[f32]) -> Result<Vec<u8>> {
        let model = self.model(handle)?;
        let mut scores = vec![0.0; model.classes()];
        let mut scratch = vec![0.0; model.classifier_scratch_len()];
        let found = model.classify(x, &mut scratch, &mut scores);
        answer(&json!({ "class": found.map_err(core_error)?, "scores": scores }))
    }

    /// From noise of the target's length towards its features.
    fn attack(&mut self, handle: usize, power: bool, target: Vec<f32>) -> Result<Vec<u8>> {
        let model = self.model(handle)?;
        let w = weights(&model);
        let shape = (1, target.len());
        let target = Array2::from_shape_vec(shape, target)
            .map_err(|_| refused("no target", "give a signal"))?;
        let start = noise(&target.view());
        let settings = Settings {
            steps: 20_000,
            reached: NEAR,
            ..Settings::default()
        };
        self.attack = Some(if power {
            let measure = Box::new(Power::of_signals(&w.view(), &target.view())?);
            let descent = Descent::new(&*measure, &[0], &start.view(), &settings)?;
            let measure = Measure::Power(measure);
            Attack { measure, descent }
        } else {
            let measure = Box::new(Bispectrum::of_signals(&w.view(), &target.view())?);
            let descent = Descent::new(&*measure, &[0], &start.view(), &settings)?;
            let measure = Measure::Bispectrum(measure);
            Attack { measure, descent }
        });
        self.descend(0)
    }

    fn descend(&mut self, steps: usize) -> Result<Vec<u8>> {
        let attack = self.attack.as_mut();
        let Attack { measure, descent } =
            attack.ok_or_else(|| refused("no attack was begun", "begin one"))?;
        for _ in 0..steps {
            if descent.moving() == 0 {
                break;
            }
            match measure {
                Measure::Bispectrum(measure) => descent.step(&mut **measure)?,
                Measure::Power(measure) => descent.step(&mut **measure)?,
            };
        }
        let found = descent.so_far();
        let distance = found.distances[0];
        let mut out = Vec::new();
        let goes_on = if descent.moving() > 0 { 1.0 } else { 0.0 };
        put(&mut out, [distance as f32, found.steps as f32, goes_on]);
        put(&mut out, found.signals.iter().copied());
        Ok(out)
    }

    fn learn(&mut self, input: &[u8]) -> Result<Vec<u8>> {
        let task: Task = serde_json::from_slice(input)
            .map_err(|error| refused(error.to_string(), "update the page"))?;
        let learning = task.begin()?;
        let orbits = learning.orbits();
        let members: Vec<usize> = (0..orbits.len()).map(|o| orbits.members(o)).collect();
        let begun = json!({ "inputs": orbits.inputs(), "members": members });
        self.learning = Some(learning);
        answer(&begun)
    }

    fn learning(&mut self) -> Result<&mut Learning> {
        let learning = self.learning.as_mut();
        learning.ok_or_else(|| refused("nothing is being learned", "begin first"))
    }

    fn train(&mut self, steps: usize) -> Result<Vec<u8>> {
        answer(&self.learning()?.train(steps)?)
    }

    fn weights(&mut self) -> Result<Vec<u8>> {
        let w = match (&self.learning, &self.learned) {
            (None, Some((w, _))) => w.clone(),
            _ => self.learning()?.weights(),
        };
        let (rows, inputs) = (w.nrows() as u32, w.ncols() as u32);
        let mut out = [rows.to_le_bytes(), inputs.to_le_bytes()].concat();
        for row in w.rows() {
            put(&mut out, row.iter().map(|w| w.re));
            put(&mut out, row.iter().map(|w| w.im));
        }
        Ok(out)
    }

    fn sample(&mut self, orbit: usize, member: usize) -> Result<Vec<u8>> {
        let training = self.learning()?.orbits();
        if orbit >= training.len() || member >= training.members(orbit) {
            return Err(refused("there is no such sample", "update the page"));
        }
        let mut sample = vec![0.0; training.inputs()];
        training.write_member(orbit, member, &mut sample);
        let mut out = Vec::new();
        put(&mut out, sample);
        Ok(out)
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let learning = self.learning.take();
        let learning =
            learning.ok_or_else(|| refused("nothing is being learned", "begin first"))?;
        let finished = learning.finish()?;
        let model: Value = serde_json::from_slice(&self.keep(finished.model)?)
            .map_err(|error| refused(error.to_string(), "reload the page"))?;
        self.learned = Some((finished.weights, finished.report));
        answer(&json!({ "learned": finished.found, "model": model }))
    }

    fn report(&self) -> Result<Vec<u8>> {
        let learned = self.learned.as_ref();
        let (_, report) = learned.ok_or_else(|| refused("nothing was learned", "learn first"))?;
        Ok(report.clone().into_bytes())
    }

    fn export(&self, handle: usize, kind: usize) -> Result<Vec<u8>> {
        let bytes = self.models.get(handle);
        let bytes = bytes.ok_or_else(|| refused("there is no such model", "load it first"))?;
        let exported = Exported::new(bytes).map_err(core_error)?;
        let kind = match kind {
            0 => Kind::Postcard,
            1 => Kind::Rust,
            2 => Kind::C,
            3 => return project(&exported, Language::Rust),
            _ => return project(&exported, Language::C),
        };
        Ok(kind.emitter().emit(&exported, "model"))
    }
}

/// A firmware project for a Cortex-M4F, as `bispectral firmware` writes it, in one archive.
fn project(exported: &Exported<'_>, language: Language) -> Result<Vec<u8>> {
    let windows = made_up_windows(exported.sizes().inputs);
    let project = Project {
        exported,
        board: &BOARDS[0],
        language,
        windows: &windows,
    };
    let files = bispectral_firmware::files(&project)?;
    Ok(bispectral_firmware::zip("firmware", &files))
}

fn examples() -> Result<Vec<u8>> {
    let turns: Vec<_> = (0..)
        .zip(turns::NAMES)
        .map(|(k, name)| (name, turns::example(k)))
        .collect();
    answer(&json!({ "digits": drawing::digits(), "turns": turns }))
}

/// The samples of a drawing.
fn draw(given: &[f32], polar: bool) -> Result<Vec<u8>> {
    let wrong = || refused("lines without an end", "update the page");
    let (&angle, mut rest) = given.split_first().ok_or_else(wrong)?;
    let mut lines: Vec<Line> = Vec::new();
    while let Some((&count, points)) = rest.split_first() {
        let (line, others) = points
            .split_at_checked(2 * count as usize)
            .ok_or_else(wrong)?;
        lines.push(
            line.chunks_exact(2)
                .map(|point| [point[0], point[1]])
                .collect(),
        );
        rest = others;
    }
    let mut out = Vec::new();
    put(
        &mut out,
        if polar {
            drawing::polar(&lines, drawing::PEN, angle)
        } else {
            drawing::raster(&lines, drawing::PEN)
        },
    );
    Ok(out)
}

fn answer(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| refused(error.to_string(), "reload the page"))
}

/// The exact characters of a group, in the fastest form there is for it; a group with too many elements for a model is refused.
pub(crate) fn exact(group: &Group) -> Result<Vec<u8>> {
    let scale = (group.order() as f64).sqrt().recip();
    let w = group.characters();
    let w = w.mapv(|w| Complex32::new((w.re * scale) as f32, (w.im * scale) as f32));
    let name = group.to_string();
    let dense = encode_array(&w.view(), "", Some(&name)).map_err(core_error)?;
    let model = Model::from_bytes(&dense).map_err(core_error)?;
    let source = Source::new(Path::new("model"), &model);
    let transform = |fast| {
        if fast {
            Transform::Fft
        } else {
            Transform::Sums
        }
    };
    match source.cyclic().map(|cyclic| transform(cyclic.is_fast())) {
        Some(transform) => source.form(
            &Form {
                encoding: Encoding::F32,
                structure: Structure::Cyclic(transform),
                pairs: None,
            },
            None,
        ),
        None => Ok(dense),
    }
}

/// Noise of the length of a target, the same for the same target.
fn noise(target: &ArrayView2<'_, f32>) -> Array2<f32> {
    // Linear congruential numbers, summed to something like Gaussian ones: it only has to be no signal.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut uniform = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let drawn = target.mapv(|_| uniform() + uniform() + uniform() + uniform());
    let length = |x: &Array2<f32>| x.iter().map(|x| x * x).sum::<f32>().sqrt();
    let scale = length(&target.to_owned()) / length(&drawn).max(f32::MIN_POSITIVE);
    drawn.mapv(|x| x * scale)
}
