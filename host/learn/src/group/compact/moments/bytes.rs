//! Sums as bytes, to send them from one machine to another.
//!
//! What comes back has every bit of what was sent: samples that wait are sent as samples, so that adding goes on as if nothing
//! had happened.

use super::{KEPT, KEPT_MEMBERS, Moments, Part, ROWS};
use crate::storage::checksummed::Checksummed;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What errors call them.
const NAME: &str = "moments";
const FORMAT: Checksummed = Checksummed {
    magic: *b"BSNM",
    version: 1,
    what: "moments of samples",
    named: "give what Moments wrote",
    damaged: "send them again",
};

#[derive(Serialize, Deserialize)]
struct Sent {
    inputs: usize,
    /// The number of each part that has samples.
    parts: Vec<(usize, SentPart)>,
    kept: Vec<((u64, i64), Vec<f32>)>,
    left_out: Option<(u64, i64)>,
}

#[derive(Serialize, Deserialize)]
struct SentPart {
    count: u64,
    sum: Vec<f64>,
    waiting: Vec<f64>,
}

impl Moments {
    /// All of it as bytes, behind a checksum.
    ///
    /// ```
    /// use bispectral_learn::group::compact::Moments;
    /// use bispectral_learn::ndarray::array;
    ///
    /// let mut moments = Moments::new(2)?;
    /// moments.add(array![[1.0, 2.0]].view(), &[7])?;
    /// let received = Moments::from_bytes(&moments.to_bytes())?;
    /// assert_eq!(received.total(), moments.total());
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = self.parts.iter().enumerate();
        let parts = parts.filter_map(|(number, part)| {
            let Part {
                count,
                sum,
                waiting,
            } = part.as_deref()?.clone();
            let sent = SentPart {
                count,
                sum,
                waiting,
            };
            Some((number, sent))
        });
        FORMAT.encode(&Sent {
            inputs: self.inputs,
            parts: parts.collect(),
            kept: self.kept.clone().into_iter().collect(),
            left_out: self.left_out,
        })
    }

    /// What [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// Other bytes, or damaged ones.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let sent: Sent = FORMAT.decode(Path::new(NAME), bytes)?;
        let mut moments = Moments::new(sent.inputs)?;
        let inputs = moments.inputs;
        let damaged = || Error::new(NAME, "their sizes do not agree", FORMAT.damaged);
        for (
            number,
            SentPart {
                count,
                sum,
                waiting,
            },
        ) in sent.parts
        {
            let whole = waiting.len().is_multiple_of(inputs);
            let to = moments.parts.get_mut(number).ok_or_else(damaged)?;
            if sum.len() != inputs * inputs || !whole || waiting.len() >= ROWS * inputs {
                return Err(damaged());
            }
            if count < (waiting.len() / inputs) as u64 {
                return Err(damaged());
            }
            *to = Some(Box::new(Part {
                count,
                sum,
                waiting,
            }));
        }
        for (key, members) in sent.kept {
            let whole = members.len().is_multiple_of(inputs);
            if !whole || members.len() > KEPT_MEMBERS * inputs {
                return Err(damaged());
            }
            moments.kept_numbers += members.len();
            moments.kept.insert(key, members);
        }
        if moments.kept_numbers > KEPT {
            return Err(damaged());
        }
        moments.left_out = sent.left_out;
        Ok(moments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn samples(rows: usize, first: usize) -> (Array2<f32>, Vec<i64>) {
        let number = |(row, n)| (((first + row) * 31 + n * 17) % 101) as f32 / 101.0 - 0.5;
        let labels = (0..rows).map(|row| ((first + row) % 7) as i64 - 3);
        (Array2::from_shape_fn((rows, 5), number), labels.collect())
    }

    #[test]
    fn adding_goes_on_with_the_same_bits_after_the_journey() {
        let mut here = Moments::new(5).unwrap();
        let (first, labels) = samples(3000, 0);
        here.add(first.view(), &labels).unwrap();
        let mut there = Moments::from_bytes(&here.to_bytes()).unwrap();
        let (second, labels) = samples(500, 3000);
        for moments in [&mut here, &mut there] {
            moments.add(second.view(), &labels).unwrap();
        }
        assert_eq!(here.to_bytes(), there.to_bytes());
        assert_eq!((there.count(), there.total()), (3500, here.total()));
    }

    #[test]
    fn bytes_that_are_damaged_or_cut_are_refused() {
        let mut moments = Moments::new(5).unwrap();
        let (some, labels) = samples(90, 0);
        moments.add(some.view(), &labels).unwrap();
        let bytes = moments.to_bytes();
        for at in (0..bytes.len()).step_by(97) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert!(Moments::from_bytes(&damaged).is_err(), "byte {at}");
            assert!(Moments::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        }
        let sent = Sent {
            inputs: 5,
            parts: vec![(
                0,
                SentPart {
                    count: 1,
                    sum: vec![0.0; 24],
                    waiting: Vec::new(),
                },
            )],
            kept: Vec::new(),
            left_out: None,
        };
        let wrong = Moments::from_bytes(&FORMAT.encode(&sent)).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "moments: their sizes do not agree: send them again"
        );
    }
}
