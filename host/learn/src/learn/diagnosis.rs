//! Where no group is recognised: what the data looks like instead, and how groups that people know do on it.
//!
//! Learning must not end worse than knowing: where the exact invariants of a known group are clearly better on held-out orbits
//! than those of the learned W, the model is the known one ([`Diagnosis::chosen`]).

use super::permutations::{NoPermutations, Permuted};
use crate::analysis::evaluation::Evaluation;
use crate::analysis::known_groups::{EXPLAINED, KnownGroup, Pairs, Trial};
use crate::data::orbits::Orbits;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Members an orbit should have, as a multiple of the root of the inputs: ten orbits of 6, 9 and 12 random shifts of random
/// signals of 16, 32 and 64 values name their group every time, with 10 % noise too; a third of that never does.
const ENOUGH: f64 = 1.5;
/// Windows overlap by at least so much of their length.
const OVERLAP: f64 = 0.5;
/// Windows of a longer signal agree where they overlap so many times better than shifted cyclically.
const WINDOWS: f64 = 3.0;
/// A motion that leaves less than this of a member on average relates it: 15 % of noise in both leave 0.045.
const RELATED: f64 = 0.05;
/// A group explains a part of the pairs from here on, and all but wrong labels from there on: 3 % of wrong labels spoil 6 % of
/// the pairs.
const PART: [f64; 2] = [0.2, 0.9];
/// All pairs, but for one of 200.
const ALL: f64 = 0.995;
/// So many samples a label, or more than there are inputs, are rather those of a class than of one thing that was moved.
const CLASS: usize = 20;
/// A known group is clearly better where it is so many times better at telling distances between from those within, and no worse
/// where it is at least this many times as good.
const BETTER: f64 = 1.5;
const NO_WORSE: f64 = 0.95;

/// What was found about the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Finding {
    /// Orbits have few members.
    FewMembers {
        /// Of the orbit in the middle.
        members: usize,
        /// So many would do.
        enough: usize,
    },
    /// Members do not differ.
    Still,
    /// Members agree where they overlap, but what leaves at one end does not come in at the other: windows of a longer signal.
    Windows {
        /// What the best window leaves.
        overlapping: f64,
        /// What the best cyclic shift leaves.
        cyclic: f64,
    },
    /// A group relates some of the members of an orbit, not all.
    Part {
        /// What it does, or how many elements it has.
        group: String,
        /// The share of pairs within orbits that it relates, where it is known.
        explained: Option<f64>,
    },
    /// A group relates members, but for noise.
    Noise {
        /// What it does.
        group: String,
        /// What it leaves of a member's square.
        left: f64,
    },
    /// Labels look like classes: things that are alike, not one thing that was moved.
    Classes {
        /// Samples of the label in the middle.
        members: usize,
        /// What the best known motion leaves of another sample of the same label.
        left: f64,
    },
    /// No motion that is known relates members, and they are not windows either.
    Unrelated {
        /// What the best known motion leaves.
        left: f64,
    },
}

/// What the data looks like where no group was recognised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// What was found.
    pub findings: Vec<Finding>,
    /// How the learned W does on held-out orbits.
    pub learned: Evaluation,
    /// How known groups do, the best first.
    pub known: Vec<Trial>,
    /// The known group whose exact characters are the model, since they are clearly better than the learned W.
    pub chosen: Option<KnownGroup>,
}

impl Diagnosis {
    /// Of orbits from which this W was learned; `permuted` is what matching members came to.
    #[must_use]
    pub(super) fn of(
        training: &Orbits,
        held_out: &Orbits,
        learned: Evaluation,
        permuted: Option<&Result<Permuted, NoPermutations>>,
        seed: u64,
    ) -> Self {
        let pairs = Pairs::of(training, seed);
        let groups = KnownGroup::of(held_out.inputs(), held_out.image());
        let mut known: Vec<Trial> = groups
            .into_iter()
            .map(|group| group.tried(&pairs, held_out))
            .collect();
        known.sort_by(|a, b| a.aligned_within.total_cmp(&b.aligned_within));
        let chosen = known.iter().find(|trial| trial.is_better_than(&learned));
        Diagnosis {
            findings: findings(training, &pairs, &known, permuted),
            learned,
            chosen: chosen.map(|trial| trial.group),
            known,
        }
    }
}

