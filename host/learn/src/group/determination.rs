//! What a list of terms tells of a signal, up to its translates and a positive factor.

use super::lattice::Lattice;
use super::recursion::{Closing, Part, Recursion, Terms};
use super::triples::Classes;
use serde::Serialize;
use std::fmt;

/// Classes named in a line.
const NAMED: usize = 8;

/// What is left open where some coefficients of a signal are zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Determination {
    /// Characters whose coefficients are zero, one of each class {a, −a}.
    pub zero: Vec<usize>,
    /// Those of them that need not be: every term they are in has another factor that is zero.
    pub unseen: Vec<usize>,
    /// Moduli that may be chosen.
    pub moduli: usize,
    /// Phases that may be chosen, beyond the translates.
    pub phases: usize,
    /// Signals that are no translates of one another and have these terms, where no phase may be chosen.
    pub signals: u64,
}

impl Determination {
    /// What `terms` tell of a signal whose coefficients are zero where `present` is not.
    pub(crate) fn of(classes: &Classes, terms: &Terms, present: &[bool]) -> Self {
        let is_present = |term: usize| terms.factors[term].iter().all(|f| present[f.class]);
        let costs: Vec<f64> = (0..terms.factors.len())
            .map(|term| if is_present(term) { 1.0 } else { f64::INFINITY })
            .collect();
        let wanted: Vec<usize> = (0..classes.count()).filter(|&c| present[c]).collect();
        let recursion = Recursion::new(classes, terms, (&costs, 1.0), &wanted);
        let translates = classes.generated(present);
        let enough = |lattice: &Lattice| lattice.freedom() == 0;
        let moduli = closed(terms, &recursion, Part::Modulus, enough);
        let enough =
            |lattice: &Lattice| enough(lattice) && lattice.solutions() <= translates.into();
        let phases = closed(terms, &recursion, Part::Phase, enough);
        let signals = match phases.freedom() {
            0 => phases.solutions() / u128::from(translates),
            _ => 1,
        };
        let shown = |class: usize| {
            let mut factors = terms.of_class(class);
            factors.any(|factors| factors.iter().all(|f| f.class == class || present[f.class]))
        };
        let zero = (0..classes.count()).filter(|&class| !present[class]);
        let unseen = zero.clone().filter(|&class| !shown(class));
        Determination {
            zero: zero.map(|class| classes.character(class)).collect(),
            unseen: unseen.map(|class| classes.character(class)).collect(),
            moduli: moduli.freedom(),
            phases: phases.freedom(),
            signals: u64::try_from(signals).unwrap_or(u64::MAX),
        }
    }

    /// Whether nothing is left open.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unseen.is_empty() && self.moduli == 0 && self.phases == 0 && self.signals <= 1
    }
}

/// The equations of the closings, the surest first, until they are `enough`.
fn closed(
    terms: &Terms,
    recursion: &Recursion,
    part: Part,
    enough: impl Fn(&Lattice) -> bool,
) -> Lattice {
    let powers = recursion.powers(terms, part);
    let mut lattice = Lattice::new(recursion.free.len());
    for &(closing, _) in &recursion.closings {
        if enough(&lattice) {
            break;
        }
        if let Some(row) = recursion.equation(terms, part, closing, &powers) {
            lattice.add(&row, 0.0);
        }
    }
    lattice
}

/// Terms of `recursion` that leave nothing open of what can be known: its steps, and as few closings as that takes, those
/// that are `there` already before others.
pub(crate) fn needed(
    terms: &Terms,
    recursion: &Recursion,
    translates: u64,
    there: &[bool],
) -> Vec<usize> {
    let mut needed: Vec<usize> = recursion.steps.iter().map(|step| step.term).collect();
    let mut there = there.to_vec();
    let mut closings: Vec<Closing> = recursion
        .closings
        .iter()
        .map(|(closing, _)| *closing)
        .collect();
    for part in [Part::Modulus, Part::Phase] {
        closings.sort_by_key(|closing| match closing {
            Closing::Real(_) => false,
            Closing::Term(term) => !there[*term],
        });
        let powers = recursion.powers(terms, part);
        let mut lattice = Lattice::new(recursion.free.len());
        for &closing in &closings {
            let freedom = lattice.freedom();
            if freedom == 0 && (part == Part::Modulus || lattice.solutions() <= translates.into()) {
                break;
            }
            let Some(row) = recursion.equation(terms, part, closing, &powers) else {
                continue;
            };
            let news = lattice.add(&row, 0.0);
            // Moduli are no turns: an equation counts only where it holds one more of them.
            let counts = news && (part == Part::Phase || lattice.freedom() < freedom);
            if let (Closing::Term(term), true) = (closing, counts) {
                needed.push(term);
                there[term] = true;
            }
        }
    }
    needed
}

impl fmt::Display for Determination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return f.write_str("determined up to the group and a positive factor");
        }
        let mut open = Vec::new();
        if !self.unseen.is_empty() {
            open.push(format!("whether those of {} are", named(&self.unseen)));
        }
        for (count, what) in [(self.moduli, "moduli"), (self.phases, "phases")] {
            if count > 0 {
                open.push(format!("{what} {count}"));
            }
        }
        if self.signals > 1 {
            open.push(format!("choices between signals {}", self.signals));
        }
        if self.zero.is_empty() {
            write!(f, "the invariants leave open: {}", open.join(", "))
        } else {
            write!(
                f,
                "the coefficients of characters {} are zero, and what is left leaves open: {}",
                named(&self.zero),
                open.join(", ")
            )
        }
    }
}

/// The first of these.
fn named(characters: &[usize]) -> String {
    let names: Vec<String> = characters
        .iter()
        .take(NAMED)
        .map(usize::to_string)
        .collect();
    let more = if characters.len() > NAMED {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", names.join(", "))
}
