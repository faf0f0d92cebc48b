//! Structure `cyclic`: W as characters of a product of cyclic groups, of which only the roots of unity are stored.
//!
//! W_in = a·exp(−2πi Σ_f k_f g_f / m_f) with k the character of row i and g the element at which input n stands.

use super::file;
use super::form::Encoding;
use crate::group::identify::{Identification, identify};
use bispectral_core::format::{Parts, Structure, Transform, Weights};
use bispectral_core::{Complex32, Error, Model};
use ndarray::{ArrayView2, Axis, concatenate};
use std::f64::consts::TAU;

/// A model's rows and inputs in the group behind it.
#[derive(Debug, Clone)]
pub struct Cyclic {
    found: Identification,
    order: Vec<usize>,
    factors: Vec<u16>,
    characters: Vec<u16>,
    elements: Vec<u16>,
}

impl Cyclic {
    /// The group whose characters the rows of W are: all of them, or at least one of each conjugate pair.
    ///
    /// ```
    /// use bispectral_learn::{data::group::Group, model::cyclic::Cyclic};
    /// # use num_complex::Complex32;
    ///
    /// let w = "Z8".parse::<Group>()?.characters().mapv(|w| Complex32::new(w.re as f32, w.im as f32));
    /// let half = w.slice(ndarray::s![..5, ..]);
    /// assert_eq!(Cyclic::of(&half).unwrap().identification().group.to_string(), "Z8");
    /// assert!(Cyclic::of(&w.slice(ndarray::s![..4, ..])).is_none());
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    #[must_use]
    pub fn of(w: &ArrayView2<'_, Complex32>) -> Option<Self> {
        let found = identify(w).ok().or_else(|| identify_half(w))?;
        let narrow = |numbers: &[usize]| -> Vec<u16> {
            numbers.iter().map(|&number| number as u16).collect()
        };
        let mut order: Vec<usize> = (0..w.nrows()).collect();
        order.sort_by_key(|&row| found.characters[row]);
        let ascending: Vec<usize> = order.iter().map(|&row| found.characters[row]).collect();
        Some(Cyclic {
            factors: narrow(found.group.factors()),
            characters: narrow(&ascending),
            elements: narrow(&found.positions),
            order,
            found,
        })
    }

    /// What was found: of the rows of W alone.
    #[must_use]
    pub fn identification(&self) -> &Identification {
        &self.found
    }

    /// Which row of W stands at each place of the model: ascending in their characters, of which the core computes runs.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Whether there is a factor for the fast transform.
    #[must_use]
    pub fn is_fast(&self) -> bool {
        let fast = |&factor: &u16| Transform::Fft.is_fast(factor);
        self.factors.iter().any(fast)
    }

    /// The section of a model.
    #[must_use]
    pub fn structure(&self, transform: Transform) -> Structure<'_> {
        Structure::Cyclic {
            transform,
            factors: (&self.factors).into(),
            characters: (&self.characters).into(),
            elements: (&self.elements).into(),
        }
    }

    /// The weights of the model: the roots of unity at the length that makes rows of unit length.
    #[must_use]
    pub fn roots(&self) -> Vec<f32> {
        let length = (self.found.positions.len() as f64).sqrt();
        let roots = self.found.group.roots();
        let re = roots.iter().map(|root| root.re / length);
        let im = roots.iter().map(|root| root.im / length);
        re.chain(im).map(|part| part as f32).collect()
    }

    /// The same of length 1, as whole numbers in 2^-30.
    #[must_use]
    pub fn whole_roots(&self) -> Vec<i32> {
        let roots = self.found.group.roots();
        let re = roots.iter().map(|root| root.re);
        let im = roots.iter().map(|root| root.im);
        re.chain(im).map(whole).collect()
    }
}

/// A model of this structure with its roots in the other encoding, f32 or i32, and all else as it is: a classifier behind it
/// stays. `None` of a model with another structure, and for another encoding.
///
/// # Errors
/// What the core has against it.
pub fn encoded(model: &Model<'_>, encoding: Encoding) -> Option<Result<Vec<u8>, Error>> {
    let parts = model.parts();
    let Structure::Cyclic { factors, .. } = parts.structure else {
        return None;
    };
    let exponent = factors.iter().map(usize::from).fold(1, common_multiple);
    let amplitude = match parts.weights {
        Weights::I32 { amplitude, .. } => amplitude,
        Weights::F32(roots) => roots.get(0)?,
        _ => return None,
    };
    let angle = |t: usize| -TAU * t as f64 / exponent as f64;
    let re = (0..exponent).map(|t| angle(t).cos());
    let roots: Vec<f64> = re.chain((0..exponent).map(|t| angle(t).sin())).collect();
    let floats: Vec<f32> = (roots.iter())
        .map(|root| (f64::from(amplitude) * root) as f32)
        .collect();
    let whole: Vec<i32> = roots.iter().map(|root| whole(*root)).collect();
    let weights = match encoding {
        Encoding::F32 => Weights::F32((&floats).into()),
        Encoding::I32 => Weights::I32 {
            roots: (&whole).into(),
            amplitude,
        },
        _ => return None,
    };
    Some(file::encode(&Parts { weights, ..parts }))
}

/// The least of two numbers.
fn common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// In 2^-30.
fn whole(root: f64) -> i32 {
    (root * f64::from(1 << 30)).round() as i32
}

/// The group of W together with the conjugates of its rows, as far as rows of W go.
fn identify_half(w: &ArrayView2<'_, Complex32>) -> Option<Identification> {
    let rows = w.nrows();
    let conjugate = w.mapv(|w| w.conj());
    // A row that is like its conjugate, up to a phase, is its own.
    let lacking: Vec<usize> = (0..rows)
        .filter(|&row| (0..rows).all(|other| !alike(&conjugate, row, w, other)))
        .collect();
    let whole = concatenate![Axis(0), *w, conjugate.select(Axis(0), &lacking)];
    let mut found = identify(&whole.view()).ok()?;
    // Whatever a conjugate generates, its row generates.
    for generator in &mut found.generators {
        if let Some(of) = generator.checked_sub(rows) {
            *generator = lacking[of];
        }
    }
    found.characters.truncate(rows);
    found.overlaps.truncate(rows);
    found.known = rows;
    Some(found)
}

/// Whether two rows are the same but for a phase and a length: |⟨a, b⟩|² is nearly ‖a‖²‖b‖².
fn alike(
    a: &ndarray::Array2<Complex32>,
    i: usize,
    b: &ArrayView2<'_, Complex32>,
    j: usize,
) -> bool {
    let (a, b) = (a.row(i), b.row(j));
    let inner: Complex32 = a.iter().zip(&b).map(|(a, b)| a * b.conj()).sum();
    let power =
        |row: &ndarray::ArrayView1<'_, Complex32>| row.iter().map(|w| w.norm_sqr()).sum::<f32>();
    // As for equal rows in `identify`.
    inner.norm_sqr() > 0.81 * power(&a) * power(&b)
}
