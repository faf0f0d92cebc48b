//! Orbits of signals: what a group makes of one exemplar, or samples whose labels say that they belong together.
//!
//! Members are made when they are asked for, from the exemplars and the transformation.

use super::group::Group;
use super::noise::Noise;
use super::random::{Purpose, stream};
use super::transform::Action;
use super::{samples, support};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView1};
use rand::RngExt;
use rand_distr::StandardNormal;
use std::collections::HashMap;
use std::sync::Arc;

pub use super::split::Split;
pub use super::transform::Transform;

/// A pair needs two: members of an orbit, and orbits.
pub(super) const LEAST: usize = 2;

/// Some orbits, all of signals of one length.
///
/// ```
/// use bispectral::data::orbits::{Orbits, Split};
///
/// let orbits = Orbits::of_group(&"Z4xZ2".parse()?, 100, 0);
/// assert_eq!((orbits.inputs(), orbits.len(), orbits.members(0)), (8, 100, 8));
/// let (training, held_out) = orbits.split(Split::Transforms, 0.2, 0)?;
/// assert_eq!((training.members(0), held_out.members(0)), (6, 2));
///
/// let mut x = [0.0; 8];
/// held_out.write_member(0, 1, &mut x);
/// # Ok::<(), bispectral::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Orbits {
    pub(super) samples: Arc<Array2<f32>>,
    pub(super) action: Arc<Action>,
    pub(super) noise: Option<Noise>,
    pub(super) support: Option<Arc<[usize]>>,
    pub(super) orbits: Vec<Orbit>,
}

#[derive(Debug, Clone)]
pub(super) struct Orbit {
    pub(super) label: i64,
    /// The row of its exemplar.
    exemplar: usize,
    /// What the exemplar is moved by, or the rows of given samples.
    pub(super) elements: Arc<[u32]>,
}

impl Orbits {
    /// All translates of `exemplars` random functions on `group`, standard normal and independent in each element.
    ///
    /// The first functions of a seed are the same, however many there are.
    #[must_use]
    pub fn of_group(group: &Group, exemplars: usize, seed: u64) -> Self {
        let mut random = stream(seed, Purpose::Exemplars);
        let functions = Array2::from_shape_simple_fn((exemplars, group.order()), || {
            random.sample::<f64, _>(StandardNormal) as f32
        });
        let all: Arc<[u32]> = (0..group.order() as u32).collect();
        Orbits::new(
            functions,
            Action::Translate(group.clone()),
            vec![all; exemplars],
        )
    }

    /// The orbits of `exemplars`, one a row, under `transform`.
    ///
    /// # Errors
    /// There are fewer than two, the transformation is not one of signals of their length, or a row is not finite or
    /// constant.
    pub fn transformed(exemplars: Array2<f32>, transform: Transform) -> Result<Self> {
        Orbits::transformed_named("exemplars", exemplars, &transform)
    }

    /// As [`transformed`](Self::transformed), of exemplars that errors call `subject`.
    pub(crate) fn transformed_named(
        subject: &str,
        exemplars: Array2<f32>,
        transform: &Transform,
    ) -> Result<Self> {
        samples::check(subject, exemplars.view())?;
        if exemplars.nrows() < LEAST {
            return Err(Error::new(
                subject,
                format!("too few exemplars: {}", exemplars.nrows()),
                format!("give at least {LEAST}, one a row, better 100"),
            ));
        }
        let action = transform.action(subject, exemplars.ncols())?;
        transform.check(subject, exemplars.view())?;
        let elements = transform.elements(&action, exemplars.nrows())?;
        Ok(Orbits::new(exemplars, action, elements))
    }

    fn new(samples: Array2<f32>, action: Action, elements: Vec<Arc<[u32]>>) -> Self {
        let orbits = elements
            .into_iter()
            .enumerate()
            .map(|(exemplar, elements)| Orbit {
                label: exemplar as i64,
                exemplar,
                elements,
            })
            .collect();
        Orbits {
            samples: Arc::new(in_rows(samples)),
            action: Arc::new(action),
            noise: None,
            support: None,
            orbits,
        }
    }

