//! Which input stands at which element, and how well rows then agree with their characters.

use ndarray::Array2;
use num_complex::Complex64;
use rayon::prelude::*;

/// For every input the element g with the largest Re Σ_i phase_i W_i(n) conj χ_k(i)(g).
pub(super) fn places(
    w: &Array2<Complex64>,
    exact: &Array2<Complex64>,
    characters: &[usize],
    phases: &[Complex64],
) -> Vec<usize> {
    let order = exact.nrows();
    (0..w.ncols())
        .into_par_iter()
        .map(|n| {
            let mut scores = vec![0.0; order];
            for ((&w, &phase), &k) in w.column(n).iter().zip(phases).zip(characters) {
                let turned = w * phase;
                let row = exact.row(k);
                for (score, chi) in scores.iter_mut().zip(row) {
                    *score += turned.re * chi.re + turned.im * chi.im;
                }
            }
            let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            best.map_or(0, |(g, _)| g)
        })
        .collect()
}

/// ⟨W_i, χ_k(i)(g_n)⟩ at unit length.
pub(super) fn inner_products(
    w: &Array2<Complex64>,
    exact: &Array2<Complex64>,
    characters: &[usize],
    positions: &[usize],
) -> Vec<Complex64> {
    let scale = (exact.nrows() as f64 / w.ncols() as f64).sqrt();
    let rows = w.rows().into_iter().zip(characters);
    rows.map(|(row, &k)| {
        let terms = row.iter().zip(positions);
        let sum: Complex64 = terms.map(|(w, &g)| w * exact[(k, g)].conj()).sum();
        sum * scale
    })
    .collect()
}
