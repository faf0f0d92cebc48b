//! `--fit`: the candidates that were weighed, as a table.

use super::{Console, Export};
use bispectral_core::Model;
use bispectral_learn::analysis::choice::Pairs;
use bispectral_learn::analysis::fit::{
    Candidate, Choices, Limits, Named, best, least_need, random_signals,
};
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::model::form::Source;
use bispectral_learn::{Error, Result};
use serde::Serialize;

/// A candidate, as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Weighed {
    structure: String,
    encoding: String,
    pairs: String,
    invariants: usize,
    flash_bytes: usize,
    ram_bytes: usize,
    streamed: bool,
    estimated_instructions: u64,
    /// Root of the mean squared distance within orbits, and between them; measured of what fits.
    within: Option<f64>,
    between: Option<f64>,
    nearest: Option<f64>,
    fits: bool,
    chosen: bool,
}

impl Export {
    /// The best form within the limits, and all that were weighed.
    pub(super) fn fitted(
        &self,
        source: &Source,
        model: &Model<'_>,
        signals: Option<Orbits>,
        limits: &Limits,
        seed: Option<u64>,
        console: &Console,
    ) -> Result<(Vec<u8>, Vec<Weighed>)> {
        let choices = Choices {
            encoding: self.encoding.map(Into::into),
            structure: self.structure.map(|structure| structure.resolve(source)),
            pairs: self.lists(source, model, signals.as_ref())?,
        };
        let signals = match (signals, source.cyclic()) {
            (Some(signals), _) => signals,
            (None, Some(cyclic)) => random_signals(cyclic.identification(), seed.unwrap_or(0))?,
            (None, None) => {
                let what = "no group is recognised, so --fit needs signals to measure on";
                let remedy = "add --data X.npy --labels y.npy";
                return Err(Error::file(source.path(), what, remedy));
            }
        };
        let forms = choices.forms(source);
        let mut progress = console.progress("forms", forms.len());
        let mut candidates = Vec::new();
        for (done, (form, pairs)) in forms.into_iter().enumerate() {
            candidates.push(Candidate::measure(source, form, pairs, &signals, limits)?);
            progress.at(done + 1);
        }
        drop(progress);
        let chosen = best(&candidates);
        let weighed: Vec<Weighed> = candidates
            .iter()
            .map(|candidate| {
                let is_chosen = chosen.is_some_and(|chosen| std::ptr::eq(chosen, candidate));
                Weighed::of(candidate, limits, is_chosen)
            })
            .collect();
        console.say(&table(&weighed));
        let Some(chosen) = chosen else {
            let what = format!("no form fits: {}", least_need(&candidates));
            let remedy = "raise the limits, or train with fewer rows";
            return Err(Error::file(source.path(), what, remedy));
        };
        Ok((chosen.bytes.clone(), weighed))
    }

    /// The lists of pairs that come into question.
    fn lists(
        &self,
        source: &Source,
        model: &Model<'_>,
        signals: Option<&Orbits>,
    ) -> Result<Vec<Named>> {
        if let Some(pairs) = &self.pairs {
            let list = pairs.list(source, model, signals)?;
            return Ok(vec![(pairs.to_string(), list)]);
        }
        Pairs::considered(source, model, signals)
    }
}

impl Weighed {
    fn of(candidate: &Candidate, limits: &Limits, chosen: bool) -> Self {
        let (ram_bytes, streamed) = candidate.cost.ram_within(limits);
        let all = candidate.evaluation;
        Weighed {
            structure: candidate.form.structure.to_string(),
            encoding: candidate.form.encoding.to_string(),
            pairs: candidate.pairs.clone(),
            invariants: candidate.invariants,
            flash_bytes: candidate.cost.flash_bytes,
            ram_bytes,
            streamed,
            estimated_instructions: candidate.cost.estimated_instructions,
            within: all.map(|all| all.within.sqrt()),
            between: all.map(|all| all.between.sqrt()),
            nearest: all.map(|all| all.nearest),
            fits: all.is_some(),
            chosen,
        }
    }
}

/// One line a candidate, the chosen one marked.
fn table(weighed: &[Weighed]) -> String {
    let mut lines = vec![format!(
        "  {:<11} {:<8} {:<12} {:>10} {:>8} {:>8}  {:>12} {:>8} {:>7} {:>7}  fits",
        "structure",
        "encoding",
        "pairs",
        "invariants",
        "flash",
        "RAM",
        "instructions",
        "within",
        "between",
        "nearest",
    )];
    let none = || "-".to_owned();
    for one in weighed {
        let marks = [
            if one.chosen { '>' } else { ' ' },
            if one.streamed { 's' } else { ' ' },
        ];
        lines.push(format!(
            "{} {:<11} {:<8} {:<12} {:>10} {:>8} {:>8}{} {:>12} {:>8} {:>7} {:>7}  {}",
            marks[0],
            one.structure,
            one.encoding,
            one.pairs,
            one.invariants,
            one.flash_bytes,
            one.ram_bytes,
            marks[1],
            one.estimated_instructions,
            one.within.map_or(none(), |within| format!("{within:.1e}")),
            one.between
                .map_or(none(), |between| format!("{between:.3}")),
            one.nearest
                .map_or(none(), |nearest| format!("{:.1}%", 100.0 * nearest)),
            if one.fits { "yes" } else { "no" },
        ));
    }
    lines.push(
        "bytes; s: streamed, without room for the result; instructions of a Cortex-M4F, estimated; \
         within, between: root of the mean squared distance of invariants, measured of what fits"
            .into(),
    );
    lines.join("\n")
}
