//! The forms that one model can take: how its weights are stored, how z_ij is had, and which pairs it computes.

use super::combined::Products;
use super::conjugates::Folded;
use super::couplings;
use super::cyclic::Cyclic;
use super::file::{self, dimension};
use super::halves::halves;
use super::integers::{Integers, integers};
use crate::data::orbits::Orbits;
use crate::group::{Couplings, fourth_order};
use crate::{Error, Result};
use bispectral_core::format::{self, FFT_FACTORS, PairList, Parts, Transform, Weights};
use bispectral_core::{Complex32, Model, pair_count};
use ndarray::{Array2, ArrayView2, Axis};
use std::fmt;
use std::path::{Path, PathBuf};

/// How a weight is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Four bytes, as it was learned
    F32,
    /// Two bytes: off by at most 2^-12 of itself
    F16,
    /// One byte, and a scale a row
    I8,
    /// Of cyclic models: whole numbers of 32 bits throughout, for processors without floats
    I32,
}

/// How z_ij = (W_i ⊙ W_j) x is had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// From W.
    Dense,
    /// From W, of which one of each conjugate pair of rows is stored.
    Conjugates,
    /// As a combination of so many z_k.
    Combined(u8),
    /// By the arithmetic of the group; the coefficients by sums or by a fast transform.
    Cyclic(Transform),
    /// Forms of blocks of z = U x: of couplings, and of nothing else.
    Couplings,
}

/// A form of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// How a weight is stored.
    pub encoding: Encoding,
    /// How z_ij is had.
    pub structure: Structure,
    /// The pairs of rows, ascending in the order of the triangle; all of them where there is no list. Of couplings, the
    /// number of each term twice.
    pub pairs: Option<Vec<(usize, usize)>>,
}

/// A model whose forms are wanted: W, and the group behind it where there is one.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    w: Array2<Complex32>,
    name: String,
    group: Option<String>,
    pairs: Option<Vec<(usize, usize)>>,
    folded: Folded,
    cyclic: Option<Cyclic>,
    couplings: Option<Couplings>,
}

impl Source {
    /// What the model read from `path` is made of.
    #[must_use]
    pub fn new(path: &Path, model: &Model<'_>) -> Self {
        let w = file::weights(model);
        let couplings = couplings::decode(model);
        let all = couplings.is_some() || model.pairs() == pair_count(model.rows());
        Source {
            path: path.to_owned(),
            folded: Folded::of(&w.view()),
            cyclic: match couplings {
                Some(_) => None,
                None => Cyclic::of(&w.view()),
            },
            couplings,
            w,
            name: model.name().to_owned(),
            group: model.group().map(str::to_owned),
            pairs: (!all).then(|| model.pair_list().collect()),
        }
    }

    /// The model's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The pairs that the model computes, where not all of them.
    #[must_use]
    pub fn pairs(&self) -> Option<&[(usize, usize)]> {
        self.pairs.as_deref()
    }

    /// The group behind W.
    #[must_use]
    pub fn cyclic(&self) -> Option<&Cyclic> {
        self.cyclic.as_ref()
    }

    /// The couplings, where the model is of that kind.
    #[must_use]
    pub fn couplings(&self) -> Option<&Couplings> {
        self.couplings.as_ref()
    }

    /// The rows of W that are conjugates of others.
    #[must_use]
    pub fn folded(&self) -> &Folded {
        &self.folded
    }

    /// The bytes of a model of this form. `signals` are those on which combinations must be right.
    ///
    /// # Errors
    /// W cannot take this form.
    pub fn form(&self, form: &Form, signals: Option<&Orbits>) -> Result<Vec<u8>> {
        let Form {
            encoding,
            structure,
            pairs,
        } = form;
        let pairs = pairs.as_deref();
        if let Some(couplings) = &self.couplings {
            return self.coupled(couplings, *encoding, *structure, pairs);
        }
        match *structure {
            Structure::Couplings => {
                let what = "it has a W, and no couplings";
                Err(self.refuse(what, "take the dense structure"))
            }
            Structure::Dense => self.write(*encoding, &self.w, None, pairs),
            Structure::Conjugates => {
                if self.folded.is_identity() {
                    let remedy = "take the dense structure";
                    return Err(self.refuse("no row of W is the conjugate of another", remedy));
                }
                // The conjugate right behind its row, so that the core computes their products once.
                let order = self.folded.together();
                let w = self.w.select(Axis(0), &order);
                let pairs = pairs.map(|pairs| renumbered(pairs, &order));
                let folded = Folded::of(&w.view());
                let folding = Folding {
                    folded: &folded,
                    combination: None,
                };
                self.write(*encoding, &w, Some(folding), pairs.as_deref())
            }
            Structure::Combined(terms) => {
                let folding = Folding {
                    folded: &self.folded,
                    combination: Some(Combination { terms, signals }),
                };
                self.write(*encoding, &self.w, Some(folding), pairs)
            }
            Structure::Cyclic(transform) => self.cyclic_form(*encoding, transform, pairs),
        }
    }

