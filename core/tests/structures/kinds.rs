//! Models of every kind of structure, and what the equations say of them.

use bispectral_core::format::{PairList, Parts, Structure, Transform, Weights};
use bispectral_core::{Complex32, Error, Model};
use num_complex::Complex64;
use std::f64::consts::TAU;

/// Half a unit in the last place of an f32 between 1 and 2.
pub(crate) const U: f64 = 1.0 / (1 << 24) as f64;

/// Pairs as a model lists them.
pub(crate) fn listed(pairs: &[(usize, usize)]) -> Vec<(u16, u16)> {
    let pair = |&(i, j): &(usize, usize)| (i as u16, j as u16);
    pairs.iter().map(pair).collect()
}

/// All pairs where none are listed.
pub(crate) fn pair_list(pairs: &[(u16, u16)]) -> PairList<'_> {
    match pairs {
        [] => PairList::All,
        pairs => PairList::Listed(pairs.into()),
    }
}

pub(crate) fn bytes(parts: &Parts<'_>) -> Vec<u8> {
    let mut bytes = vec![0; parts.encoded_len().expect("parts that fit together")];
    parts.write(&mut bytes).expect("room for it");
    bytes
}

/// Characters of a product of cyclic groups, and elements.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) factors: Vec<usize>,
    pub(crate) characters: Vec<usize>,
    pub(crate) elements: Vec<usize>,
    pub(crate) a: f32,
    pub(crate) transform: Transform,
    /// Encoding i32.
    pub(crate) whole: bool,
}

impl Group {
    /// All characters and elements.
    pub(crate) fn whole(factors: &[usize]) -> Group {
        let order = factors.iter().product();
        Group {
            factors: factors.to_vec(),
            characters: (0..order).collect(),
            elements: (0..order).collect(),
            a: 1.0 / (order as f32).sqrt(),
            transform: Transform::Sums,
            whole: false,
        }
    }

    pub(crate) fn order(&self) -> usize {
        self.factors.iter().product()
    }

    /// a + b, coordinate by coordinate.
    pub(crate) fn add(&self, mut a: usize, mut b: usize) -> usize {
        let (mut sum, mut stride) = (0, 1);
        for m in self.factors.iter().rev() {
            sum += stride * ((a + b) % m);
            (a, b, stride) = (a / m, b / m, stride * m);
        }
        sum
    }

    /// exp(−2πi t/e), the real parts first.
    fn roots(&self) -> Vec<f64> {
        let e = (1..)
            .find(|e| self.factors.iter().all(|m| e % m == 0))
            .unwrap();
        let angle = |t: usize| TAU * t as f64 / e as f64;
        let re = (0..e).map(|t| angle(t).cos());
        re.chain((0..e).map(|t| -angle(t).sin())).collect()
    }

    /// The model of these pairs, all where there are none.
    pub(crate) fn model(&self, pairs: &[(usize, usize)]) -> Vec<u8> {
        let roots = self.roots();
        if self.whole {
            let whole = |root: &f64| (root * f64::from(1 << 30)).round() as i32;
            let roots: Vec<i32> = roots.iter().map(whole).collect();
            let (roots, amplitude) = ((&roots[..]).into(), self.a);
            return self.with(Weights::I32 { roots, amplitude }, pairs);
        }
        let scaled = |root: &f64| (f64::from(self.a) * root) as f32;
        let roots: Vec<f32> = roots.iter().map(scaled).collect();
        self.with(Weights::F32((&roots[..]).into()), pairs)
    }

    fn with(&self, weights: Weights<'_>, pairs: &[(usize, usize)]) -> Vec<u8> {
        let numbers = |table: &Vec<usize>| table.iter().map(|k| *k as u16).collect::<Vec<_>>();
        let [factors, characters, elements] =
            [&self.factors, &self.characters, &self.elements].map(numbers);
        let pairs = listed(pairs);
        bytes(&Parts {
            inputs: self.elements.len() as u16,
            rows: self.characters.len() as u16,
            pairs: pair_list(&pairs),
            structure: Structure::Cyclic {
                transform: self.transform,
                factors: (&factors[..]).into(),
                characters: (&characters[..]).into(),
                elements: (&elements[..]).into(),
            },
            weights,
            ..Parts::default()
        })
    }
}

/// W as the model has it.
pub(crate) fn weights(model: &Model<'_>) -> Vec<Complex32> {
    let weight = |i, n| model.weight(i, n).expect("a weight");
    (0..model.rows())
        .flat_map(|i| (0..model.inputs()).map(move |n| weight(i, n)))
        .collect()
}

/// z and β by the equations, from the weights of the model, for a signal.
pub(crate) fn exact(model: &Model<'_>, x: &[f32]) -> (Vec<Complex64>, Vec<Complex64>) {
    let wide = |w: &Complex32| Complex64::new(w.re.into(), w.im.into());
    let w: Vec<Complex64> = weights(model).iter().map(wide).collect();
    let row = |i: usize| &w[i * x.len()..(i + 1) * x.len()];
    let z: Vec<Complex64> = (0..model.rows())
        .map(|i| row(i).iter().zip(x).map(|(w, x)| w * f64::from(*x)).sum())
        .collect();
    let product = |i: usize, j: usize| -> Complex64 {
        let terms = row(i).iter().zip(row(j)).zip(x);
        terms.map(|((a, b), x)| a * b * f64::from(*x)).sum()
    };
    let beta = model
        .pair_list()
        .map(|(i, j)| z[i] * z[j] * product(i, j).conj());
    let beta = beta.collect();
    (z, beta)
}

/// z and β as the model computes them, in scratch that was never written.
pub(crate) fn computed(model: &Model<'_>, x: &[f32]) -> [Vec<Complex32>; 2] {
    let mut scratch = vec![f32::NAN; model.scratch_len()];
    let mut z = vec![Complex32::ZERO; model.rows()];
    let mut beta = vec![Complex32::ZERO; model.pairs()];
    model.coefficients(x, &mut scratch, &mut z).unwrap();
    model.bispectrum(x, &mut scratch, &mut beta).unwrap();
    [z, beta]
}

/// β̄.
pub(crate) fn invariants(model: &Model<'_>, x: &[f32]) -> Result<Vec<Complex32>, Error> {
    let mut scratch = vec![f32::NAN; model.scratch_len()];
    let mut out = vec![Complex32::ZERO; model.pairs()];
    model.invariants(x, &mut scratch, &mut out)?;
    Ok(out)
}
