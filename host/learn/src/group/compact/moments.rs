//! Sums over samples from which a compact group is learned: they are added in chunks, and those of several machines together.
//!
//! For an orbit o whose members are y, S_o = Σ y yᵀ commutes with every orthogonal g that moves the orbit as a whole. What is
//! kept of any number of orbits are the S of [buckets](Moments::buckets): an orbit belongs to the bucket that its label hashes
//! to, and a sum of S_o commutes as each S_o does. Each bucket is kept in [`PARTS`], to which the hash of a sample's own bits
//! assigns it: the errors of two parts (members that are missing, noise) are independent, and no order of samples changes who
//! belongs where.
//!
//! Beside the sums some orbits are kept whole, as far as [`KEPT`] numbers go: those whose labels have the smallest hashes, so
//! that they do not depend on the order either. Couplings are found from them.
//!
//! **The order.** Each sum adds products of [`ROWS`] samples, in the order in which they arrive in their bucket and part; so the
//! bits depend on the order of samples, and neither on how they are cut into chunks nor on the number of threads.

mod bytes;

use crate::Error;
use crate::data::orbits::Orbits;
use crate::limits::interruption;
use crate::numeric::matrix::{matrix, matrix_mut, multiply_add};
use faer::Mat;
use ndarray::{ArrayView2, Axis};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt;

/// The most inputs: the sums of so many take half a gigabyte.
pub const MOST_INPUTS: usize = 512;
/// Into how many parts the members of orbits are divided.
pub const PARTS: usize = 4;
/// How many numbers of samples are kept beside the sums.
pub const KEPT: usize = 1 << 23;
/// How many members of an orbit are kept beside the sums: the first.
pub const KEPT_MEMBERS: usize = 512;
/// Samples whose products are added at a time.
const ROWS: usize = 64;
/// Numbers that the sums of all buckets may have, where that leaves [`LEAST_BUCKETS`].
const NUMBERS: usize = 1 << 25;
const LEAST_BUCKETS: usize = 64;
const MOST_BUCKETS: usize = 512;
/// Samples of [`Moments::of`] that are held at a time.
const CHUNK: usize = 8192;

/// Second moments of orbits, and some of their members.
///
/// ```
/// use bispectral_learn::group::compact::Moments;
/// use bispectral_learn::ndarray::array;
///
/// let mut here = Moments::new(2)?;
/// here.add(array![[1.0, 2.0], [2.0, 1.0]].view(), &[7, 7])?;
/// let mut there = Moments::new(2)?;
/// there.add(array![[0.0, 3.0]].view(), &[7])?;
/// here.merge(there)?;
/// assert_eq!((here.count(), here.total()[(1, 1)]), (3, 14.0));
/// # Ok::<(), bispectral_learn::group::compact::MomentsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Moments {
    inputs: usize,
    /// [`PARTS`] a bucket, one behind the other; `None` where no sample belongs.
    parts: Vec<Option<Box<Part>>>,
    /// By the hash of the label, then the label.
    kept: BTreeMap<(u64, i64), Vec<f32>>,
    kept_numbers: usize,
    /// Orbits from here on were left out, because there was no room for them.
    left_out: Option<(u64, i64)>,
}

/// The samples of one part of a bucket.
#[derive(Debug, Clone)]
struct Part {
    count: u64,
    /// Σ y yᵀ, but for the samples that wait.
    sum: Vec<f64>,
    /// Fewer than [`ROWS`] samples.
    waiting: Vec<f64>,
}

impl Part {
    fn new(inputs: usize) -> Self {
        Part {
            count: 0,
            sum: vec![0.0; inputs * inputs],
            waiting: Vec::new(),
        }
    }

    fn push(&mut self, inputs: usize, sample: impl Iterator<Item = f64>) {
        self.waiting.extend(sample);
        self.count += 1;
        if self.waiting.len() == ROWS * inputs {
            add_products(&mut self.sum, &self.waiting, inputs);
            self.waiting.clear();
        }
    }

    fn whole(&self, inputs: usize) -> Vec<f64> {
        let mut sum = self.sum.clone();
        add_products(&mut sum, &self.waiting, inputs);
        sum
    }
}

/// to ← to + Σ y yᵀ over `samples`.
fn add_products(to: &mut [f64], samples: &[f64], inputs: usize) {
    let samples = matrix(samples, samples.len() / inputs, inputs, inputs);
    let to = matrix_mut(to, inputs, inputs, inputs);
    multiply_add(to, samples.transpose(), samples, 1.0);
}

/// One bucket: the second moments of its parts, and how many samples each has.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) parts: Vec<(u64, Mat<f64>)>,
}

