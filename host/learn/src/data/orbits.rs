//! Orbits of signals: what a group makes of one exemplar, or samples whose labels say that they belong together.
//!
//! Members are made when they are asked for, from the exemplars and the transformation.

use super::group::Group;
use super::noise::Noise;
use super::remark::Remark;
use super::transform::Action;
use super::{samples, support};
use crate::limits::interruption;
use crate::numeric::random::{Purpose, stream};
use ndarray::{Array2, ArrayView1, CowArray, Ix2};
use rand::RngExt;
use rand_distr::StandardNormal;
use std::collections::HashMap;
use std::sync::Arc;

use super::orbits_error::LEAST;
pub use super::orbits_error::OrbitsError;
pub use super::split::Split;
pub use super::transform::{Motion, Transform};

type Result<T> = std::result::Result<T, OrbitsError>;

/// Some orbits, all of signals of one length.
///
/// ```
/// use bispectral_learn::data::orbits::{Orbits, Split};
///
/// let orbits = Orbits::of_group(&"Z4xZ2".parse()?, 100, 0);
/// assert_eq!((orbits.inputs(), orbits.len(), orbits.members(0)), (8, 100, 8));
/// let (training, held_out) = orbits.split(Split::Transforms, 0.2, 0)?;
/// assert_eq!((training.members(0), held_out.members(0)), (6, 2));
///
/// let mut x = [0.0; 8];
/// held_out.write_member(0, 1, &mut x);
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Orbits {
    pub(super) samples: Arc<Array2<f32>>,
    pub(super) action: Arc<Action>,
    pub(super) noise: Option<Noise>,
    pub(super) support: Option<Arc<[usize]>>,
    pub(super) orbits: Vec<Orbit>,
    /// Height and width, where samples are known to be images.
    pub(super) image: Option<(usize, usize)>,
    pub(super) remarks: Vec<Remark>,
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
    pub fn transformed<'a>(
        exemplars: impl Into<CowArray<'a, f32, Ix2>>,
        transform: Transform,
    ) -> Result<Self> {
        let exemplars = exemplars.into();
        samples::check(exemplars.view())?;
        if exemplars.nrows() < LEAST {
            return Err(OrbitsError::TooFewExemplars {
                found: exemplars.nrows(),
            });
        }
        let action = transform.action(exemplars.ncols())?;
        transform.check(exemplars.view())?;
        let elements = transform.elements(&action, exemplars.nrows())?;
        Ok(Orbits::new(exemplars.into_owned(), action, elements))
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
            image: None,
            remarks: Vec::new(),
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
    /// use bispectral_learn::Orbits;
    ///
    /// let samples = ndarray::arr2(&[[1.0, 2.0], [5.0, 0.0], [2.0, 1.0], [0.0, 5.0]]);
    /// let orbits = Orbits::labelled(&samples, &[7, 3, 7, 3])?;
    /// assert_eq!((orbits.len(), orbits.label(0), orbits.members(0)), (2, 7, 2));
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    pub fn labelled<'a>(
        samples: impl Into<CowArray<'a, f32, Ix2>>,
        labels: &[i64],
    ) -> Result<Self> {
        let samples = samples.into();
        if labels.len() != samples.nrows() {
            return Err(OrbitsError::LabelCount {
                labels: labels.len(),
                samples: samples.nrows(),
            });
        }
        samples::check(samples.view())?;
        let mut numbers = HashMap::new();
        let mut rows: Vec<(i64, Vec<u32>)> = Vec::new();
        for (row, &label) in labels.iter().enumerate() {
            let number = *numbers.entry(label).or_insert(rows.len());
            if number == rows.len() {
                rows.push((label, Vec::new()));
            }
            rows[number].1.push(row as u32);
        }
        if let Some((label, rows)) = rows.iter().find(|(_, rows)| rows.len() < LEAST) {
            return Err(OrbitsError::OneMember {
                label: *label,
                row: rows[0] as usize,
            });
        }
        if rows.len() < LEAST {
            return Err(OrbitsError::TooFewOrbits { found: rows.len() });
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
            samples: Arc::new(in_rows(samples.into_owned())),
            action: Arc::new(Action::Given),
            noise: None,
            support: None,
            orbits,
            image: None,
            remarks: Vec::new(),
        })
    }

    /// Orbits of samples that come one by one, each with the label of its orbit.
    ///
    /// # Errors
    /// Those of [`labelled`](Self::labelled), and samples of different lengths.
    ///
    /// ```
    /// use bispectral_learn::Orbits;
    ///
    /// let measured = (0..40).map(|k| (k / 10, vec![k as f32, (k * k % 7) as f32, -1.0]));
    /// assert_eq!(Orbits::from_samples(measured)?.len(), 4);
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    pub fn from_samples<S: AsRef<[f32]>>(
        samples: impl IntoIterator<Item = (i64, S)>,
    ) -> Result<Self> {
        let (mut labels, mut values, mut length) = (Vec::new(), Vec::new(), None);
        for (row, (label, sample)) in samples.into_iter().enumerate() {
            let sample = sample.as_ref();
            let expected = *length.get_or_insert(sample.len());
            if sample.len() != expected {
                return Err(OrbitsError::Lengths {
                    row,
                    found: sample.len(),
                    expected,
                });
            }
            labels.push(label);
            values.extend_from_slice(sample);
        }
        let shape = (labels.len(), length.unwrap_or(0));
        let samples = Array2::from_shape_vec(shape, values).expect("rows of one length");
        Orbits::labelled(samples, &labels)
    }

    /// Orbits as slices of their members, numbered from zero.
    ///
    /// # Errors
    /// Those of [`from_samples`](Self::from_samples).
    ///
    /// ```
    /// use bispectral_learn::Orbits;
    ///
    /// let orbits = Orbits::from_members(&[[[1.0, 2.0], [2.0, 1.0]], [[5.0, 0.0], [0.0, 5.0]]])?;
    /// assert_eq!((orbits.len(), orbits.members(1), orbits.inputs()), (2, 2, 2));
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    pub fn from_members<O: AsRef<[S]>, S: AsRef<[f32]>>(orbits: &[O]) -> Result<Self> {
        let members = (0..).zip(orbits).flat_map(|(label, orbit)| {
            let members = orbit.as_ref().iter();
            members.map(move |member| (label, member))
        });
        Orbits::from_samples(members)
    }

    /// The same, of samples that are images.
    #[must_use]
    pub fn of_images(self, height: usize, width: usize) -> Self {
        Orbits {
            image: Some((height, width)),
            ..self
        }
    }

    /// Height and width, where samples are known to be images.
    #[must_use]
    pub fn image(&self) -> Option<(usize, usize)> {
        self.image
    }

    /// The same, of data about which this was noticed.
    pub(super) fn remarked(self, remarks: Vec<Remark>) -> Self {
        Orbits { remarks, ..self }
    }

    /// What was noticed about the files that they were read from.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// How members of an orbit are related, as far as it is known: what training begins with depends on it.
    #[must_use]
    pub fn motion(&self) -> Motion {
        match &*self.action {
            Action::Given => Motion::Unknown,
            Action::Translate(_) => Motion::Translation,
            Action::Rotate(_) => Motion::Rotation,
        }
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
        interruption::check();
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
            image: self.image,
            remarks: Vec::new(),
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
            (
                Orbits::from_members(&[vec![[1.0, 2.0].as_slice(), &[1.0]]]),
                "samples: row 1 has 1 values, the rows before it 2: ",
            ),
            (
                Orbits::from_members::<[[f32; 2]; 0], _>(&[]),
                "samples: samples of 0 values",
            ),
        ] {
            let line = result.unwrap_err().to_string();
            assert!(line.starts_with(refusal), "{line}");
            assert!(!line.contains('\n'));
        }
    }
}
