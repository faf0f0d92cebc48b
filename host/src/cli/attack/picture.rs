//! Targets above, and below them what shares their features, moved back as far as that goes.

use crate::Result;
use crate::analysis::trial::Outcome;
use crate::report::tiles;
use ndarray::{Array2, ArrayView1};

/// A line of numbers is drawn as a strip of so much of its width.
const STRIP: usize = 4;

/// The first `most` targets, and a row of what each attack made of them, with the distance from the target's orbit (of
/// the signals themselves where nobody knows how they move).
///
/// # Errors
/// There are no targets, or they are too large to draw.
pub(in crate::cli) fn compare(
    targets: &Array2<f32>,
    shape: (usize, usize),
    outcomes: &[&Outcome],
    most: usize,
) -> Result<Vec<u8>> {
    let columns = targets.nrows().min(most);
    let (height, width) = match shape {
        (1, width) => ((width / STRIP).max(1), width),
        shape => shape,
    };
    let mut images = Array2::zeros((columns * (outcomes.len() + 1), height * width));
    let mut labels = Vec::with_capacity(images.nrows());
    let mut rows = images.rows_mut().into_iter();
    let mut draw = |image: ArrayView1<'_, f32>, label: String| {
        if let Some(mut row) = rows.next() {
            let pixels = image.iter().cycle();
            row.iter_mut().zip(pixels).for_each(|(to, x)| *to = *x);
        }
        labels.push(label);
    };
    for k in 0..columns {
        draw(targets.row(k), format!("target {k}"));
    }
    for outcome in outcomes {
        for k in 0..columns {
            match &outcome.endings {
                Some(endings) => {
                    let ending = &endings[k];
                    let missed = if ending.reached { "" } else { " (not reached)" };
                    draw(
                        ArrayView1::from(&ending.moved),
                        format!("{:.3}{missed}", ending.orbit),
                    );
                }
                None => {
                    let distance = outcome.attacked.distances[k];
                    draw(outcome.attacked.metamers.row(k), format!("{distance:.0e}"));
                }
            }
        }
    }
    tiles::png(images.view(), (height, width), columns, &labels)
}
