//! Random and adversarial signals in every form of a group's model, against f64 with the same weights: what is answered must
//! be within the error that `docs/numerics.md` states, and what is refused not clearly above its floor.

use bispectral_core::format::{List, Parts, Row, Structure, Term, Transform, Weights};
use bispectral_core::{Complex32, Error, Model, pairs};
use num_complex::Complex64;
use std::f64::consts::TAU;

/// The forms of a model of Z_n; `fft` where n is a power of two.
pub(crate) const FORMS: [&str; 9] = [
    "dense f32",
    "dense f16",
    "dense i8",
    "conjugates f32",
    "combined f32",
    "cyclic f32",
    "fft f32",
    "cyclic i32",
    "fft i32",
];

/// What is drawn.
pub(crate) const SIGNALS: [&str; 6] = [
    "normal",
    "one to three frequencies",
    "odd harmonics and a little more",
    "huge dynamic range",
    "whole numbers of a 12-bit converter",
    "one row nearly silent",
];

/// One form, and its weights in f64.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    bytes: Vec<u8>,
    w: Vec<Complex64>,
    /// m.
    modulus: f64,
    /// e, and the least Λ².
    precision: (f64, f64),
}

/// What was seen of a form.
#[derive(Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) answered: u64,
    pub(crate) refused: u64,
    /// The largest ‖β̄ − exact‖.
    pub(crate) error: f64,
    /// The largest ‖β̄ − exact‖ in terms of 0.52/k.
    pub(crate) share: f64,
    /// Refused above, or answered below, so far from the floor that this is a fault: 25 %.
    pub(crate) faults: u64,
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (TAU * self.unit()).cos()
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// 10 to a power from `lowest` to 0.
    fn small(&mut self, lowest: f64) -> f64 {
        10_f64.powf(lowest * self.unit())
    }
}

/// A signal of one kind.
pub(crate) fn signal(kind: usize, n: usize, random: &mut Random) -> Vec<f32> {
    let wave = |k: usize, size: f64, phase: f64| -> Vec<f64> {
        let angle = |t: usize| TAU * (k * t % n) as f64 / n as f64 + phase;
        (0..n).map(|t| size * angle(t).cos()).collect()
    };
    let mut x = vec![0.0; n];
    let mut add = |part: Vec<f64>| x.iter_mut().zip(part).for_each(|(x, part)| *x += part);
    match kind {
        0 => add((0..n).map(|_| random.normal()).collect()),
        1 | 4 => {
            for _ in 0..=random.below(3) {
                let (k, size) = (random.below(n / 2 + 1), random.small(-4.0));
                add(wave(k, size, TAU * random.unit()));
            }
        }
        2 => {
            for k in (1..n / 2 + 1).step_by(2) {
                add(wave(k, random.normal(), TAU * random.unit()));
            }
            let (k, size) = (2 * random.below(n / 4 + 1), random.small(-9.0));
            add(wave(k, size, TAU * random.unit()));
        }
        3 => add((0..n)
            .map(|_| random.normal() * random.small(-12.0))
            .collect()),
        _ => {
            add((0..n).map(|_| random.normal()).collect());
            let k = random.below(n / 2 + 1);
            let part = |f: fn(f64) -> f64| {
                let term = |t: usize| x[t] * f(TAU * (k * t % n) as f64 / n as f64);
                (0..n).map(term).sum::<f64>()
            };
            let (re, im) = (part(f64::cos), part(f64::sin));
            let share = if k == 0 || 2 * k == n { 1.0 } else { 2.0 } / n as f64;
            let left = 1.0 - random.small(-7.0);
            for (t, x) in x.iter_mut().enumerate() {
                let angle = TAU * (k * t % n) as f64 / n as f64;
                *x -= left * share * (re * angle.cos() + im * angle.sin());
            }
        }
    }
    let largest = x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if kind == 4 && largest > 0.0 {
        return x
            .iter()
            .map(|x| (2047.0 * x / largest).round() as f32)
            .collect();
    }
    x.iter().map(|x| *x as f32).collect()
}

