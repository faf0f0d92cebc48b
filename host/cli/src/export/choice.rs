//! What a user writes for pairs and structures, and what it means for a model.

use bispectral_core::format::Transform;
use bispectral_core::{Model, pair_count};
use bispectral_learn::analysis::separation;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::group::selective;
use bispectral_learn::model::form::{Source, Structure};
use bispectral_learn::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Terms of a combination where W is of no group: more gain little on rotation.
const TERMS: u8 = 4;

/// Which pairs are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairs {
    /// All.
    Full,
    /// Those that determine a signal, each coefficient in so many ways.
    Selective(usize),
    /// So many that tell orbits apart best.
    Best(usize),
}

/// How products of rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Dense,
    Conjugates,
    Combined(u8),
    Cyclic,
    Fft,
    Structured,
}

impl Pairs {
    /// The pairs of this model; none where all are meant.
    pub(super) fn list(
        &self,
        source: &Source,
        model: &Model<'_>,
        signals: Option<&Orbits>,
    ) -> Result<Option<Vec<(usize, usize)>>> {
        let refuse = |what: &str, remedy: &str| Err(Error::file(source.path(), what, remedy));
        let found = match *self {
            Pairs::Full => return Ok(None),
            Pairs::Selective(paths) => match source.cyclic() {
                Some(cyclic) => selective(cyclic.identification(), paths),
                None => {
                    let what =
                        "no group is recognised, so nobody knows which pairs determine a signal";
                    return refuse(what, "take --pairs best:K with --data and --labels");
                }
            },
            Pairs::Best(most) => match signals {
                Some(signals) => separation::best(model, signals, most)?,
                None => {
                    let what = "--pairs best needs signals to choose by";
                    return refuse(what, "add --data X.npy --labels y.npy");
                }
            },
        };
        let all = pair_count(model.rows());
        Ok((found.len() < all).then_some(found))
    }
}

impl Wanted {
    /// What that is for this W.
    pub(super) fn resolve(self, source: &Source) -> Structure {
        match (self, source.cyclic()) {
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
