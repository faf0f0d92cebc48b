//! One chain from signals to classes: harmonics of degree one → a hidden layer → ridge regression, or → the nearest of the training
//! samples, all of it in one model that a device runs, chosen by how often training samples that are left out are right.
//!
//! The hidden layer needs no gradient: max(0, u·(f − f_k)) with u the direction between two training samples and f_k a third,
//! drawn by chance, are the planes along which the data lie. Ridge regression behind it is closed form, so that a whole
//! chain takes a fraction of a second and many can be tried.

use super::harmonics::{Harmonics, features};
use super::ridge::Ridge;
use super::{neighbours, templates};
use crate::analysis::fit::Limits;
use crate::model::budget::Budget;
use crate::model::emit::Exported;
use crate::numeric::random::{Purpose, stream_at};
use crate::{Error, Result};
use bispectral_core::Model;
use bispectral_core::format::{Head, Layers, ScaledLayer};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use rand::RngExt;
use serde::Serialize;

/// Samples that a chain is fitted to at most: its cost is that of their Gram matrix's eigenvectors.
const MOST_SAMPLES: usize = 1500;
/// The largest whole number of a weight.
const LARGEST: f32 = 127.0;
/// What phases weigh beside magnitudes, in hundredths: most classes are told apart as well from 35 to 100, some at one end.
const PHASES: [u8; 2] = [70, 35];
/// Harmonics that are tried, and more of which only few pairs are: all would be thousands of features.
const HARMONICS: [usize; 4] = [4, 8, 16, 32];
const MANY_HARMONICS: usize = 64;
/// Sizes of the hidden layer that are tried.
const HIDDEN: [usize; 4] = [0, 16, 64, 256];
/// Of the largest chains.
const LARGE_HIDDEN: usize = 512;
/// More samples are too many to keep on a device, and to meet in a tournament of dense layers.
const MOST_TEMPLATES: usize = 256;
/// Bytes of flash that are set aside for the program that classifies: an allowance, not a measurement.
pub const PROGRAM: usize = 12 << 10;

/// The size of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    /// K.
    pub harmonics: usize,
    /// Only pairs of the first two rows.
    pub selective: bool,
    /// Numbers of the hidden layer; none where there is none.
    pub hidden: usize,
    /// What phases weigh beside magnitudes, in hundredths.
    pub phases: u8,
    /// The class is that of the nearest training sample, and there is no hidden layer.
    pub templates: bool,
}

impl Default for Size {
    /// The smallest.
    fn default() -> Self {
        Size {
            harmonics: HARMONICS[0],
            selective: true,
            hidden: 0,
            phases: PHASES[0],
            templates: false,
        }
    }
}

/// A chain.
#[derive(Debug, Clone)]
pub struct Chain {
    /// What it is.
    pub size: Size,
    /// The model with its classifier, weights of it in bytes.
    pub bytes: Vec<u8>,
    /// The share of training samples that are right when they are left out.
    pub left_out: f64,
    /// Bytes of RAM for signal, scratch and scores.
    pub ram: usize,
}

impl Chain {
    /// A chain of this size, fitted to samples and the class of each, below `classes`.
    ///
    /// # Errors
    /// A sample has no features, or there are none.
    pub fn fit(
        size: Size,
        samples: ArrayView2<'_, f32>,
        labels: &[usize],
        classes: usize,
        seed: u64,
    ) -> Result<Self> {
        if samples.nrows() == 0 || classes < 2 {
            let what = format!("{} samples of {classes} classes", samples.nrows());
            return Err(Error::new(
                "the data",
                what,
                "give samples of two classes or more",
            ));
        }
        let kept = MOST_SAMPLES.min(samples.nrows());
        let place = |at: usize| at * samples.nrows() / kept;
        let places: Vec<usize> = (0..kept).map(place).collect();
        let samples = samples.select(ndarray::Axis(0), &places);
        let labels: Vec<usize> = places.iter().map(|&place| labels[place]).collect();
        let harmonics = Harmonics {
            selective: size.selective,
            ..Harmonics::new(samples.ncols(), size.harmonics)
        };
        let relative = f32::from(size.phases) / 100.0;
        let harmonics = harmonics.weighing(relative, samples.view())?;
        let found = features(&harmonics.model(Head::None)?, samples.view())?;
        let (layers, left_out) = if size.templates {
            let left_out = neighbours::left_out(&found, &labels);
            (
                templates::layers(&found, &labels, classes, Scaled::rounded),
                left_out,
            )
        } else {
            let hidden = Hidden::new(&found, size.hidden, seed);
            let entered = hidden
                .as_ref()
                .map_or_else(|| found.clone(), |hidden| hidden.of(&found));
            let ridge = Ridge::fit(entered.view(), &labels, classes);
            let first = hidden.map(|hidden| (hidden.weights, hidden.biases));
            let layers = first.into_iter().chain([(ridge.weights, ridge.biases)]);
            (layers.collect(), ridge.left_out)
        };
        let layers: Vec<Scaled> = (layers.iter().enumerate())
            .map(|(at, (weights, biases))| Scaled::new(weights, biases, at == 0))
            .collect();
        let layers: Vec<ScaledLayer<'_>> = layers.iter().map(Scaled::layer).collect();
        let bytes = harmonics.model(Head::Perceptron(Layers::I8(&layers)))?;
        let model =
            Model::from_bytes(&bytes).map_err(|error| Error::model("the model".as_ref(), error))?;
        let ram = size_of::<f32>() * (model.inputs() + model.classifier_scratch_len() + classes);
        Ok(Chain {
            size,
            left_out,
            ram,
            bytes,
        })
    }

