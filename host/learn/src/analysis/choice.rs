//! What a user writes for pairs and structures, and what it means for a model.

use super::fit::Named;
use super::separation;
use crate::data::orbits::Orbits;
use crate::group::selective;
use crate::model::form::{Encoding, Form, Source, Structure};
use crate::{Error, Result};
use bispectral_core::format::{self, Transform};
use bispectral_core::{Model, pair_count};
use std::fmt;
use std::str::FromStr;

/// Terms of a combination where W is of no group: more gain little on rotation.
const TERMS: u8 = 4;
/// Lists that are tried of a model without a group.
const BEST: [usize; 2] = [256, 1024];

/// Which pairs are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// All.
    Full,
    /// Those that determine a signal, each coefficient in so many ways.
    Selective(usize),
    /// So many that tell orbits apart best.
    Best(usize),
}

/// How products of rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// From W.
    Dense,
    /// From W, of which one of each conjugate pair of rows is stored.
    Conjugates,
    /// As a combination of so many coefficients.
    Combined(u8),
    /// By the arithmetic of the group.
    Cyclic,
    /// By that and a fast transform.
    Fft,
    /// The last two where there is a group, otherwise a combination.
    Structured,
}

impl Pairs {
    /// The pairs of this model; none where all are meant.
    ///
    /// # Errors
    /// There is no group, or there are no signals to choose by.
    pub fn list(
        &self,
        source: &Source,
        model: &Model<'_>,
        signals: Option<&Orbits>,
    ) -> Result<Option<Vec<(usize, usize)>>> {
        let refuse = |what: &str, remedy: &str| Err(Error::file(source.path(), what, remedy));
        if let (Pairs::Selective(_), Some(couplings)) = (self, source.couplings()) {
            return match couplings.selective() {
                Some(count) if *self == Pairs::Selective(1) => {
                    Ok(Some((0..count).map(|term| (term, term)).collect()))
                }
                Some(_) => refuse(
                    "couplings know one selective set, not one in several ways",
                    "take selective without a number",
                ),
                None => refuse(
                    "nobody knows which of its terms determine a signal",
                    "take the best:K of signals with labels",
                ),
            };
        }
        let found = match *self {
            Pairs::Full => return Ok(None),
            Pairs::Selective(paths) => match source.cyclic() {
                Some(cyclic) => selective(cyclic.identification(), paths),
                None => {
                    let what =
                        "no group is recognised, so nobody knows which pairs determine a signal";
                    return refuse(what, "take the best:K of signals with labels");
                }
            },
            Pairs::Best(most) => match signals {
                Some(signals) => separation::best(model, signals, most)?,
                None => {
                    let what = "the best pairs need signals to choose by";
                    return refuse(what, "give signals and their labels");
                }
            },
        };
        let all = match source.couplings() {
            Some(_) => model.pairs(),
            None => pair_count(model.rows()),
        };
        Ok((found.len() < all).then_some(found))
    }

    /// The lists that come into question where nobody has chosen.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn considered(
        source: &Source,
        model: &Model<'_>,
        signals: Option<&Orbits>,
    ) -> Result<Vec<Named>> {
        let mut wanted = vec![Pairs::Full];
        let selective = source.couplings().and_then(|c| c.selective());
        let all = match source.couplings() {
            Some(_) => model.pairs(),
            None => pair_count(model.rows()),
        };
        if source.cyclic().is_some() || selective.is_some_and(|count| count < all) {
            wanted.push(Pairs::Selective(1));
        } else if signals.is_some() {
            let fewer = |most: &usize| *most < all;
            wanted.extend(BEST.into_iter().filter(fewer).map(Pairs::Best));
        }
        let named = |pairs: Pairs| Ok((pairs.to_string(), pairs.list(source, model, signals)?));
        wanted.into_iter().map(named).collect()
    }
}

