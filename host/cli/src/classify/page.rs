//! The page of a fitted classifier: some signals, one of them begun elsewhere and its features, what the power spectrum confuses,
//! and what the model takes for what.

use bispectral_core::Model;
use bispectral_core::format::Head;
use bispectral_learn::classify::compare::{Labelled, taken_by_power_spectrum};
use bispectral_learn::classify::harmonics::{Harmonics, features};
use bispectral_learn::{Error, Result};
use bispectral_report::{Chart, Confusion, Curve, Drawing, Page, Panel, Scale, Section};
use ndarray::{Array2, ArrayView2, Axis};

/// Classes of which signals are drawn, and signals of each.
const CLASSES: usize = 6;
const SIGNALS: usize = 3;
/// Places at which the same signal begins.
const PLACES: usize = 4;
/// Features and harmonics that are drawn: what an eye tells apart.
const FEATURES: usize = 48;
const HARMONICS: usize = 12;

/// What was fitted, and what it was fitted to.
pub(super) struct Shown<'a> {
    pub(super) data: &'a str,
    pub(super) training: &'a Labelled,
    pub(super) held_out: &'a Labelled,
    /// What the model takes each held-out signal for.
    pub(super) taken: &'a [usize],
    pub(super) classes: &'a [String],
    pub(super) model: &'a Model<'a>,
    /// What the command printed.
    pub(super) words: &'a str,
}

