//! What is compared: without invariance, with less of it, with the paper's protocol, and past it.

use crate::rotated_digits::{Changed, Window};
use bispectral_learn::classify::features::Kind;
use bispectral_learn::classify::prepared::Recipe;
use bispectral_learn::classify::protocol::RateSchedule;

/// What goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// Pixels, into a linear machine.
    Linear,
    /// As the recipe says, of the digits as they are.
    Digits,
    /// Pixels pooled over turns.
    Pooled,
    /// As the recipe says, with the published W.
    Published,
    /// So many invariants, as a device computes and classifies them.
    Device(usize),
}

/// A way to classify digits.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    /// What the paper has.
    pub(super) published: Option<f64>,
    pub(super) input: Input,
    pub(super) window: Window,
    /// Copies of each training digit, at its angle, and what chance does to them.
    pub(super) copies: u8,
    pub(super) changed: Changed,
    /// Perceptrons that vote, each trained from another start.
    pub(super) members: usize,
    pub(super) recipe: Recipe,
}

impl Variant {
    /// Whether perceptrons of both are trained on the same inputs.
    pub(super) fn prepares_as(&self, other: &Variant) -> bool {
        let of = |v: &Variant| {
            (
                v.input,
                v.window,
                v.copies,
                v.changed,
                v.recipe.features,
                v.recipe.exponent,
                v.recipe.components,
            )
        };
        of(self) == of(other)
    }

    fn named(mut self, name: &'static str, what: &'static str) -> Self {
        (self.name, self.what, self.published) = (name, what, None);
        self
    }

    /// Pixels or the power spectrum instead of invariants.
    fn of(mut self, input: Input, features: Kind) -> Self {
        (self.input, self.recipe.features) = (input, features);
        self
    }

    fn published(mut self, accuracy: f64) -> Self {
        self.published = Some(accuracy);
        self
    }

    /// Equivariance half a cosine, with weights that are averaged.
    fn trained(mut self, hidden: &[usize], dropout: f32, epochs: usize) -> Self {
        let protocol = &mut self.recipe.protocol;
        protocol.schedule = RateSchedule::Cosine;
        protocol.average = 0.998;
        protocol.hidden = hidden.to_vec();
        protocol.dropout = dropout;
        protocol.epochs = protocol.epochs.min(epochs);
        self
    }

    fn copied(mut self, copies: u8) -> Self {
        (self.copies, self.changed) = (copies, CHANGED);
        self
    }

    fn placed(mut self) -> Self {
        self.window = AROUND;
        self
    }
}

/// What is done to copies of digits.
const CHANGED: Changed = Changed {
    moved: 1.0,
    stretched: 0.12,
    bent: 0.7,
};

/// Nine windows.
const AROUND: Window = Window {
    pixels: 28.0,
    places: 9,
    radius: 2.2,
};

const PAPER: [usize; 4] = [128, 128, 64, 32];
const WIDE: [usize; 2] = [512, 256];

/// All variants, in the order of the table: those on the same inputs follow each other.
pub(super) fn all(quick: bool) -> Vec<Variant> {
    let mut paper = Variant {
        name: "paper",
        what: "invariants, the paper's protocol",
        published: Some(0.981),
        input: Input::Digits,
        window: Window::default(),
        copies: 0,
        changed: Changed::default(),
        members: 1,
        recipe: Recipe::default(),
    };
    if quick {
        paper.recipe.components = 50;
        paper.recipe.protocol.epochs = 20;
    }
    let from = |name, what| paper.clone().named(name, what);
    let mut roots = from("roots", "magnitudes' square roots, the paper's protocol");
    roots.recipe.exponent = 0.5;
    let mut middle = from("middle", "22 of 28 pixels, the paper's protocol");
    middle.window.pixels = 22.0;
    let mut vote = from("vote", "the same, three vote")
        .placed()
        .trained(&WIDE, 0.5, 30);
    vote.members = 3;
    let mut variants = vec![
        from("svm", "linear machine on pixels")
            .of(Input::Linear, Kind::Signal)
            .published(0.547),
        from("pixels", "perceptron on pixels").of(Input::Digits, Kind::Signal),
        from("pooled", "perceptron on pixels pooled over turns").of(Input::Pooled, Kind::Signal),
        from("power", "perceptron on the power spectrum").of(Input::Digits, Kind::Power),
        from("published", "the authors' W, the paper's protocol")
            .of(Input::Published, Kind::Invariants),
        roots,
        middle,
        paper.clone(),
        from("dropout", "dropout 0.2, averaged weights").trained(&PAPER, 0.2, 30),
        from("wide", "512-256, dropout 0.5").trained(&WIDE, 0.5, 30),
        from("bent", "512-256, 4 bent copies")
            .copied(4)
            .trained(&WIDE, 0.2, 10),
        from("places", "nine places, the paper's protocol").placed(),
        from("places-wide", "nine places, 512-256, dropout 0.5")
            .placed()
            .trained(&WIDE, 0.5, 30),
        vote,
        from("places-bent", "nine places, 512-256, 4 bent copies")
            .placed()
            .copied(4)
            .trained(&WIDE, 0.2, 10),
    ];
    variants.extend(DEVICES.into_iter().map(|(name, what, terms, hidden)| {
        let terms = if quick { terms.min(60) } else { terms };
        from(name, what)
            .of(Input::Device(terms), Kind::Invariants)
            .copied(4)
            .trained(&[hidden, 32], 0.1, 12)
    }));
    variants
}

/// Variants for a device: terms of the bispectrum, and numbers of the first hidden layer.
const DEVICES: [(&str, &str, usize, usize); 6] = [
    ("device-300", "300 terms, 32-32, i8", 300, 32),
    ("device-600", "600 terms, 48-32, i8", 600, 48),
    ("device-1200", "1200 terms, 64-32, i8", 1200, 64),
    ("device-2400", "2400 terms, 64-32, i8", 2400, 64),
    ("device-3600", "3600 terms, 64-32, i8", 3600, 64),
    ("device-wide", "3400 terms, 128-32, i8", 3400, 128),
];