/// The one form that is asked for; what is left open stays as it is in `model`.
///
/// # Errors
/// As [`Pairs::list`].
pub fn form(
    source: &Source,
    model: &Model<'_>,
    signals: Option<&Orbits>,
    (encoding, structure, pairs): (Option<Encoding>, Option<Wanted>, Option<Pairs>),
) -> Result<Form> {
    // What has a group's arithmetic keeps it: W written out is larger by its number of rows.
    let structure = match (structure, model.parts().structure) {
        (Some(wanted), _) => wanted.resolve(source),
        (None, format::Structure::Couplings(_)) => Structure::Couplings,
        (None, format::Structure::Cyclic { transform, .. }) if encoding.is_none() => {
            Structure::Cyclic(transform)
        }
        // Nothing else has roots of unity.
        (None, _) if encoding == Some(Encoding::I32) && source.cyclic().is_some() => {
            Wanted::Structured.resolve(source)
        }
        _ => Structure::Dense,
    };
    let pairs = match pairs {
        Some(pairs) => pairs.list(source, model, signals)?,
        None => source.pairs().map(<[_]>::to_vec),
    };
    Ok(Form {
        encoding: encoding.unwrap_or(Encoding::F32),
        structure,
        pairs,
    })
}

impl Wanted {
    /// What that is for this W.
    #[must_use]
    pub fn resolve(self, source: &Source) -> Structure {
        match (self, source.cyclic()) {
            (Wanted::Structured, None) if source.couplings().is_some() => Structure::Couplings,
            (Wanted::Dense, _) => Structure::Dense,
            (Wanted::Conjugates, _) => Structure::Conjugates,
            (Wanted::Combined(terms), _) => Structure::Combined(terms),
            (Wanted::Cyclic, _) => Structure::Cyclic(Transform::Sums),
            (Wanted::Fft, _) => Structure::Cyclic(Transform::Fft),
            (Wanted::Structured, Some(cyclic)) if cyclic.is_fast() => {
                Structure::Cyclic(Transform::Fft)
            }
            (Wanted::Structured, Some(_)) => Structure::Cyclic(Transform::Sums),
            (Wanted::Structured, None) => Structure::Combined(TERMS),
        }
    }
}

impl FromStr for Pairs {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, count) = split(text)?;
        match (name, count) {
            ("full", None) => Ok(Pairs::Full),
            ("selective", count) => Ok(Pairs::Selective(count.unwrap_or(1))),
            ("best", Some(count)) => Ok(Pairs::Best(count)),
            _ => Err("must be full, selective, selective:K or best:K".into()),
        }
    }
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match split(text)? {
            ("dense", None) => Ok(Wanted::Dense),
            ("conjugates", None) => Ok(Wanted::Conjugates),
            ("cyclic", None) => Ok(Wanted::Cyclic),
            ("fft", None) => Ok(Wanted::Fft),
            ("structured", None) => Ok(Wanted::Structured),
            ("combined", Some(terms)) => u8::try_from(terms)
                .map(Wanted::Combined)
                .map_err(|_| "a combination has 1 to 255 terms".into()),
            _ => Err("must be dense, conjugates, combined:K, cyclic, fft or structured".into()),
        }
    }
}

/// `name` or `name:K`, with K at least 1.
fn split(text: &str) -> std::result::Result<(&str, Option<usize>), String> {
    let Some((name, count)) = text.split_once(':') else {
        return Ok((text, None));
    };
    let count = count.parse().ok().filter(|&count| count > 0);
    let wrong = || format!("`{text}`: behind the colon must be a whole number from 1 on");
    count.map(|count| (name, Some(count))).ok_or_else(wrong)
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pairs::Full => f.write_str("full"),
            Pairs::Selective(1) => f.write_str("selective"),
            Pairs::Selective(paths) => write!(f, "selective:{paths}"),
            Pairs::Best(most) => write!(f, "best:{most}"),
        }
    }
}