impl Shown<'_> {
    pub(super) fn page(&self) -> Result<Page> {
        let (moved, alike) = self.moved()?;
        let lead = format!(
            "{} signals of {} values, each of them a period that begins anywhere, and what the model takes them for.",
            self.training.classes.len() + self.held_out.classes.len(),
            self.training.signals.ncols(),
        );
        let by_power = taken_by_power_spectrum(self.training, self.held_out)?;
        let mut page = Page::new(format!("Classes of {}", self.data), lead)
            .section(Section::new("What it came to").preformatted(self.words))
            .section(self.signals())
            .section(
                Section::new("The same signal, begun elsewhere")
                    .paragraph(format!(
                        "Above, one signal at {PLACES} places of its period; below, its features at all of them, and those of a \
                         signal of another class. The {PLACES} differ by {alike:.0e} at most."
                    ))
                    .figure(
                        "shifted",
                        moved.0,
                        "One curve, begun at several places of its period",
                        "To whoever does not know where a period begins, these are different signals.",
                    )
                    .figure(
                        "invariants",
                        moved.1,
                        "Curves of which all but one lie on each other",
                        "To the model they are one: the curves of all places lie on each other. Another class has another curve.",
                    ),
            )
            .section(
                Section::new("What the power spectrum confuses")
                    .paragraph(
                        "The power spectrum does not change with the place either, but it has no phases: classes that differ \
                         in these alone look the same to it.",
                    )
                    .figure(
                        "magnitudes",
                        self.magnitudes()?,
                        "Curves of the magnitudes of harmonics, one a class",
                        "Mean magnitudes of the first harmonics, one curve a class: classes whose curves lie on each other cannot \
                         be told apart by it.",
                    ),
            );
        if !self.taken.is_empty() {
            page = page.section(
                Section::new("What is taken for what")
                    .figure(
                        "confusion-power-spectrum",
                        self.confusion(&by_power, "By the nearest power spectrum"),
                        "A square of counts with strong cells beside the diagonal where classes are confused",
                        "Held-out signals by the nearest power spectrum: what is beside the diagonal is wrong.",
                    )
                    .figure(
                        "confusion",
                        self.confusion(self.taken, "By the model"),
                        "A square of counts with strong cells on the diagonal where classes are told apart",
                        "The same signals by the model, computed by the code of a device.",
                    ),
            );
        }
        Ok(page)
    }

    /// The places of the first signals of a class.
    fn of_class(&self, class: usize) -> impl Iterator<Item = usize> {
        let all = self.training.classes.iter().enumerate();
        all.filter(move |(_, of)| **of == class)
            .map(|(at, _)| at)
            .take(SIGNALS)
    }

    fn signals(&self) -> Section {
        let panels = (0..self.classes.len().min(CLASSES)).map(|class| Panel {
            title: self.classes[class].clone(),
            y_label: "signal".into(),
            scale: Scale::Linear,
            curves: self
                .of_class(class)
                .map(|at| curve(format!("sample {at}"), self.training.signals.row(at).iter()))
                .collect(),
        });
        let chart = Chart {
            title: "Some signals of each class".into(),
            x_label: "sample".into(),
            x: count(self.training.signals.ncols()),
            panels: panels.filter(|panel| !panel.curves.is_empty()).collect(),
        };
        Section::new("Some signals").figure(
            "signals",
            chart,
            "Curves of signals, a frame for each class",
            "Signals as they are in the file. Each begins at a place of its own.",
        )
    }

    /// A signal at several places, its features there, and how far they differ at most.
    fn moved(&self) -> Result<((Chart, Chart), f32)> {
        let signals = &self.training.signals;
        let n = signals.ncols();
        let first = self.of_class(0).next().unwrap_or(0);
        let starts: Vec<usize> = (0..PLACES).map(|place| place * n / PLACES).collect();
        let moved = Array2::from_shape_fn((PLACES, n), |(place, k)| {
            signals[(first, (k + starts[place]) % n)]
        });
        let found = self.features(moved.view())?;
        let differ = found.rows().into_iter().map(|row| {
            let pairs = row.iter().zip(found.row(0));
            pairs.fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()))
        });
        let label = |place: usize| format!("begun at {}", starts[place]);
        let rows = |of: &Array2<f32>| -> Vec<Curve> {
            (0..PLACES)
                .map(|place| curve(label(place), of.row(place).iter()))
                .collect()
        };
        let differ = differ.fold(0.0, f32::max);
        let class = &self.classes[0];
        let shifted = chart(
            format!("A signal of “{class}”, begun at {PLACES} places"),
            "sample",
            "signal",
            rows(&moved),
        );
        let shown = found.ncols().min(FEATURES);
        let first_of = |of: &Array2<f32>| of.view().split_at(Axis(1), shown).0.to_owned();
        let mut curves = rows(&first_of(&found));
        let other = (1..self.classes.len()).find_map(|class| self.of_class(class).next());
        if let Some(at) = other {
            let of_other = signals.select(Axis(0), &[at]);
            let features = first_of(&self.features(of_other.view())?);
            let class = &self.classes[self.training.classes[at]];
            curves.push(curve(format!("of “{class}”"), features.iter()));
        }
        let invariants = chart("Their features".into(), "feature", "value", curves);
        Ok(((shifted, invariants), differ))
    }

    fn features(&self, signals: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        let (mut scratch, width) = (
            vec![0.0; self.model.scratch_len()],
            self.model.feature_count(),
        );
        let mut all = Array2::zeros((signals.nrows(), width));
        for (signal, mut out) in signals.rows().into_iter().zip(all.rows_mut()) {
            let mut features = vec![0.0; width];
            self.model
                .features(&signal.to_vec(), &mut scratch, &mut features)
                .map_err(|error| Error::new("a signal", error.to_string(), "leave it out"))?;
            out.iter_mut().zip(&features).for_each(|(to, f)| *to = *f);
        }
        Ok(all)
    }

    fn magnitudes(&self) -> Result<Chart> {
        let signals = &self.training.signals;
        let harmonics = Harmonics::new(signals.ncols(), HARMONICS);
        let found = features(&harmonics.model(Head::None)?, signals.view())?;
        let curves = (0..self.classes.len().min(CLASSES)).filter_map(|class| {
            let of = (self.training.classes.iter().enumerate()).filter(|(_, c)| **c == class);
            let places: Vec<usize> = of.map(|(at, _)| at).collect();
            let mean = found.select(Axis(0), &places).mean_axis(Axis(0))?;
            let magnitudes: Vec<f32> = mean.iter().copied().take(harmonics.rows).collect();
            Some(curve(self.classes[class].clone(), magnitudes.iter()))
        });
        let chart = chart(
            "Mean magnitudes of harmonics".into(),
            "harmonic",
            "share of the signal’s length",
            curves.collect(),
        );
        Ok(Chart {
            x: (1..=harmonics.rows).map(|k| k as f64).collect(),
            ..chart
        })
    }

    fn confusion(&self, taken: &[usize], title: &str) -> Drawing {
        let count = self.classes.len();
        let mut counts = vec![0_u64; count * count];
        for (class, taken) in self.held_out.classes.iter().zip(taken) {
            counts[class * count + taken] += 1;
        }
        Confusion::new(self.classes, counts, title).into()
    }
}

fn count(length: usize) -> Vec<f64> {
    (0..length).map(|k| k as f64).collect()
}

fn curve<'a>(label: String, values: impl Iterator<Item = &'a f32>) -> Curve {
    Curve {
        label,
        values: values.map(|value| f64::from(*value)).collect(),
        predicted: None,
    }
}

/// One frame.
fn chart(title: String, x_label: &str, y_label: &str, curves: Vec<Curve>) -> Chart {
    Chart {
        title,
        x_label: x_label.into(),
        x: count(curves.first().map_or(0, |curve| curve.values.len())),
        panels: vec![Panel {
            title: String::new(),
            y_label: y_label.into(),
            scale: Scale::Linear,
            curves,
        }],
    }
}