    /// The bytes of a model with the invariants of orders one to four of the group behind W, as couplings.
    ///
    /// # Errors
    /// There is no such group, or it has too many elements.
    pub fn of_fourth_order(&self, encoding: Encoding) -> Result<Vec<u8>> {
        let Some(cyclic) = &self.cyclic else {
            let what = "its rows are not the characters of a finite commutative group";
            return Err(self.refuse(what, "leave the order at three"));
        };
        let couplings = fourth_order(cyclic.identification()).map_err(|_| {
            let what = "invariants of fourth order are listed for groups of 2 to 256 elements";
            self.refuse(what, "leave the order at three")
        })?;
        couplings::encode(&couplings, encoding, &self.name, self.group.as_deref())
    }

    /// A model of couplings stays one.
    fn coupled(
        &self,
        couplings: &Couplings,
        encoding: Encoding,
        structure: Structure,
        terms: Option<&[(usize, usize)]>,
    ) -> Result<Vec<u8>> {
        if structure != Structure::Couplings {
            let what = format!("its invariants are couplings, which have no {structure} structure");
            return Err(self.refuse(what, "leave the structure as it is"));
        }
        let chosen = match terms {
            Some(terms) => {
                let numbers: Vec<usize> = terms.iter().map(|&(term, _)| term).collect();
                &couplings.select(&numbers)?
            }
            None => couplings,
        };
        couplings::encode(chosen, encoding, &self.name, self.group.as_deref())
    }

    fn cyclic_form(
        &self,
        encoding: Encoding,
        transform: Transform,
        pairs: Option<&[(usize, usize)]>,
    ) -> Result<Vec<u8>> {
        let Some(cyclic) = &self.cyclic else {
            let what = "its rows are not the characters of a finite commutative group";
            return Err(self.refuse(what, "take the dense structure, or combined:4"));
        };
        if !matches!(encoding, Encoding::F32 | Encoding::I32) {
            let what = format!("{encoding} has nothing to encode in a model that stores no W");
            return Err(self.refuse(
                what,
                "leave the encoding at f32, take i32, or take the dense structure",
            ));
        }
        if transform == Transform::Fft && !cyclic.is_fast() {
            let (least, most) = (FFT_FACTORS.start(), FFT_FACTORS.end());
            let what = format!("no factor of its group is a power of two of {least} to {most}");
            return Err(self.refuse(what, "take the cyclic structure"));
        }
        let listed = pairs.map(|pairs| listed(&renumbered(pairs, cyclic.order())));
        let (floats, whole) = (cyclic.roots(), cyclic.whole_roots());
        self.encode(&Parts {
            structure: cyclic.structure(transform),
            pairs: pair_list(listed.as_deref()),
            weights: match encoding {
                Encoding::I32 => Weights::I32 {
                    roots: (&whole).into(),
                    // Root number 0.
                    amplitude: floats[0],
                },
                _ => Weights::F32((&floats).into()),
            },
            ..self.parts()
        })
    }

    /// A model with a W, of which the folded rows are stored, and their combinations where they are wanted.
    fn write(
        &self,
        encoding: Encoding,
        w: &Array2<Complex32>,
        folding: Option<Folding<'_>>,
        pairs: Option<&[(usize, usize)]>,
    ) -> Result<Vec<u8>> {
        let stored = folding
            .as_ref()
            .map(|folding| folding.folded.rows(&w.view()));
        let stored = stored.as_ref().unwrap_or(w);
        if encoding == Encoding::I32 {
            let what = "i32 is an encoding of a group's roots of unity, and this structure has a W";
            return Err(self.refuse(what, "take the structure fft or cyclic, or encode W as i8"));
        }
        let encoded = Encoded::new(encoding, &stored.view())?;
        let (listed, table) = (
            pairs.map(listed),
            folding.as_ref().map(|folding| folding.folded.table()),
        );
        let all: Vec<(usize, usize)>;
        let combined = match folding.and_then(|folding| folding.combination) {
            Some(Combination { terms, signals }) => {
                let rounded = self.rounded(&encoded, stored)?;
                all = bispectral_core::pairs(w.nrows()).collect();
                let products = Products {
                    w: w.view(),
                    stored: rounded.view(),
                    pairs: pairs.unwrap_or(&all),
                    terms,
                    signals,
                };
                Some(products.combine()?)
            }
            None => None,
        };
        let structure = match (&table, &combined) {
            (None, _) => format::Structure::Dense,
            (Some(rows), None) => format::Structure::Conjugates { rows: rows.into() },
            (Some(rows), Some(combined)) => combined.structure(rows),
        };
        self.encode(&Parts {
            structure,
            pairs: pair_list(listed.as_deref()),
            weights: encoded.weights(),
            ..self.parts()
        })
    }