impl Moments {
    /// Of no samples yet, which will have `inputs` values.
    ///
    /// # Errors
    /// No inputs, or more than [`MOST_INPUTS`].
    pub fn new(inputs: usize) -> Result<Self, MomentsError> {
        if !(1..=MOST_INPUTS).contains(&inputs) {
            return Err(MomentsError::Inputs { found: inputs });
        }
        let buckets = NUMBERS / (PARTS * inputs * inputs);
        let buckets = buckets.clamp(LEAST_BUCKETS, MOST_BUCKETS);
        Ok(Moments {
            inputs,
            parts: (0..buckets * PARTS).map(|_| None).collect(),
            kept: BTreeMap::new(),
            kept_numbers: 0,
            left_out: None,
        })
    }

    /// Of every member of every orbit.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`add`](Self::add).
    pub fn of(orbits: &Orbits) -> Result<Self, MomentsError> {
        let inputs = orbits.inputs();
        let mut moments = Moments::new(inputs)?;
        let (mut samples, mut labels) = (Vec::with_capacity(CHUNK * inputs), Vec::new());
        let mut add = |samples: &mut Vec<f32>, labels: &mut Vec<i64>| {
            if let Ok(chunk) = ArrayView2::from_shape((labels.len(), inputs), samples) {
                moments.add(chunk, labels)?;
            }
            samples.clear();
            labels.clear();
            Ok(())
        };
        for orbit in 0..orbits.len() {
            for member in 0..orbits.members(orbit) {
                let start = samples.len();
                samples.resize(start + inputs, 0.0);
                orbits.write_member(orbit, member, &mut samples[start..]);
                labels.push(orbit as i64);
                if labels.len() == CHUNK {
                    add(&mut samples, &mut labels)?;
                }
            }
        }
        add(&mut samples, &mut labels)?;
        Ok(moments)
    }