    /// The best of all sizes within the limits, of which flash counts the program, too: most training samples right when they
    /// are left out, and of chains that do not differ by more than one sample in two hundred the smallest. Also what was weighed.
    ///
    /// # Errors
    /// None fits, or as [`fit`](Self::fit).
    pub fn choose(
        samples: ArrayView2<'_, f32>,
        labels: &[usize],
        classes: usize,
        limits: &Limits,
        seed: u64,
    ) -> Result<(Self, Vec<Chain>)> {
        let fit = |size| Chain::fit(size, samples, labels, classes, seed);
        let sizes = sizes(samples.ncols(), samples.nrows());
        let tried: Vec<Chain> = sizes.into_iter().map(fit).collect::<Result<_>>()?;
        let most = tried.iter().filter(|chain| chain.fits(limits));
        let most = most
            .map(|chain| chain.left_out)
            .fold(f64::NEG_INFINITY, f64::max);
        let near = |chain: &&Chain| chain.fits(limits) && chain.left_out >= most - 0.005;
        match tried
            .iter()
            .filter(near)
            .min_by_key(|chain| chain.bytes.len())
        {
            Some(chosen) => Ok((chosen.clone(), tried)),
            None => {
                let least = tried
                    .iter()
                    .map(|chain| chain.bytes.len())
                    .min()
                    .unwrap_or(0);
                let what = format!(
                    "no chain fits: the smallest takes {least} bytes and the program {PROGRAM}"
                );
                Err(Error::new("the limits", what, "allow more flash or RAM"))
            }
        }
    }

    /// The chain that is right most often whatever its size. The first of few large ones, unless another is right for clearly more
    /// training samples that are left out: by more than a standard error, or a few samples would decide.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn best(
        samples: ArrayView2<'_, f32>,
        labels: &[usize],
        classes: usize,
        seed: u64,
    ) -> Result<Self> {
        let large = |harmonics, selective, phases, hidden| Size {
            harmonics,
            selective,
            phases,
            hidden,
            templates: false,
        };
        let mut sizes = vec![
            large(32, false, 35, LARGE_HIDDEN),
            large(32, false, 70, LARGE_HIDDEN),
            large(MANY_HARMONICS, true, 35, LARGE_HIDDEN),
            large(32, false, 70, 0),
            large(16, false, 70, 0),
        ];
        if samples.nrows() <= MOST_TEMPLATES {
            sizes.push(Size {
                templates: true,
                ..large(MANY_HARMONICS, true, 35, 0)
            });
        }
        let mut best: Option<Chain> = None;
        for size in sizes {
            let chain = Chain::fit(size, samples, labels, classes, seed)?;
            let clearly = |best: &Chain| {
                let share = best.left_out;
                share + (share * (1.0 - share) / labels.len() as f64).sqrt() < chain.left_out
            };
            if best.as_ref().is_none_or(clearly) {
                best = Some(chain);
            }
        }
        Ok(best.expect("there are sizes"))
    }

    /// Whether flash for model and program, and RAM, are enough.
    #[must_use]
    pub fn fits(&self, limits: &Limits) -> bool {
        let budget = limits.board.and_then(|board| {
            let exported = Exported::new(&self.bytes).ok()?;
            Budget::of(&exported, board, 0).ok()
        });
        let (flash, ram) = match budget {
            Some(budget) => (budget.flash.total_bytes, budget.ram.total_bytes),
            None => (self.bytes.len() + PROGRAM, self.ram),
        };
        limits.flash.is_none_or(|limit| flash as u64 <= limit)
            && limits.ram.is_none_or(|limit| ram as u64 <= limit)
    }
}

