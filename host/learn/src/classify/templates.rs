//! The nearest neighbour as a perceptron, so that a device needs no code of its own for it.
//!
//! The nearest of the samples f_s is the one with the largest g_s = (f − m)·q_s − |q_s|²/2, q_s = f_s − m rounded to whole numbers
//! and m their mean: what all have in common takes no part in the rounding. With a constant that keeps all g_s positive, max(a, b) = a + max(0, b − a) is two numbers of a layer and a sum in the next: a tournament within each class
//! leaves one number a class, its score.

use ndarray::{Array1, Array2, ArrayView1, Axis};

/// Rows of weights, and a bias for each.
pub(super) type Rows = (Array2<f32>, Vec<f32>);

/// How far from the mean a sample may be, in lengths of the longest: magnitudes among features have length one.
const FARTHEST: f32 = 3.0;

/// A number of the layer before, times what it counts: 1 or −1.
type Form = Vec<(usize, f32)>;

/// Layers whose scores are the largest g_s of each class; `round` makes a row of weights what a model will hold.
pub(super) fn layers(
    features: &Array2<f32>,
    labels: &[usize],
    classes: usize,
    round: impl Fn(ArrayView1<'_, f32>) -> Array1<f32>,
) -> Vec<Rows> {
    let mean = features.mean_axis(Axis(0)).expect("there are samples");
    let length = |row: ArrayView1<'_, f32>| row.dot(&row).sqrt();
    let longest = |rows: &Array2<f32>| {
        let lengths = rows.rows().into_iter().map(length);
        lengths.fold(0.0_f32, f32::max)
    };
    let mut templates = features - &mean;
    for mut row in templates.rows_mut() {
        let rounded = round(row.view());
        row.assign(&rounded);
    }
    let most = longest(&templates);
    let least = FARTHEST * longest(features) * most + most * most / 2.0;
    let bias = |row: ArrayView1<'_, f32>| least - row.dot(&row) / 2.0 - row.dot(&mean);
    let biases = templates.rows().into_iter().map(bias).collect();
    let mut layers = vec![(templates, biases)];
    let mut forms: Vec<Vec<Form>> = (0..classes)
        .map(|class| {
            let of = labels.iter().enumerate().filter(|(_, of)| **of == class);
            of.map(|(sample, _)| vec![(sample, 1.0)]).collect()
        })
        .collect();
    let mut inputs = features.nrows();
    while forms.iter().any(|forms| forms.len() > 1) {
        let mut rows: Vec<Form> = Vec::new();
        for forms in &mut forms {
            let winners = forms.chunks(2).map(|pair| {
                rows.push(pair[0].clone());
                let mut winner = vec![(rows.len() - 1, 1.0)];
                if let [one, other] = pair {
                    let less = one.iter().map(|(input, weight)| (*input, -weight));
                    rows.push(other.iter().copied().chain(less).collect());
                    winner.push((rows.len() - 1, 1.0));
                }
                winner
            });
            *forms = winners.collect();
        }
        inputs = push(&mut layers, &rows, inputs);
    }
    let scores: Vec<Form> = forms.into_iter().map(|forms| forms.concat()).collect();
    push(&mut layers, &scores, inputs);
    layers
}

/// Appends the layer of these forms of so many inputs, and says how many numbers leave it.
fn push(layers: &mut Vec<Rows>, forms: &[Form], inputs: usize) -> usize {
    let mut weights = Array2::zeros((forms.len(), inputs));
    for (form, mut row) in forms.iter().zip(weights.rows_mut()) {
        form.iter()
            .for_each(|(input, weight)| row[*input] += *weight);
    }
    layers.push((weights, Array1::zeros(forms.len()).to_vec()));
    forms.len()
}

#[cfg(test)]
mod tests {
    use super::super::neighbours::nearest;
    use super::*;
    use crate::numeric::random::{Purpose, stream};
    use rand::RngExt;

    #[test]
    fn the_largest_score_is_that_of_the_nearest_samples_class() {
        let mut random = stream(1, Purpose::Noise);
        let mut some = |count| Array2::from_shape_fn((count, 5), |_| random.random::<f32>() - 0.5);
        let (known, others) = (some(23), some(40));
        // A class of one, one of none, and one of many.
        let labels: Vec<usize> = (0..23).map(|s| [0, 1, 1, 3][s.min(3)]).collect();
        let layers = layers(&known, &labels, 4, |row| row.to_owned());
        assert_eq!(layers.last().unwrap().0.nrows(), 4);
        for (at, expected) in nearest(&known, &others).into_iter().enumerate() {
            let mut values = others.row(at).to_owned();
            for (place, (weights, biases)) in layers.iter().enumerate() {
                if place > 0 {
                    values.mapv_inplace(|value| value.max(0.0));
                }
                values = weights.dot(&values) + Array1::from(biases.clone());
            }
            let best = (0..4).max_by(|a, b| values[*a].total_cmp(&values[*b]));
            assert_eq!(best, Some(labels[expected]), "{values}");
        }
    }
}
