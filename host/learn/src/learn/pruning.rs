//! Which rows to keep where some cannot be invariant: those whose power changes least along orbits.
//!
//! With p_ib = |z_i(x_b)|² and p̄_ib its mean over the orbit of b, rows are ranked by Σ_b (p_ib − p̄_ib)² / Σ_b p_ib². On a
//! grid the finest detail of an image is lost and found again as it turns; rows that see it are noise in every product.
//! Real and imaginary parts of half as many rows as inputs can still rebuild a signal.

use crate::network::Network;
use rayon::prelude::*;

/// How much the power of each row changes along orbits, as a share: 0 for characters, near 0.5 for noise.
#[must_use]
pub fn unsteadiness(network: &Network<f32>, samples: &[f32], sizes: &[usize]) -> Vec<f64> {
    let inputs = network.inputs().max(1);
    let rows = network.re().par_chunks_exact(inputs);
    rows.zip(network.im().par_chunks_exact(inputs))
        .map(|(re, im)| change(re, im, samples, sizes))
        .collect()
}

/// The numbers of the `count` steadiest rows on `samples`, of which the first `sizes[0]` are one orbit and so on; in
/// the order they stand in.
#[must_use]
pub fn steadiest(
    network: &Network<f32>,
    samples: &[f32],
    sizes: &[usize],
    count: usize,
) -> Vec<usize> {
    let ranked = unsteadiness(network, samples, sizes).into_iter().zip(0..);
    let mut ranked: Vec<(f64, usize)> = ranked.collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<usize> = ranked.iter().take(count).map(|(_, row)| *row).collect();
    kept.sort_unstable();
    kept
}

fn change(re: &[f32], im: &[f32], samples: &[f32], sizes: &[usize]) -> f64 {
    let dot = |w: &[f32], x: &[f32]| -> f64 {
        let terms = w.iter().zip(x);
        terms.map(|(w, x)| f64::from(*w) * f64::from(*x)).sum()
    };
    let power = |x: &[f32]| dot(re, x).powi(2) + dot(im, x).powi(2);
    let mut powers = samples.chunks_exact(re.len()).map(power);
    let (mut change, mut all) = (0.0, 0.0);
    for &size in sizes {
        let orbit: Vec<f64> = powers.by_ref().take(size).collect();
        let mean = orbit.iter().sum::<f64>() / size.max(1) as f64;
        change += orbit.iter().map(|p| (p - mean).powi(2)).sum::<f64>();
        all += orbit.iter().map(|p| p * p).sum::<f64>();
    }
    // A row that no signal excites tells nothing.
    if all > 0.0 { change / all } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::data::orbits::Orbits;
    use num_complex::Complex32;

    #[test]
    fn rows_that_are_no_characters_go_first() {
        let group: Group = "Z6".parse().unwrap();
        let mut w = group
            .characters()
            .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        for row in [1, 4] {
            w.row_mut(row)
                .iter_mut()
                .enumerate()
                .for_each(|(n, w)| *w = Complex32::new((n as f32).sin(), 0.3 * n as f32));
        }
        let orbits = Orbits::of_group(&group, 5, 1);
        let mut samples = vec![0.0; 5 * 6 * 6];
        for (at, sample) in samples.chunks_exact_mut(6).enumerate() {
            orbits.write_member(at / 6, at % 6, sample);
        }
        let network = Network::from_array(&w.view());
        let kept = |count| steadiest(&network, &samples, &[6; 5], count);
        assert_eq!(kept(4), [0, 2, 3, 5]);
        assert_eq!(kept(6), [0, 1, 2, 3, 4, 5]);
        assert!(kept(1).iter().all(|row| [0, 2, 3, 5].contains(row)));
    }
}
