//! The order of arithmetic that the crate documents, transcribed, and the bits it leads to: another order of summation,
//! a fused multiply-add or another processor would show here.

mod written;

use bispectral_core::{Complex32, Model};

/// Numbers of full mantissas by operations that every processor rounds the same: one integer, one division.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count)
        .map(|at| ((at * at * 31 + at * 17 + seed) % 1009) as f32 / 509.0 - 1.0)
        .collect()
}

fn weights(count: usize) -> Vec<Complex32> {
    let (re, im) = (numbers(count, 5), numbers(count, 400));
    let pair = |(re, im): (f32, f32)| Complex32::new(re, im);
    re.into_iter().zip(im).map(pair).collect()
}

fn invariants(inputs: usize, weights: &[Complex32], x: &[f32]) -> Vec<Complex32> {
    let bytes = written::model(inputs, weights);
    let model = Model::from_bytes(&bytes).unwrap();
    let mut out = vec![Complex32::ZERO; model.pairs()];
    let mut scratch = vec![0.0; model.scratch_len()];
    model.invariants(x, &mut scratch, &mut out).unwrap();
    out
}

fn bits(values: &[Complex32]) -> Vec<[u32; 2]> {
    let pair = |z: &Complex32| [z.re.to_bits(), z.im.to_bits()];
    values.iter().map(pair).collect()
}

#[test]
fn the_invariants_of_one_signal_have_these_bits() {
    // Sixty-one inputs: seven rounds of the eight lanes and five more.
    let found = invariants(61, &weights(3 * 61), &numbers(61, 77));
    let expected = [
        [0xbe8c_08bc, 0x3f75_5ab1],
        [0x3c3b_1539, 0xbbfd_8c01],
        [0xbcad_bdd6, 0xbd1a_5c43],
        [0x3bd6_c202, 0x3d79_f9e5],
        [0xbb54_05ab, 0xbce7_5198],
        [0xb992_8e23, 0x3a29_8d30],
    ];
    assert_eq!(bits(&found), expected, "{:08x?}", bits(&found));
}

/// Eight partial sums, n in lane n mod 8, and ((0+4)+(2+6)) + ((1+5)+(3+7)).
fn sum(terms: &[Vec<f32>]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for (n, terms) in terms.iter().enumerate() {
        for term in terms {
            lanes[n % 8] += term;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// z_i, of terms w·x.
fn coefficient(row: &[Complex32], x: &[f32]) -> Complex32 {
    let terms = |part: fn(&Complex32) -> f32| -> Vec<Vec<f32>> {
        row.iter().zip(x).map(|(w, x)| vec![part(w) * x]).collect()
    };
    Complex32::new(sum(&terms(|w| w.re)), sum(&terms(|w| w.im)))
}

/// (W_i ⊙ W_j) x, of v = w_i·x times w_j: +re·re, −im·im in the real lanes, +re·im, +im·re in the imaginary ones.
fn product(a: &[Complex32], b: &[Complex32], x: &[f32]) -> Complex32 {
    let v: Vec<Complex32> = a.iter().zip(x).map(|(a, x)| a * x).collect();
    let real = |(v, w): (&Complex32, &Complex32)| vec![v.re * w.re, -(v.im * w.im)];
    let imaginary = |(v, w): (&Complex32, &Complex32)| vec![v.re * w.im, v.im * w.re];
    Complex32::new(
        sum(&v.iter().zip(b).map(real).collect::<Vec<_>>()),
        sum(&v.iter().zip(b).map(imaginary).collect::<Vec<_>>()),
    )
}

#[test]
fn coefficients_and_terms_follow_the_documented_order() {
    for (inputs, rows) in [
        (1, 1),
        (3, 2),
        (7, 4),
        (8, 3),
        (11, 2),
        (16, 3),
        (29, 5),
        (64, 2),
    ] {
        let (weights, mut x) = (weights(inputs * rows), numbers(inputs, 77));
        // The largest weight and sample are 1 to 2: nothing is scaled, and the documented order is all there is.
        let mut weights = weights;
        weights[0] = Complex32::new(1.25, -0.3);
        x[0] = 1.5;
        let bytes = written::model(inputs, &weights);
        let model = Model::from_bytes(&bytes).unwrap();
        let row = |i: usize| &weights[i * inputs..(i + 1) * inputs];

        let mut scratch = vec![0.0; model.scratch_len()];
        let mut z = vec![Complex32::ZERO; rows];
        model.coefficients(&x, &mut scratch, &mut z).unwrap();
        let expected: Vec<_> = (0..rows).map(|i| coefficient(row(i), &x)).collect();
        assert_eq!(bits(&z), bits(&expected), "z of {rows} by {inputs}");

        let mut found = Vec::new();
        let magnitude = model
            .stream(&x, &mut scratch, |i, j, term| {
                let (a, b) = (z[i], z[j]);
                let (re, im) = (a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
                let s = product(row(i), row(j), &x);
                let expected = Complex32::new(re * s.re + im * s.im, im * s.re - re * s.im);
                assert_eq!(
                    bits(&[term]),
                    bits(&[expected]),
                    "β {i} {j} of {rows} by {inputs}"
                );
                found.push(term);
            })
            .unwrap();
        assert_eq!(magnitude.exponent(), 0);
        let factor = 1.0 / magnitude.norm();
        let expected: Vec<_> = found.iter().map(|term| term * factor).collect();
        let found = invariants(inputs, &weights, &x);
        assert_eq!(bits(&found), bits(&expected), "β̄ of {rows} by {inputs}");
    }
}