    /// The stored rows as the core will read them.
    fn rounded(&self, encoded: &Encoded, stored: &Array2<Complex32>) -> Result<Array2<Complex32>> {
        let bytes = self.encode(&Parts {
            rows: dimension(stored.nrows()),
            weights: encoded.weights(),
            ..self.parts()
        })?;
        let model = Model::from_bytes(&bytes).map_err(|error| Error::model(&self.path, error))?;
        Ok(file::weights(&model))
    }

    /// What all forms have in common.
    fn parts(&self) -> Parts<'_> {
        Parts {
            inputs: dimension(self.w.ncols()),
            rows: dimension(self.w.nrows()),
            name: &self.name,
            group: self.group.as_deref(),
            ..Parts::default()
        }
    }

    fn encode(&self, parts: &Parts<'_>) -> Result<Vec<u8>> {
        file::encode(parts).map_err(|error| Error::model(&self.path, error))
    }

    fn refuse(&self, what: impl Into<String>, remedy: &str) -> Error {
        Error::file(&self.path, what, remedy)
    }
}

/// Which rows are stored, and of how many of them products are combined.
struct Folding<'a> {
    folded: &'a Folded,
    combination: Option<Combination<'a>>,
}

/// K, and the signals on which the error counts.
struct Combination<'a> {
    terms: u8,
    signals: Option<&'a Orbits>,
}

/// Weights as a model stores them.
enum Encoded {
    F32(Vec<f32>),
    F16(Vec<u16>),
    I8(Integers),
}

impl Encoded {
    fn new(encoding: Encoding, w: &ArrayView2<'_, Complex32>) -> Result<Self> {
        Ok(match encoding {
            Encoding::F32 | Encoding::I32 => Encoded::F32(file::planar(w)),
            Encoding::F16 => Encoded::F16(halves(w)?),
            Encoding::I8 => Encoded::I8(integers(w)?),
        })
    }

    fn weights(&self) -> Weights<'_> {
        match self {
            Encoded::F32(weights) => Weights::F32(weights.into()),
            Encoded::F16(weights) => Weights::F16(weights.into()),
            Encoded::I8(integers) => integers.weights(),
        }
    }
}

/// Pairs as a model lists them.
fn listed(pairs: &[(usize, usize)]) -> Vec<(u16, u16)> {
    let narrow = |&(i, j): &(usize, usize)| (i as u16, j as u16);
    pairs.iter().map(narrow).collect()
}

/// All pairs where none are listed.
fn pair_list(listed: Option<&[(u16, u16)]>) -> PairList<'_> {
    listed.map_or(PairList::All, |pairs| PairList::Listed(pairs.into()))
}

/// The same pairs of rows where `order` says which row stands at each place now.
fn renumbered(pairs: &[(usize, usize)], order: &[usize]) -> Vec<(usize, usize)> {
    let mut place = vec![0; order.len()];
    for (now, &before) in order.iter().enumerate() {
        place[before] = now;
    }
    let moved = pairs.iter().map(|&(i, j)| {
        let (i, j) = (place[i], place[j]);
        (i.min(j), i.max(j))
    });
    let mut moved: Vec<(usize, usize)> = moved.collect();
    moved.sort_unstable();
    moved
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encoding::F32 => "f32",
            Encoding::F16 => "f16",
            Encoding::I8 => "i8",
            Encoding::I32 => "i32",
        })
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Structure::Dense => f.write_str("dense"),
            Structure::Conjugates => f.write_str("conjugates"),
            Structure::Combined(terms) => write!(f, "combined:{terms}"),
            Structure::Cyclic(Transform::Fft) => f.write_str("fft"),
            Structure::Cyclic(_) => f.write_str("cyclic"),
            Structure::Couplings => f.write_str("couplings"),
        }
    }
}