/// What is tried, of so many samples of this length.
fn sizes(inputs: usize, samples: usize) -> Vec<Size> {
    let mut sizes = Vec::new();
    // As many harmonics as half of the samples, or once more than that.
    let known = |harmonics: &usize| *harmonics == HARMONICS[0] || harmonics / 2 < inputs / 2;
    for harmonics in HARMONICS.into_iter().filter(known) {
        for selective in [true, false] {
            let size = Size {
                harmonics,
                selective,
                ..Size::default()
            };
            sizes.extend(HIDDEN.map(|hidden| Size { hidden, ..size }));
        }
    }
    let light = Size {
        phases: PHASES[1],
        ..Size::default()
    };
    let largest = HARMONICS.into_iter().rfind(known).unwrap_or(HARMONICS[0]);
    let all = Size {
        harmonics: largest,
        selective: false,
        ..light
    };
    let few = Size {
        harmonics: MANY_HARMONICS,
        ..light
    };
    let more: Vec<Size> = [Some(all), known(&MANY_HARMONICS).then_some(few)]
        .into_iter()
        .flatten()
        .collect();
    for size in &more {
        sizes.extend(HIDDEN[1..].iter().map(|&hidden| Size { hidden, ..*size }));
    }
    if samples <= MOST_TEMPLATES {
        sizes.extend(more.iter().map(|&size| Size {
            templates: true,
            ..size
        }));
    }
    sizes
}

/// max(0, u·(f − f_k)), one row of weights each.
struct Hidden {
    weights: Array2<f32>,
    biases: Vec<f32>,
}

impl Hidden {
    fn new(features: &Array2<f32>, count: usize, seed: u64) -> Option<Self> {
        if count == 0 || features.nrows() < 2 {
            return None;
        }
        let mut random = stream_at(seed, Purpose::Classifier, [count as u64, 1]);
        let (mut weights, mut biases) = (Array2::zeros((count, features.ncols())), Vec::new());
        for mut row in weights.rows_mut() {
            let [a, b, c] = [(); 3].map(|()| random.random_range(0..features.nrows()));
            let direction = &features.row(a) - &features.row(b);
            let length = direction.dot(&direction).sqrt().max(1e-6);
            row.assign(&direction.mapv(|d| d / length));
            biases.push(-row.dot(&features.row(c)));
        }
        Some(Hidden { weights, biases })
    }

    fn of(&self, features: &Array2<f32>) -> Array2<f32> {
        let mut out = features.dot(&self.weights.t());
        for mut row in out.rows_mut() {
            row.iter_mut()
                .zip(&self.biases)
                .for_each(|(v, b)| *v = (*v + b).max(0.0));
        }
        out
    }
}

/// A layer in whole numbers.
struct Scaled {
    weights: Vec<i8>,
    scales: Vec<f32>,
    biases: Vec<f32>,
}

impl Scaled {
    /// Of one row of weights an output; the first layer of a model lies input after input.
    fn new(rows: &Array2<f32>, biases: &[f32], first: bool) -> Self {
        let scales: Vec<f32> = rows.rows().into_iter().map(Scaled::scale).collect();
        // Rounded to the nearest; −127 … 127, so the cast is exact.
        let whole = Array2::from_shape_fn(rows.dim(), |(r, c)| {
            (rows[(r, c)] / scales[r]).round() as i8
        });
        let weights = if first {
            whole.t().iter().copied().collect()
        } else {
            whole.iter().copied().collect()
        };
        Scaled {
            weights,
            scales,
            biases: biases.to_vec(),
        }
    }

    /// The step of which the weights of a row are whole numbers.
    fn scale(row: ArrayView1<'_, f32>) -> f32 {
        let most = row.iter().fold(0.0_f32, |most, w| most.max(w.abs()));
        if most > 0.0 { most / LARGEST } else { 1.0 }
    }