    /// Orbits of given samples, one a row: those with the same label are one orbit. Orbits are in the order in which
    /// their labels first appear.
    ///
    /// # Errors
    /// There are more or fewer labels than samples, a label has only one sample or there is only one label, or a
    /// sample is not finite or constant.
    ///
    /// ```
    /// use bispectral::data::orbits::Orbits;
    ///
    /// let samples = ndarray::arr2(&[[1.0, 2.0], [5.0, 0.0], [2.0, 1.0], [0.0, 5.0]]);
    /// let orbits = Orbits::labelled(samples, &[7, 3, 7, 3])?;
    /// assert_eq!((orbits.len(), orbits.label(0), orbits.members(0)), (2, 7, 2));
    /// # Ok::<(), bispectral::Error>(())
    /// ```
    pub fn labelled(samples: Array2<f32>, labels: &[i64]) -> Result<Self> {
        Orbits::labelled_named(["samples", "labels"], samples, labels)
    }

    /// As [`labelled`](Self::labelled), of samples and labels that errors call by these names.
    pub(crate) fn labelled_named(
        [subject, labels_subject]: [&str; 2],
        samples: Array2<f32>,
        labels: &[i64],
    ) -> Result<Self> {
        if labels.len() != samples.nrows() {
            return Err(Error::new(
                labels_subject,
                format!("{} labels for {} samples", labels.len(), samples.nrows()),
                "give every sample the label of its orbit",
            ));
        }
        samples::check(subject, samples.view())?;
        let mut places = HashMap::new();
        let mut rows: Vec<(i64, Vec<u32>)> = Vec::new();
        for (row, &label) in labels.iter().enumerate() {
            let place = *places.entry(label).or_insert(rows.len());
            if place == rows.len() {
                rows.push((label, Vec::new()));
            }
            rows[place].1.push(row as u32);
        }
        if let Some((label, rows)) = rows.iter().find(|(_, rows)| rows.len() < LEAST) {
            return Err(Error::new(
                labels_subject,
                format!("label {label} has only one sample (row {})", rows[0]),
                "an orbit needs two or more, leave the sample out or add others",
            ));
        }
        if rows.len() < LEAST {
            return Err(Error::new(
                labels_subject,
                format!("there are too few orbits: {}", rows.len()),
                "give samples of at least two labels",
            ));
        }
        let orbits = rows
            .into_iter()
            .map(|(label, rows)| Orbit {
                label,
                exemplar: rows[0] as usize,
                elements: rows.into(),
            })
            .collect();
        Ok(Orbits {
            samples: Arc::new(in_rows(samples)),
            action: Arc::new(Action::Given),
            noise: None,
            support: None,
            orbits,
        })
    }

    /// N: the values of each signal.
    #[must_use]
    pub fn inputs(&self) -> usize {
        let support = self.support.as_ref();
        support.map_or(self.samples.ncols(), |support| support.len())
    }

    /// How many orbits there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.orbits.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.orbits.is_empty()
    }

    /// How many members `orbit` has.
    ///
    /// # Panics
    /// There is no such orbit.
    #[must_use]
    pub fn members(&self, orbit: usize) -> usize {
        self.orbits[orbit].elements.len()
    }

    /// What `orbit` is called: its label, or the row of its exemplar. A split leaves it as it is.
    ///
    /// # Panics
    /// There is no such orbit.
    #[must_use]
    pub fn label(&self, orbit: usize) -> i64 {
        self.orbits[orbit].label
    }

    /// What makes this member of the exemplar: the number of a group's element, an angle in degrees, or the row of a
    /// given sample.
    ///
    /// # Panics
    /// There is no such orbit or member.
    #[must_use]
    pub fn element(&self, orbit: usize, member: usize) -> usize {
        self.orbits[orbit].elements[member] as usize
    }

    /// What the members of `orbit` are made of; of given samples, the first.
    ///
    /// # Panics
    /// There is no such orbit.
    #[must_use]
    pub fn exemplar(&self, orbit: usize) -> ArrayView1<'_, f32> {
        self.samples.row(self.orbits[orbit].exemplar)
    }

    /// Writes the member to `out`: N values.
    ///
    /// # Panics
    /// There is no such orbit or member, or `out` is of another length.
    pub fn write_member(&self, orbit: usize, member: usize, out: &mut [f32]) {
        let Orbit {
            exemplar, elements, ..
        } = &self.orbits[orbit];
        let element = elements[member] as usize;
        match &self.support {
            None => self.write_all(*exemplar, element, out),
            Some(support) => {
                let mut all = vec![0.0; self.samples.ncols()];
                self.write_all(*exemplar, element, &mut all);
                support::gather(&all, support, out);
            }
        }
    }

    fn write_all(&self, exemplar: usize, element: usize, out: &mut [f32]) {
        self.action.write(&self.samples, exemplar, element, out);
        if let Some(noise) = &self.noise {
            noise.add(exemplar, element, out);
        }
    }

    /// Other orbits of the same samples.
    pub(super) fn with(&self, orbits: Vec<Orbit>) -> Self {
        Orbits {
            samples: Arc::clone(&self.samples),
            action: Arc::clone(&self.action),
            noise: self.noise,
            support: self.support.clone(),
            orbits,
        }
    }
}