impl Trial {
    /// It leaves little of members on average although it explains fewer than wrong labels would leave.
    fn is_noisy(&self) -> bool {
        self.aligned_within < EXPLAINED && self.explained < PART[1]
    }

    /// More neighbours of the same orbit than chance would give, or as many and distances that tell more; or no fewer, no less,
    /// and it relates nearly all members, so that it is what the learned W only approximates.
    fn is_better_than(&self, learned: &Evaluation) -> bool {
        let Some(found) = &self.evaluation else {
            return false;
        };
        // Two standard errors of a share, of which the largest is a half.
        let chance = 1.0 / (found.samples.max(1) as f64).sqrt();
        let tells = |of: &Evaluation| of.between / of.within.max(f64::MIN_POSITIVE);
        let gain = found.nearest - learned.nearest;
        let enough = if self.explained >= PART[1] || self.is_noisy() {
            NO_WORSE
        } else {
            BETTER
        };
        gain > chance || gain >= 0.0 && tells(found) > enough * tells(learned)
    }
}

fn findings(
    orbits: &Orbits,
    pairs: &Pairs,
    known: &[Trial],
    permuted: Option<&Result<Permuted, NoPermutations>>,
) -> Vec<Finding> {
    let mut sizes: Vec<usize> = (0..orbits.len()).map(|o| orbits.members(o)).collect();
    sizes.sort_unstable();
    let members = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    let enough = (ENOUGH * (orbits.inputs() as f64).sqrt()).ceil() as usize;
    if let Some(Err(NoPermutations::Still { .. })) = permuted {
        return vec![Finding::Still];
    }
    let mut found = Vec::new();
    if members < enough {
        found.push(Finding::FewMembers { members, enough });
    }
    let shifts = known
        .iter()
        .find(|trial| matches!(trial.group, KnownGroup::Shifts { .. }));
    let cyclic = shifts.map_or(2.0, |trial| trial.aligned_within);
    let overlapping = pairs.left_by_windows(OVERLAP);
    let best = known.first();
    let left = best.map_or(2.0, |trial| trial.aligned_within);
    let is_window = left > RELATED && overlapping < EXPLAINED && WINDOWS * overlapping < left;
    if is_window {
        found.push(Finding::Windows {
            overlapping,
            cyclic,
        });
    }
    let part = match (permuted, best) {
        (Some(Err(NoPermutations::Cosets { order, .. })), _) => Some((order, None)),
        (
            Some(Err(NoPermutations::Unexplained {
                order, explained, ..
            })),
            _,
        ) => Some((order, Some(*explained))),
        _ => None,
    };
    let part =
        part.map(|(order, explained)| (format!("a group of {order} permutations"), explained));
    let by_known = best.filter(|best| (PART[0]..ALL).contains(&best.explained));
    let by_known = by_known.map(|best| (best.group.to_string(), Some(best.explained)));
    let part = by_known.or(part).filter(|_| !is_window);
    let has_part = part.is_some();
    // Noise leaves about as much of every member, wrong labels and a second motion nearly nothing or nearly all.
    let noisy = best.filter(|best| has_part && best.is_noisy());
    found.extend(match (noisy, part) {
        (Some(best), _) => Some(Finding::Noise {
            group: best.group.to_string(),
            left: best.aligned_within,
        }),
        (None, part) => part.map(|(group, explained)| Finding::Part { group, explained }),
    });
    let related = left < EXPLAINED || is_window;
    if !related && (members >= CLASS || members > orbits.inputs()) {
        found.push(Finding::Classes { members, left });
    } else if !related && !has_part {
        found.push(Finding::Unrelated { left });
    }
    found
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::FewMembers { members, enough } => write!(
                f,
                "an orbit has {members} members; {enough} would do, so give {} more of each",
                enough - members
            ),
            Finding::Still => {
                f.write_str("members of an orbit hardly differ: there is no motion to learn")
            }
            Finding::Windows {
                overlapping,
                cyclic,
            } => write!(
                f,
                "the motion is not cyclic: members agree where they overlap (all but {overlapping:.2} of their square), and \
                 not when they are shifted around the end ({cyclic:.2}), as windows of a longer signal do; take exactly \
                 one period, or a whole number of them"
            ),
            Finding::Part {
                group,
                explained: Some(explained),
            } => write!(
                f,
                "{group}: {:.0} % of the pairs within orbits are related by them, and the others not: look for {}",
                100.0 * explained,
                if *explained < PART[1] {
                    "a second motion, or wrong labels"
                } else {
                    "wrong labels"
                }
            ),
            Finding::Part {
                group,
                explained: None,
            } => write!(
                f,
                "{group} relates members in parts of each orbit, and not these parts: there is a second motion, of which \
                 more members would tell"
            ),
            Finding::Noise { group, left } => write!(
                f,
                "{group} take members of an orbit to each other but for {left:.2} of their square, as noise of {:.0} % in \
                 each leaves",
                100.0 * (left / 2.0).sqrt()
            ),
            Finding::Classes { members, left } => write!(
                f,
                "the labels look like classes: {members} samples of each, and the best known motion leaves \
                 {left:.2} of a sample's square; an orbit is one thing, moved"
            ),
            Finding::Unrelated { left } => write!(
                f,
                "no known motion takes members of an orbit to each other: the best leaves {left:.2} of a member's square, \
                 where 2 is what unrelated signals have; check that samples with one label are one thing, moved"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{Learned, Options, learn};
    use ndarray::Array2;
    use rand::RngExt;

    const INPUTS: usize = 16;

    fn random(seed: u64) -> impl FnMut() -> f64 {
        use crate::numeric::random::{Purpose, stream};
        let mut random = stream(seed, Purpose::Noise);
        move || (0..6).map(|_| random.random::<f64>() - 0.5).sum()
    }

    /// `count` orbits of `members` samples each, by what makes one of them.
    fn orbits(
        count: usize,
        members: usize,
        mut sample: impl FnMut(usize, usize) -> Vec<f64>,
    ) -> (Array2<f32>, Vec<i64>) {
        let mut samples = Vec::new();
        for orbit in 0..count {
            for member in 0..members {
                samples.extend(sample(orbit, member).iter().map(|x| *x as f32));
            }
        }
        let inputs = samples.len() / (count * members);
        let labels = (0..count * members).map(|row| (row / members) as i64);
        (
            Array2::from_shape_vec((count * members, inputs), samples).unwrap(),
            labels.collect(),
        )
    }

    fn things(count: usize, length: usize) -> Vec<Vec<f64>> {
        let mut value = random(4);
        (0..count)
            .map(|_| (0..length).map(|_| value()).collect())
            .collect()
    }

    fn learned((samples, labels): &(Array2<f32>, Vec<i64>)) -> Learned {
        let orbits = Orbits::labelled(samples.clone(), labels).unwrap();
        learn(&orbits, &Options::default()).unwrap()
    }

    /// The exact invariants of Z16 on what the run held out are no better than those of its model.
    fn assert_no_worse_than_knowing(found: &Learned) {
        let diagnosis = found.diagnosis().unwrap();
        for trial in &diagnosis.known {
            let Some(known) = &trial.evaluation else {
                continue;
            };
            let chance = 1.0 / (known.samples as f64).sqrt();
            let ours = found.evaluation().nearest;
            assert!(ours + chance >= known.nearest, "{ours}: {trial:?}");
        }
    }

    #[test]
    fn windows_of_a_longer_signal_are_not_cyclic() {
        let smooth: Vec<Vec<f64>> = things(30, 60)
            .iter()
            .map(|x| x.windows(4).map(|w| w.iter().sum()).collect())
            .collect();
        let data = orbits(30, 10, |orbit, member| {
            let begin = 5 + (orbit * 3 + member * 5) % 8;
            smooth[orbit][begin..begin + INPUTS].to_vec()
        });
        let found = learned(&data);
        assert!(found.group().is_none());
        let findings = &found.diagnosis().unwrap().findings;
        assert!(
            matches!(&findings[..], [Finding::Windows { overlapping, cyclic }]
                if *overlapping < 0.1 && *cyclic > 0.2),
            "{findings:?}"
        );
        assert_no_worse_than_knowing(&found);
    }

    #[test]
    fn noise_is_called_noise_and_the_group_behind_it_is_as_good_as_what_was_learned() {
        let things = things(30, INPUTS);
        let mut noise = random(9);
        let data = orbits(30, 16, |orbit, member| {
            let deviation = 0.3;
            (0..INPUTS)
                .map(|n| things[orbit][(n + member) % INPUTS] + deviation * noise())
                .collect()
        });
        let orbits = Orbits::labelled(data.0, &data.1).unwrap();
        let pairs = Pairs::of(&orbits, 0);
        let groups = KnownGroup::of(INPUTS, None).into_iter();
        let mut known: Vec<Trial> = groups.map(|group| group.tried(&pairs, &orbits)).collect();
        known.sort_by(|a, b| a.aligned_within.total_cmp(&b.aligned_within));
        let findings = findings(&orbits, &pairs, &known, None);
        // Noise of 30 % leaves 2 · 0.09 / 1.09 of a member's square.
        assert!(
            matches!(&findings[..], [Finding::Noise { left, .. }] if (0.15..0.2).contains(left)),
            "{findings:?}"
        );
        // What learned as much is given up for it.
        let evaluation = known[0].evaluation.as_ref().unwrap();
        assert!(known[0].is_better_than(evaluation));
    }

    #[test]
    fn few_members_are_counted_and_what_is_known_takes_the_place_of_what_was_learned() {
        let things = things(12, INPUTS);
        let data = orbits(12, 2, |orbit, member| {
            let by = member * (3 + orbit % 11);
            (0..INPUTS)
                .map(|n| things[orbit][(n + by) % INPUTS])
                .collect()
        });
        let found = learned(&data);
        let diagnosis = found.diagnosis().unwrap();
        let few = Finding::FewMembers {
            members: 2,
            enough: 6,
        };
        assert_eq!(diagnosis.findings, [few]);
        assert_eq!(
            diagnosis.chosen,
            Some(KnownGroup::Shifts { inputs: INPUTS })
        );
        assert!(found.evaluation().within < 1e-9, "{:?}", found.evaluation());
        assert_eq!(found.model().view().group(), Some("Z16"));
        assert_no_worse_than_knowing(&found);
    }

    #[test]
    fn classes_are_told_from_orbits() {
        let things = things(5, INPUTS);
        let mut noise = random(9);
        let data = orbits(5, 40, |orbit, member| {
            (0..INPUTS)
                .map(|n| things[orbit][(n + member * 7) % INPUTS] + 1.2 * noise())
                .collect()
        });
        let found = learned(&data);
        let findings = &found.diagnosis().unwrap().findings;
        assert!(
            matches!(&findings[..], [Finding::Classes { members: 40, .. }]),
            "{findings:?}"
        );
        assert_no_worse_than_knowing(&found);
    }

    #[test]
    fn three_percent_of_wrong_labels_do_not_stop_it_and_are_said() {
        let things = things(40, INPUTS);
        let (samples, mut labels) = orbits(40, 10, |orbit, member| {
            let by = member * 3 + orbit;
            (0..INPUTS)
                .map(|n| things[orbit][(n + by) % INPUTS])
                .collect()
        });
        for wrong in 0..12 {
            labels[wrong * 33 + 5] = (wrong as i64 * 7 + 3) % 40;
        }
        let found = learned(&(samples, labels));
        assert_eq!(found.model().view().group(), Some("Z16"));
        if let Some(diagnosis) = found.diagnosis() {
            let part = |finding: &Finding| matches!(finding, Finding::Part { explained: Some(e), .. } if *e > 0.8);
            assert!(
                diagnosis.findings.iter().any(part),
                "{:?}",
                diagnosis.findings
            );
            assert_no_worse_than_knowing(&found);
        }
    }
}