    /// A row of weights as it will be.
    fn rounded(row: ArrayView1<'_, f32>) -> Array1<f32> {
        let scale = Scaled::scale(row);
        row.mapv(|weight| (weight / scale).round() * scale)
    }

    fn layer(&self) -> ScaledLayer<'_> {
        ScaledLayer {
            weights: &self.weights,
            scales: &self.scales,
            biases: &self.biases,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::device;
    use crate::model::firmware::Board;

    /// Four states of a motor: one turn of its current, begun anywhere, with noise; the power spectrum of two is the same.
    fn motor(count: usize, seed: u64) -> (Array2<f32>, Vec<usize>) {
        let mut random = stream_at(seed, Purpose::Noise, [0, 0]);
        let labels: Vec<usize> = (0..count).map(|s| s % 4).collect();
        let phases = [
            [0.0, 0.3, 0.0],
            [0.0, 1.6, 0.0],
            [0.8, 0.3, 0.5],
            [0.0, 0.3, 2.0],
        ];
        let sizes = [
            [0.3, 0.2, 0.1],
            [0.3, 0.2, 0.1],
            [0.3, 0.2, 0.1],
            [0.2, 0.3, 0.1],
        ];
        let rows = labels.iter().map(|&state| {
            let start = random.random::<f32>() * 64.0;
            (0..64)
                .map(|n| {
                    let t = (n as f32 + start) * std::f32::consts::TAU / 64.0;
                    let wave =
                        |k: usize| sizes[state][k] * ((k + 2) as f32 * t + phases[state][k]).sin();
                    t.sin() + (0..3).map(wave).sum::<f32>() + 0.05 * (random.random::<f32>() - 0.5)
                })
                .collect::<Vec<f32>>()
        });
        let all: Vec<f32> = rows.collect::<Vec<_>>().concat();
        (Array2::from_shape_vec((count, 64), all).unwrap(), labels)
    }

    #[test]
    fn the_default_for_a_motor_is_small_and_right() {
        let (samples, labels) = motor(400, 1);
        let (chosen, tried) =
            Chain::choose(samples.view(), &labels, 4, &Limits::default(), 0).unwrap();
        assert!(chosen.bytes.len() <= 4096, "{} bytes", chosen.bytes.len());
        assert!(
            tried
                .iter()
                .any(|chain| chain.bytes.len() > chosen.bytes.len())
        );
        let (others, expected) = motor(1000, 2);
        let model = Model::from_bytes(&chosen.bytes).unwrap();
        let found = device::classify(&model, others.view()).unwrap();
        let right = found
            .iter()
            .zip(&expected)
            .filter(|(f, e)| usize::from(**f) == **e)
            .count();
        assert_eq!(right, 1000, "{:?}", chosen.size);
    }

    #[test]
    fn the_nearest_training_sample_is_found_by_a_model_of_bytes() {
        let (samples, labels) = motor(60, 3);
        let size = Size {
            harmonics: 8,
            phases: 35,
            templates: true,
            ..Size::default()
        };
        let chain = Chain::fit(size, samples.view(), &labels, 4, 0).unwrap();
        assert!(chain.left_out > 0.95, "{}", chain.left_out);
        let model = Model::from_bytes(&chain.bytes).unwrap();
        let (others, expected) = motor(200, 4);
        for (samples, expected, least) in [(&samples, &labels, 60), (&others, &expected, 195)] {
            let found = device::classify(&model, samples.view()).unwrap();
            let right = found.iter().zip(expected);
            let right = right.filter(|(f, e)| usize::from(**f) == **e).count();
            assert!(right >= least, "{right} of {}", expected.len());
        }
    }

    #[test]
    fn limits_count_the_program_and_are_kept() {
        let (samples, labels) = motor(80, 1);
        let limits = Limits {
            flash: Some((PROGRAM + 1500) as u64),
            ..Limits::default()
        };
        let (chosen, _) = Chain::choose(samples.view(), &labels, 4, &limits, 0).unwrap();
        assert!(chosen.bytes.len() <= 1500);
        // On a board the program is the one that `firmware` writes: 20 KB and more.
        let on_board = Limits {
            board: Board::named("cortex-m4f"),
            ..limits
        };
        assert!(!chosen.fits(&on_board));
        let none = Limits {
            flash: Some(PROGRAM as u64),
            ..Limits::default()
        };
        let error = Chain::choose(samples.view(), &labels, 4, &none, 0).unwrap_err();
        assert!(error.to_string().contains("the smallest takes"), "{error}");
    }
}