/// The forms of Z_n with all of its rows.
pub(crate) fn forms(n: usize) -> Vec<Form> {
    let fast = cfg!(feature = "fft") && n.is_power_of_two();
    let forms = (FORMS.iter()).filter(|name| fast || !name.starts_with("fft"));
    forms.map(|name| form(name, n)).collect()
}

fn form(name: &'static str, n: usize) -> Form {
    let a = (1.0 / (n as f64).sqrt()) as f32;
    let root = |t: usize| {
        let angle = -TAU * (t % n) as f64 / n as f64;
        Complex32::new(
            (f64::from(a) * angle.cos()) as f32,
            (f64::from(a) * angle.sin()) as f32,
        )
    };
    let planes = |row: Vec<Complex32>| -> Vec<f32> {
        row.iter()
            .map(|w| w.re)
            .chain(row.iter().map(|w| w.im))
            .collect()
    };
    let row = |k: usize| planes((0..n).map(|t| root(k * t)).collect());
    let stored = if name.starts_with("conjugates") {
        n / 2 + 1
    } else {
        n
    };
    let floats: Vec<f32> = match name {
        "cyclic f32" | "fft f32" | "cyclic i32" | "fft i32" => planes((0..n).map(root).collect()),
        _ => (0..stored).flat_map(row).collect(),
    };
    let halves: Vec<u16> = floats.iter().map(|w| half(*w)).collect();
    let roots: Vec<i32> = (0..2 * n)
        .map(|at| {
            let angle = -TAU * (at % n) as f64 / n as f64;
            let part = if at < n { angle.cos() } else { angle.sin() };
            (part * 2_f64.powi(30)).round() as i32
        })
        .collect();
    let scales = vec![a / 127.0; n];
    let bytes: Vec<i8> = floats
        .iter()
        .map(|w| (w / a * 127.0).round() as i8)
        .collect();
    let rows: Vec<Row> = (0..n)
        .map(|k| Row {
            stored: if k < stored { k } else { n - k } as u16,
            conjugated: k >= stored,
        })
        .collect();
    let numbers: Vec<u16> = (0..n as u16).collect();
    let terms: Vec<Term> = pairs(n)
        .map(|(i, j)| Term {
            row: rows[(i + j) % n],
            re: 1 << 14,
            im: 0,
        })
        .collect();
    let factors = [n as u16];
    let cyclic = |transform| Structure::Cyclic {
        transform,
        factors: List::new(&factors),
        characters: List::new(&numbers),
        elements: List::new(&numbers),
    };
    let parts = Parts {
        inputs: n as u16,
        rows: n as u16,
        weights: match name {
            "dense f16" => Weights::F16(List::new(&halves)),
            "dense i8" => Weights::I8 {
                weights: List::new(&bytes),
                scales: List::new(&scales),
            },
            "cyclic i32" | "fft i32" => Weights::I32 {
                roots: List::new(&roots),
                amplitude: a,
            },
            _ => Weights::F32(List::new(&floats)),
        },
        structure: match name {
            "conjugates f32" => Structure::Conjugates {
                rows: List::new(&rows),
            },
            "combined f32" => Structure::Combined {
                rows: List::new(&rows),
                terms: 1,
                scale: a / f32::from(1_u16 << 14),
                coefficients: List::new(&terms),
            },
            "cyclic f32" | "cyclic i32" => cyclic(Transform::Sums),
            "fft f32" | "fft i32" => cyclic(Transform::Fft),
            _ => Structure::Dense,
        },
        ..Parts::default()
    };
    let mut written = vec![0; parts.encoded_len().unwrap()];
    parts.write(&mut written).unwrap();
    let model = Model::from_bytes(&written).unwrap();
    let weight = |at: usize| model.weight(at / n, at % n).unwrap();
    let double = |w: Complex32| Complex64::new(w.re.into(), w.im.into());
    let w: Vec<Complex64> = (0..n * n).map(|at| double(weight(at))).collect();
    let bits = 15.min(24 - n.next_power_of_two().ilog2() as i32);
    Form {
        name,
        modulus: w.iter().map(|w| w.norm_sqr().sqrt()).fold(0.0, f64::max),
        precision: match name {
            "dense i8" => (2.5 * 2_f64.powi(1 - bits), n as f64),
            _ => ((n + 8) as f64 * 2_f64.powi(-23), 0.0),
        },
        w,
        bytes: written,
    }
}

