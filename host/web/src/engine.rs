//! What the page asks for: models and what they compute, an attack and learning step by step, files to take along.

use bispectral_core::format::Transform;
use bispectral_core::{Complex32, Model};
use bispectral_learn::analysis::descent::{Descent, Settings};
use bispectral_learn::analysis::representation::{Bispectrum, Power};
use bispectral_learn::data::group::Group;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::group::LearnedTable;
use bispectral_learn::learn::phase::{LossName, Phase};
use bispectral_learn::learn::{Options, Trainer};
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::emit::{Exported, Kind};
use bispectral_learn::model::file::{encode_array, weights};
use bispectral_learn::model::form::{Encoding, Form, Source, Structure};
use bispectral_learn::{Error, Result};
use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
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
    /// Of the model `first` and a signal of f32: the checksum and the class as u32 (none is 2³²−1), then z, the invariants
    /// and |z|² as f32, then the scores.
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
    /// The model `first` as a file: its bytes (0), a Rust module (1), a C header (2); `second` says which.
    Export,
    /// One sample of the learning under way: orbit `first`, member `second`, as f32.
    Sample,
}

impl TryFrom<u32> for Operation {
    type Error = Error;

    fn try_from(number: u32) -> Result<Self> {
        use Operation::*;
        let all = [
            Load, Group, Compute, Attack, Descend, Learn, Train, Weights, Finish, Export, Sample,
        ];
        let found = all.get(number as usize).copied();
        found.ok_or_else(|| refused(format!("there is no operation {number}"), "update the page"))
    }
}

/// What is to be learned.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Task {
    /// Random functions on this group, or
    #[serde(default)]
    group: Option<String>,
    /// samples, one a row, and
    #[serde(default)]
    samples: Vec<Vec<f32>>,
    /// the orbit of each.
    #[serde(default)]
    labels: Vec<i64>,
    /// Orbits of random functions.
    #[serde(default)]
    exemplars: usize,
    #[serde(default)]
    seed: u64,
    /// By gradients alone, as in the paper, so that the rows are seen to become waves.
    #[serde(default)]
    gradients: bool,
}

/// Orbits of random functions at most, and elements of their group: a page is not for more.
const MOST_EXEMPLARS: usize = 500;
const LARGEST_GROUP: usize = 256;
/// Rows whose table is shown while they are learned.
const LARGEST_TABLE: usize = 64;

/// All that the page has begun.
#[derive(Default)]
pub struct Engine {
    models: Vec<Vec<u8>>,
    attack: Option<Attack>,
    learning: Option<Trainer>,
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

fn refused(what: impl Into<String>, remedy: &str) -> Error {
    Error::new("the page", what, remedy)
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
        let bytes = exact(&group(name)?)?;
        self.keep(bytes)
    }

    fn compute(&self, handle: usize, x: &[f32]) -> Result<Vec<u8>> {
        let model = self.model(handle)?;
        let invariants = model.invariants_vec(x).map_err(core_error)?;
        let z = model.coefficients_vec(x).map_err(core_error)?;
        let (mut class, mut scores) = (u32::MAX, vec![0.0; model.classes()]);
        if model.classes() > 0 {
            let mut scratch = vec![0.0; model.classifier_scratch_len()];
            let found = model.classify(x, &mut scratch, &mut scores);
            class = found.map_err(core_error)? as u32;
        }
        let mut bits = Vec::new();
        put(&mut bits, parts(&invariants));
        let mut out = CRC.checksum(&bits).to_le_bytes().to_vec();
        out.extend(class.to_le_bytes());
        put(&mut out, parts(&z));
        out.extend(bits);
        put(&mut out, z.iter().map(|z| z.norm_sqr()));
        put(&mut out, scores);
        Ok(out)
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
        let orbits = match &task.group {
            Some(name) => {
                let exemplars = task.exemplars.clamp(1, MOST_EXEMPLARS);
                Orbits::of_group(&group(name)?, exemplars, task.seed)
            }
            None => {
                if task.labels.len() != task.samples.len() {
                    let found = format!(
                        "{} labels for {} samples",
                        task.labels.len(),
                        task.samples.len()
                    );
                    return Err(refused(found, "give every sample the label of its orbit"));
                }
                Orbits::from_samples(task.labels.into_iter().zip(task.samples))?
            }
        };
        let mut options = Options {
            name: task.group.clone().unwrap_or_default(),
            seed: task.seed,
            ..Options::default()
        };
        if task.gradients {
            let phases = [LossName::SecondOrder, LossName::OrbitSeparation];
            options.phases = phases.map(Phase::new).to_vec();
        }
        let trainer = Trainer::new(&orbits, &options).map_err(learn_error)?;
        let training = trainer.training();
        let members: Vec<usize> = (0..training.len()).map(|o| training.members(o)).collect();
        let told = json!({ "inputs": training.inputs(), "members": members });
        self.learning = Some(trainer);
        answer(&told)
    }

