//! What is compared: without invariance, with less of it, with the paper's protocol, and past it.

use crate::classify::features::Kind;
use crate::classify::prepared::Recipe;
use crate::classify::protocol::{Course, Protocol};

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
    /// Invariants of so many rows of W, as a device computes and classifies them.
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
    /// Pixels of a digit's 28 that are seen.
    pub(super) window: f64,
    /// Copies of each training digit, at its angle and moved by up to so many pixels of the 28.
    pub(super) copies: u64,
    pub(super) jitter: f64,
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
                v.jitter,
                v.recipe.features,
                v.recipe.exponent,
                v.recipe.components,
            )
        };
        of(self) == of(other)
    }
}

/// All variants, in the order of the table.
pub(super) fn all(quick: bool) -> Vec<Variant> {
    let paper = Recipe {
        components: if quick { 50 } else { 500 },
        protocol: Protocol {
            epochs: if quick {
                20
            } else {
                Protocol::default().epochs
            },
            ..Protocol::default()
        },
        ..Recipe::default()
    };
    let of = |name, what, published, input, features| Variant {
        name,
        what,
        published,
        input,
        window: 28.0,
        copies: 0,
        jitter: 0.0,
        recipe: Recipe {
            features,
            ..paper.clone()
        },
    };
    let invariants = of(
        "paper",
        "invariants, the paper's protocol",
        Some(0.981),
        Input::Digits,
        Kind::Invariants,
    );
    let past = |name, what, change: fn(&mut Protocol)| {
        let mut variant = Variant {
            name,
            what,
            published: None,
            ..invariants.clone()
        };
        let protocol = &mut variant.recipe.protocol;
        protocol.course = Course::Cosine;
        if !quick {
            protocol.epochs = 40;
        }
        change(protocol);
        variant
    };
    let mut variants = vec![
        of(
            "svm",
            "linear machine on pixels",
            Some(0.547),
            Input::Linear,
            Kind::Signal,
        ),
        of(
            "pixels",
            "perceptron on pixels",
            None,
            Input::Digits,
            Kind::Signal,
        ),
        of(
            "pooled",
            "perceptron on pixels pooled over turns",
            None,
            Input::Pooled,
            Kind::Signal,
        ),
        of(
            "power",
            "perceptron on the power spectrum",
            None,
            Input::Digits,
            Kind::Power,
        ),
        Variant {
            input: Input::Published,
            name: "published",
            what: "the authors' W, the paper's protocol",
            ..invariants.clone()
        },
        invariants.clone(),
        past("dropout", "dropout, averaged weights", |protocol| {
            protocol.dropout = 0.2;
            protocol.average = 0.998;
        }),
    ];
    let mut moved = past(
        "moved",
        "the same, 3 copies moved by up to a pixel",
        |protocol| {
            protocol.dropout = 0.2;
            protocol.average = 0.998;
            protocol.epochs = protocol.epochs.div_ceil(2);
        },
    );
    (moved.copies, moved.jitter) = (3, 1.0);
    variants.push(moved);
    let on_device = DEVICES.into_iter().map(|(name, what, rows, hidden)| {
        let mut variant = past(name, what, |protocol| {
            protocol.dropout = 0.1;
            protocol.average = 0.998;
            protocol.epochs = protocol.epochs.min(30);
        });
        variant.input = Input::Device(if quick { rows.min(12) } else { rows });
        variant.recipe.components = variant.recipe.components.min(400);
        variant.recipe.protocol.hidden = vec![hidden, 32];
        variant
    });
    variants.extend(on_device);
    variants
}

/// Variants for a device: rows of W, and numbers of the first hidden layer.
const DEVICES: [(&str, &str, usize, usize); 5] = [
    ("device-24", "24 rows, 32-32, i8", 24, 32),
    ("device-40", "40 rows, 32-32, i8", 40, 32),
    ("device-56", "56 rows, 48-32, i8", 56, 48),
    ("device-80", "80 rows, 64-32, i8", 80, 64),
    ("device-104", "104 rows, 64-32, i8", 104, 64),
];