/// The nearest binary16 of a number below 2^15.
fn half(w: f32) -> u16 {
    let exponent = w.abs().log2().floor().max(-14.0) as i32;
    let steps = (f64::from(w.abs()) * 2_f64.powi(10 - exponent)).round() as u16;
    let sign = if w < 0.0 { 1 << 15 } else { 0 };
    ((((exponent + 14) as u16) << 10) + steps) | sign
}

impl Form {
    /// Compares the form with f64 on one signal.
    pub(crate) fn compare(&self, x: &[f32], seen: &mut Seen) {
        let n = x.len();
        let model = Model::from_bytes(&self.bytes).unwrap();
        let mut found = vec![Complex32::ZERO; model.pairs()];
        let result = model.invariants(x, &mut vec![0.0; model.scratch_len()], &mut found);
        let largest = x.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        if largest == 0.0 {
            assert_eq!(result, Err(Error::ZeroInput));
            return;
        }
        // As the core scales them: the floor of bytes depends on it.
        let scale = 2_f64.powi(-largest.log2().floor() as i32);
        let x: Vec<f64> = x.iter().map(|x| f64::from(*x) * scale).collect();
        let row = |i: usize| &self.w[i * n..][..n];
        let z: Vec<Complex64> = (0..n)
            .map(|i| row(i).iter().zip(&x).map(|(w, x)| w * x).sum())
            .collect();
        let mut v = vec![Complex64::ZERO; n];
        let mut beta = Vec::with_capacity(found.len());
        for i in 0..n {
            v.iter_mut()
                .zip(row(i))
                .zip(&x)
                .for_each(|((v, w), x)| *v = w * x);
            for j in i..n {
                let s: Complex64 = v.iter().zip(row(j)).map(|(v, w)| v * w).sum();
                beta.push(z[i] * z[j] * s.conj());
            }
        }
        let norm = beta.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt();
        let k = norm / self.floor(&x, &z);
        match result {
            Ok(()) => {
                seen.answered += 1;
                seen.faults += u64::from(k < 0.75);
                let square = |(b, f): (&Complex64, &Complex32)| {
                    (b / norm - Complex64::new(f.re.into(), f.im.into())).norm_sqr()
                };
                let error = beta.iter().zip(&found).map(square).sum::<f64>().sqrt();
                seen.error = seen.error.max(error);
                // The roundings of β̄ itself are there, too, however large k is.
                seen.share = seen.share.max((error - 1e-6).max(0.0) * k / 0.52);
            }
            Err(error) => {
                assert_eq!(error, Error::ZeroBispectrum);
                seen.refused += 1;
                seen.faults += u64::from(k > 1.25);
            }
        }
    }

    /// The floor, in f64.
    fn floor(&self, x: &[f64], z: &[Complex64]) -> f64 {
        let (precision, least) = self.precision;
        let samples: f64 = x.iter().map(|x| x * x).sum();
        let coefficients: f64 = z.iter().map(Complex64::norm_sqr).sum();
        let square = self.modulus.powi(2);
        let products = x.len() as f64 * square * samples;
        let pairs = coefficients * (2.0 * coefficients + products);
        4.0 * precision * square * (samples.max(least) * pairs).sqrt()
    }
}