    /// Adds samples, one a row, and the label of each's orbit.
    ///
    /// # Errors
    /// Samples of another length, a sample that is not finite, or not one label a sample; nothing is added then.
    pub fn add(
        &mut self,
        samples: ArrayView2<'_, f32>,
        labels: &[i64],
    ) -> Result<(), MomentsError> {
        let inputs = self.inputs;
        if samples.ncols() != inputs {
            return Err(MomentsError::Length {
                needed: inputs,
                found: samples.ncols(),
            });
        }
        if samples.nrows() != labels.len() {
            return Err(MomentsError::Labels {
                labels: labels.len(),
                samples: samples.nrows(),
            });
        }
        let rows = samples.axis_iter(Axis(0));
        if let Some(row) = rows
            .into_iter()
            .position(|row| row.iter().any(|x| !x.is_finite()))
        {
            return Err(MomentsError::NonFinite { row });
        }
        let samples = samples.as_standard_layout();
        let Some(samples) = samples.as_slice() else {
            return Ok(());
        };
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); self.parts.len()];
        for (row, (sample, &label)) in (0..).zip(samples.chunks_exact(inputs).zip(labels)) {
            rows[self.part(sample, label)].push(row);
            self.keep(sample, label);
        }
        let work = self.parts.par_iter_mut().zip(rows);
        work.for_each(|(part, rows)| {
            for row in rows {
                interruption::check();
                let part = part.get_or_insert_with(|| Part::new(inputs).into());
                let sample = &samples[row as usize * inputs..][..inputs];
                part.push(inputs, sample.iter().map(|&x| f64::from(x)));
            }
        });
        Ok(())
    }

    /// Adds what another has seen.
    ///
    /// # Errors
    /// It is of samples of another length.
    pub fn merge(&mut self, other: Moments) -> Result<(), MomentsError> {
        let inputs = self.inputs;
        if other.inputs != inputs {
            return Err(MomentsError::Length {
                needed: inputs,
                found: other.inputs,
            });
        }
        let pairs = self.parts.par_iter_mut().zip(other.parts);
        pairs.for_each(|(part, other)| {
            let Some(other) = other else { return };
            let part = part.get_or_insert_with(|| Part::new(inputs).into());
            let waiting = other.waiting.chunks_exact(inputs);
            part.count += other.count - waiting.len() as u64;
            let terms = part.sum.iter_mut().zip(&other.sum);
            terms.for_each(|(to, sum)| *to += sum);
            waiting.for_each(|sample| part.push(inputs, sample.iter().copied()));
        });
        self.left_out = [self.left_out, other.left_out].into_iter().flatten().min();
        for ((_, label), samples) in other.kept {
            for sample in samples.chunks_exact(inputs) {
                self.keep(sample, label);
            }
        }
        self.make_room();
        Ok(())
    }

    /// N.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// How many samples were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.parts.iter().flatten().map(|part| part.count).sum()
    }

    /// How many buckets there are for orbits.
    #[must_use]
    pub fn buckets(&self) -> usize {
        self.parts.len() / PARTS
    }

    /// Σ x xᵀ over all samples.
    #[must_use]
    pub fn total(&self) -> Mat<f64> {
        let inputs = self.inputs;
        let mut total = Mat::zeros(inputs, inputs);
        for part in self.parts.iter().flatten() {
            total += matrix(&part.whole(inputs), inputs, inputs, inputs);
        }
        total
    }

    /// The buckets that have samples, in their order.
    pub(super) fn filled(&self) -> impl ParallelIterator<Item = Bucket> + '_ {
        let inputs = self.inputs;
        self.parts.par_chunks(PARTS).filter_map(move |parts| {
            let whole = |part: &Part| {
                let sum = part.whole(inputs);
                (part.count, matrix(&sum, inputs, inputs, inputs).to_owned())
            };
            let parts: Vec<_> = parts.iter().flatten().map(|part| whole(part)).collect();
            (!parts.is_empty()).then_some(Bucket { parts })
        })
    }

    /// The members that were kept, orbit by orbit, one behind the other.
    pub(super) fn members(&self) -> impl Iterator<Item = &[f32]> + '_ {
        self.kept.values().map(Vec::as_slice)
    }

    fn part(&self, sample: &[f32], label: i64) -> usize {
        let bucket = hash(label as u64) % self.buckets() as u64;
        let bits = sample.iter().fold(0, |mixed: u64, x| {
            (mixed.rotate_left(5) ^ u64::from(x.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        bucket as usize * PARTS + (hash(bits) % PARTS as u64) as usize
    }

    fn keep(&mut self, sample: &[f32], label: i64) {
        let key = (hash(label as u64), label);
        if self.left_out.is_some_and(|left_out| key >= left_out) {
            return;
        }
        let members = self.kept.entry(key).or_default();
        if members.len() < KEPT_MEMBERS * self.inputs {
            members.extend(sample);
            self.kept_numbers += sample.len();
            if self.kept_numbers > KEPT {
                self.make_room();
            }
        }
    }

    fn make_room(&mut self) {
        if let Some(left_out) = self.left_out {
            let gone = self.kept.split_off(&left_out);
            self.kept_numbers -= gone.values().map(Vec::len).sum::<usize>();
        }
        while self.kept_numbers > KEPT {
            if let Some((key, members)) = self.kept.pop_last() {
                self.kept_numbers -= members.len();
                self.left_out = Some(key);
            }
        }
    }
}

/// Mixes all bits (the finaliser of SplitMix64).
fn hash(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Why samples were not added.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MomentsError {
    /// No inputs, or too many.
    Inputs {
        /// How many.
        found: usize,
    },
    /// Samples of another length.
    Length {
        /// The length of those before.
        needed: usize,
        /// Theirs.
        found: usize,
    },
    /// Not one label a sample.
    Labels {
        /// How many labels.
        labels: usize,
        /// How many samples.
        samples: usize,
    },
    /// A sample with a number that is infinite or no number.
    NonFinite {
        /// Its row.
        row: usize,
    },
}

impl fmt::Display for MomentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MomentsError::Inputs { found } => {
                write!(
                    f,
                    "samples have {found} values, and may have 1 to {MOST_INPUTS}"
                )
            }
            MomentsError::Length { needed, found } => {
                write!(f, "samples have {found} values, those before them {needed}")
            }
            MomentsError::Labels { labels, samples } => {
                write!(f, "there are {labels} labels for {samples} samples")
            }
            MomentsError::NonFinite { row } => write!(f, "row {row} is not finite"),
        }
    }
}

impl std::error::Error for MomentsError {}

impl From<MomentsError> for Error {
    fn from(error: MomentsError) -> Self {
        Error::new("samples", error.to_string(), "correct them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, Slice};
    use proptest::prelude::*;

    fn samples(rows: usize, inputs: usize, seed: u64) -> Array2<f32> {
        let number =
            |(row, n)| hash(seed ^ hash((row * inputs + n) as u64)) as f32 / u64::MAX as f32;
        Array2::from_shape_fn((rows, inputs), number) - 0.5
    }

    fn bits(moments: &Moments) -> Vec<u64> {
        let total = moments.total();
        let buckets: Vec<Bucket> = moments.filled().collect();
        let parts = buckets.iter().flat_map(|bucket| &bucket.parts);
        let numbers = parts.flat_map(|(_, sum)| sum.col_iter().flat_map(|c| c.iter()).copied());
        numbers
            .chain(total.col_iter().flat_map(|c| c.iter()).copied())
            .map(f64::to_bits)
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn chunks_change_no_bit_and_their_order_only_the_last_ones(
            cuts in prop::collection::vec(0_usize..2000, 0..6), orbits in 1_i64..900, seed: u64,
        ) {
            let samples = samples(2000, 5, seed);
            let labels: Vec<i64> = (0..2000).map(|row| hash(row) as i64 % orbits).collect();
            let mut whole = Moments::new(5).unwrap();
            whole.add(samples.view(), &labels).unwrap();
            let mut cuts = [&[0, 2000], &cuts[..]].concat();
            cuts.sort_unstable();
            let chunks: Vec<(usize, usize)> = cuts.windows(2).map(|pair| (pair[0], pair[1])).collect();
            let of = |chunks: &[(usize, usize)]| {
                let mut moments = Moments::new(5).unwrap();
                for &(from, to) in chunks {
                    let rows = samples.slice_axis(Axis(0), Slice::from(from..to));
                    moments.add(rows, &labels[from..to]).unwrap();
                }
                moments
            };
            let ordered = of(&chunks);
            prop_assert_eq!(bits(&ordered), bits(&whole));
            prop_assert!(ordered.members().eq(whole.members()));

            let reversed: Vec<_> = chunks.iter().rev().copied().collect();
            let mut merged = Moments::new(5).unwrap();
            for &chunk in &reversed {
                merged.merge(of(&[chunk])).unwrap();
            }
            prop_assert_eq!(merged.count(), 2000);
            // Sums of at most 2000 numbers below 1/4.
            let buckets = merged.filled().collect::<Vec<_>>();
            for (merged, whole) in buckets.iter().zip(whole.filled().collect::<Vec<_>>()) {
                for ((_, a), (_, b)) in merged.parts.iter().zip(&whole.parts) {
                    prop_assert!((a - b).norm_max() < 1e-11);
                }
            }
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_does_not_depend_on_the_order_of_orbits() {
        let inputs = 256;
        // 600 orbits of 100 samples of 256 numbers: 15 million numbers, twice what is kept.
        let one = samples(100, inputs, 1);
        let of = |orbits: &mut dyn Iterator<Item = i64>| {
            let mut moments = Moments::new(inputs).unwrap();
            for orbit in orbits {
                let samples = one.mapv(|x| x + orbit as f32);
                moments.add(samples.view(), &[orbit; 100]).unwrap();
            }
            moments
        };
        let all = of(&mut (0..600));
        assert!(all.kept_numbers <= KEPT && all.kept_numbers > KEPT * 9 / 10);
        assert!(all.members().all(|members| members.len() == 100 * inputs));
        let mut merged = of(&mut (300..600).rev());
        merged.merge(of(&mut (0..300).rev())).unwrap();
        assert!(all.members().eq(merged.members()));
    }

    #[test]
    fn a_part_belongs_to_one_bucket_and_all_samples_are_in_one() {
        let samples = samples(500, 3, 2);
        let mut moments = Moments::new(3).unwrap();
        moments.add(samples.view(), &[4; 500]).unwrap();
        let buckets: Vec<Bucket> = moments.filled().collect();
        assert_eq!((buckets.len(), buckets[0].parts.len()), (1, PARTS));
        let exact: f64 = samples.iter().map(|&x| f64::from(x).powi(2)).sum();
        let trace: f64 = (0..3).map(|n| moments.total()[(n, n)]).sum();
        assert!((trace - exact).abs() < 1e-10, "{trace} {exact}");
    }

    #[test]
    fn what_cannot_be_added_is_refused_and_changes_nothing() {
        let mut moments = Moments::new(2).unwrap();
        let rows = |x| Array2::from_shape_vec((2, 2), vec![1.0, 2.0, x, 1.0]).unwrap();
        let refused = moments.add(rows(f32::NAN).view(), &[1, 1]);
        assert_eq!(refused, Err(MomentsError::NonFinite { row: 1 }));
        assert!(moments.add(rows(1.0).view(), &[1]).is_err());
        assert!(moments.add(Array2::zeros((2, 3)).view(), &[1, 1]).is_err());
        assert!(moments.merge(Moments::new(3).unwrap()).is_err());
        assert_eq!(moments.count(), 0);
        assert!(Moments::new(0).is_err() && Moments::new(MOST_INPUTS + 1).is_err());
    }
}