impl Orbit {
    /// Other members of the same exemplar.
    pub(super) fn with(&self, elements: Vec<u32>) -> Self {
        Orbit {
            elements: elements.into(),
            ..*self
        }
    }
}

/// Row after row, as members are read.
fn in_rows(samples: Array2<f32>) -> Array2<f32> {
    if samples.is_standard_layout() {
        return samples;
    }
    samples.as_standard_layout().into_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in crate::data) fn member(orbits: &Orbits, orbit: usize, member: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; orbits.inputs()];
        orbits.write_member(orbit, member, &mut out);
        out
    }

    proptest! {
        #[test]
        fn translates_are_related_by_the_group(
            factors in prop::collection::vec(1_usize..=5, 1..=4), a: usize, b: usize, seed: u64,
        ) {
            let group = Group::new(factors).unwrap();
            let orbits = Orbits::of_group(&group, 1, seed);
            let (a, b) = (a % group.order(), b % group.order());
            let (f, once) = (orbits.exemplar(0), member(&orbits, 0, a));
            for h in 0..group.order() {
                prop_assert_eq!(once[h], f[group.add(h, group.negate(a))]);
            }
            let again = Orbits::new(
                Array2::from_shape_vec((1, group.order()), once).unwrap(),
                Action::Translate(group.clone()),
                vec![[b as u32].into()],
            );
            prop_assert_eq!(member(&again, 0, 0), member(&orbits, 0, group.add(a, b)));
        }
    }

    #[test]
    fn labelled_samples_are_kept_in_the_order_of_their_labels() {
        let samples = Array2::from_shape_fn((6, 3), |(row, column)| (10 * row + column) as f32);
        // In Fortran order, as a transposed array is.
        let samples = samples
            .t()
            .as_standard_layout()
            .into_owned()
            .reversed_axes();
        let orbits = Orbits::labelled(samples, &[5, -1, 5, 9, 9, -1]).unwrap();
        let labels: Vec<i64> = (0..3).map(|orbit| orbits.label(orbit)).collect();
        assert_eq!(labels, [5, -1, 9]);
        assert_eq!(member(&orbits, 0, 1), [20.0, 21.0, 22.0]);
        assert_eq!(member(&orbits, 1, 1), [50.0, 51.0, 52.0]);
    }

    #[test]
    fn random_functions_are_standard_normal_and_a_function_of_the_seed() {
        let group: Group = "Z16".parse().unwrap();
        let orbits = Orbits::of_group(&group, 1000, 4);
        let values = orbits.samples.mapv(f64::from);
        let mean = values.mean().unwrap();
        // 16,000 numbers: four standard errors.
        assert!(mean.abs() < 0.032, "{mean}");
        assert!((values.var(0.0) - 1.0).abs() < 0.045, "{}", values.var(0.0));
        let fewer = Orbits::of_group(&group, 10, 4);
        assert_eq!(fewer.exemplar(9), orbits.exemplar(9));
        assert_ne!(
            fewer.exemplar(9),
            Orbits::of_group(&group, 10, 5).exemplar(9)
        );
    }

    #[test]
    fn what_makes_no_orbits_is_refused_in_one_line() {
        let numbers =
            |rows| Array2::from_shape_fn((rows, 2), |(row, column)| (row + column) as f32);
        let labelled = |labels: &[i64]| Orbits::labelled(numbers(4), labels);
        let transformed = |rows| Orbits::transformed(numbers(rows), Transform::Translate1d);
        for (result, refusal) in [
            (labelled(&[1, 1, 2]), "labels: 3 labels for 4 samples: "),
            (
                labelled(&[1, 1, 1, 8]),
                "labels: label 8 has only one sample (row 3): ",
            ),
            (
                labelled(&[1, 1, 1, 1]),
                "labels: there are too few orbits: 1: ",
            ),
            (transformed(1), "exemplars: too few exemplars: 1: "),
            (transformed(0), "exemplars: too few exemplars: 0: "),
        ] {
            let line = result.unwrap_err().to_string();
            assert!(line.starts_with(refusal), "{line}");
            assert!(!line.contains('\n'));
        }
    }
}
