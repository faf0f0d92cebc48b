//! The characters of finite commutative groups by their equation, as W to import and as W that a model holds.

use crate::{Folder, Order, Random, f64s, npy};
use num_complex::Complex64;
use std::f64::consts::TAU;

/// A matrix, row by row.
pub(crate) type Rows = Vec<Vec<Complex64>>;

/// Every element of a product of cyclic groups, the last coordinate fastest.
pub(crate) fn elements(factors: &[usize]) -> Vec<Vec<usize>> {
    factors.iter().fold(vec![vec![]], |elements, &factor| {
        let longer = |element: &Vec<usize>, last| [&element[..], &[last]].concat();
        let each = |element: Vec<usize>| (0..factor).map(move |last| longer(&element, last));
        elements.into_iter().flat_map(each).collect()
    })
}

/// a + b, each coordinate modulo its factor.
pub(crate) fn sum(a: &[usize], b: &[usize], factors: &[usize]) -> Vec<usize> {
    let terms = a.iter().zip(b).zip(factors);
    terms.map(|((a, b), factor)| (a + b) % factor).collect()
}

/// χ_k(g) = exp(−2πi Σ k g / m).
pub(crate) fn character(k: &[usize], g: &[usize], factors: &[usize]) -> Complex64 {
    let turns = k.iter().zip(g).zip(factors);
    let turns = turns.map(|((k, g), m)| (k * g % m) as f64 / *m as f64);
    Complex64::cis(-TAU * turns.sum::<f64>())
}

/// The characters of a group at unit length, one a row.
pub(crate) fn characters(factors: &[usize]) -> Rows {
    let elements = elements(factors);
    let scale = (elements.len() as f64).sqrt();
    let row = |k| elements.iter().map(move |g| character(k, g, factors));
    let rows = elements.iter().map(|k| row(k).map(|w| w / scale).collect());
    rows.collect()
}

/// The numbers below `count` in random order.
pub(crate) fn shuffled(count: usize, random: &mut Random) -> Vec<usize> {
    let keys = random.values(count);
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    numbers
}

/// Characters with rows and inputs in random order, and every row at a random phase.
pub(crate) fn disguised(factors: &[usize], random: &mut Random) -> Rows {
    let exact = characters(factors);
    let (rows, inputs) = (shuffled(exact.len(), random), shuffled(exact.len(), random));
    let row = |&k: &usize| {
        let phase = Complex64::cis(TAU * random.next());
        inputs.iter().map(|&n| phase * exact[k][n]).collect()
    };
    rows.iter().map(row).collect()
}

pub(crate) fn complex_npy(w: &Rows) -> Vec<u8> {
    let shape = format!("({}, {})", w.len(), w[0].len());
    let parts = w.iter().flatten().flat_map(|w| [w.re, w.im]);
    npy("'<c16'", Order::C, &shape, f64s(parts))
}

/// `w` as `W.npy` and as the model `m.bsn`.
pub(crate) fn import(folder: &Folder, w: &Rows) {
    folder.write("W.npy", complex_npy(w));
    folder.succeed("import W.npy -o m.bsn --force --quiet");
}

/// `w` and noise of up to `most` in either part of every weight.
pub(crate) fn noisy(w: &Rows, most: f64, random: &mut Random) -> Rows {
    let mut weight = |w: &Complex64| w + most * Complex64::new(random.next(), random.next());
    let rows = w.iter();
    rows.map(|row| row.iter().map(&mut weight).collect())
        .collect()
}

pub(crate) fn random_rows(seed: u64, inputs: usize) -> Rows {
    let zeros = vec![vec![Complex64::ZERO; inputs]; inputs];
    noisy(&zeros, 1.0, &mut Random(seed))
}

/// What `features` writes of each of `signals`.
pub(crate) fn features(folder: &Folder, model: &str, signals: &[Vec<f64>], flags: &str) -> Rows {
    let shape = format!("({}, {})", signals.len(), signals[0].len());
    let values = f64s(signals.iter().flatten().copied());
    folder.write("X.npy", npy("'<f8'", Order::C, &shape, values));
    folder.succeed(&format!(
        "features {model} X.npy -o Y.npy --force --quiet {flags}"
    ));
    let bytes = folder.read("Y.npy");
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (numbers, _) = bytes[begin..].as_chunks::<8>();
    let part = |four: &[u8]| f64::from(f32::from_le_bytes(four.try_into().unwrap()));
    let values: Vec<Complex64> = numbers
        .iter()
        .map(|number| Complex64::new(part(&number[..4]), part(&number[4..])))
        .collect();
    let samples = values.chunks(values.len() / signals.len());
    samples.map(<[_]>::to_vec).collect()
}

/// W of a model, from its coefficients of signals that are one at a single input.
pub(crate) fn weights(folder: &Folder, model: &str, inputs: usize) -> Rows {
    let at = |n| (0..inputs).map(|m| f64::from(u8::from(m == n))).collect();
    let signals: Vec<Vec<f64>> = (0..inputs).map(at).collect();
    let columns = features(folder, model, &signals, "--coefficients");
    let rows = 0..columns[0].len();
    rows.map(|i| columns.iter().map(|column| column[i]).collect())
        .collect()
}

pub(crate) fn inner(a: &[Complex64], b: &[Complex64]) -> Complex64 {
    a.iter().zip(b).map(|(a, b)| a * b.conj()).sum()
}

pub(crate) fn length(a: &[Complex64]) -> f64 {
    inner(a, a).re.sqrt()
}