    fn learning(&mut self) -> Result<&mut Trainer> {
        let learning = self.learning.as_mut();
        learning.ok_or_else(|| refused("nothing is being learned", "begin first"))
    }

    fn train(&mut self, steps: usize) -> Result<Vec<u8>> {
        let trainer = self.learning()?;
        let mut last = None;
        let mut done = false;
        for _ in 0..steps {
            match trainer.step().map_err(learn_error)? {
                Some(step) => last = Some(step),
                None => {
                    done = true;
                    break;
                }
            }
        }
        let w = trainer.weights();
        let table = (w.nrows() <= LARGEST_TABLE).then(|| LearnedTable::of(&w.view()));
        let table = table.and_then(std::result::Result::ok).map(|table| {
            let rows: Vec<_> = table.table().rows().map(<[u16]>::to_vec).collect();
            json!({ "products": rows, "confidences": table.confidences() })
        });
        let phase = trainer.phase().map(|(_, phase)| phase.loss);
        let told = json!({
            "done": done, "steps": trainer.steps_taken(), "attempts": trainer.attempts(), "phase": phase, "last": last,
            "table": table,
        });
        answer(&told)
    }

    fn weights(&mut self) -> Result<Vec<u8>> {
        let w = self.learning()?.weights();
        let (rows, inputs) = (w.nrows() as u32, w.ncols() as u32);
        let mut out = [rows.to_le_bytes(), inputs.to_le_bytes()].concat();
        for row in w.rows() {
            put(&mut out, row.iter().map(|w| w.re));
            put(&mut out, row.iter().map(|w| w.im));
        }
        Ok(out)
    }

    fn sample(&mut self, orbit: usize, member: usize) -> Result<Vec<u8>> {
        let training = self.learning()?.training();
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
        let trainer = self.learning.take();
        let trainer = trainer.ok_or_else(|| refused("nothing is being learned", "begin first"))?;
        let learned = trainer.finish().map_err(learn_error)?;
        let evaluation = serde_json::to_value(learned.evaluation()).unwrap_or(Value::Null);
        let told = json!({
            "group": learned.group(),
            "reason": learned.identification().err().filter(|_| learned.group().is_none()).map(ToString::to_string),
            "steps": learned.steps(),
            "evaluation": evaluation,
        });
        let bytes = learned.model().bytes().to_vec();
        let model: Value = serde_json::from_slice(&self.keep(bytes)?).unwrap_or(Value::Null);
        answer(&json!({ "learned": told, "model": model }))
    }

    fn export(&self, handle: usize, kind: usize) -> Result<Vec<u8>> {
        let bytes = self.models.get(handle);
        let bytes = bytes.ok_or_else(|| refused("there is no such model", "load it first"))?;
        let kind = match kind {
            0 => Kind::Postcard,
            1 => Kind::Rust,
            _ => Kind::C,
        };
        let exported = Exported::new(bytes).map_err(core_error)?;
        Ok(kind.emitter().emit(&exported, "model"))
    }
}

fn learn_error(error: impl ToString) -> Error {
    refused(error.to_string(), "change the data, or begin again")
}

fn answer(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| refused(error.to_string(), "reload the page"))
}

/// A group small enough for a page.
fn group(name: &str) -> Result<Group> {
    let group: Group = name.parse()?;
    if group.order() > LARGEST_GROUP {
        let found = format!("{name} has {} elements", group.order());
        return Err(refused(found, "take a group of at most 256"));
    }
    Ok(group)
}

/// The exact characters of a group, in the fastest form there is for it.
fn exact(group: &Group) -> Result<Vec<u8>> {
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
