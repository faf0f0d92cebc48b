//! What is compared: without invariance, with less of it, with the paper's protocol, and past it.

use crate::classify::classifier::Recipe;
use crate::classify::features::Kind;
use crate::classify::fit::{Course, Protocol};

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
    pub(super) recipe: Recipe,
}

impl Variant {
    /// Whether perceptrons of both are trained on the same inputs.
    pub(super) fn prepares_as(&self, other: &Variant) -> bool {
        let of = |v: &Variant| {
            (
                v.input,
                v.window,
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
            protocol.epochs = 60;
        }
        change(protocol);
        variant
    };
    vec![
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
    ]
}
