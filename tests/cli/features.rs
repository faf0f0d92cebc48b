//! `bispectral features`: against the equations in f64, in every form of input, and which signals are refused.

use crate::{Folder, Order, Random, f64s, npy};

/// A complex number in f64.
type Complex = (f64, f64);

fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn conjugate(a: Complex) -> Complex {
    (a.0, -a.1)
}

fn sum(terms: impl Iterator<Item = Complex>) -> Complex {
    terms.fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1))
}

/// z = W x.
fn coefficients(w: &[Vec<Complex>], x: &[f64]) -> Vec<Complex> {
    let row = |w: &Vec<Complex>| sum(w.iter().zip(x).map(|(w, x)| (w.0 * x, w.1 * x)));
    w.iter().map(row).collect()
}

/// β_ij = z_i z_j conj((W_i ⊙ W_j) x) for i ≤ j, row by row.
fn bispectrum(w: &[Vec<Complex>], x: &[f64]) -> Vec<Complex> {
    let z = coefficients(w, x);
    let mut beta = Vec::new();
    for i in 0..w.len() {
        for j in i..w.len() {
            let products = w[i].iter().zip(&w[j]).map(|(&a, &b)| times(a, b));
            let s = sum(products.zip(x).map(|(p, x)| (p.0 * x, p.1 * x)));
            beta.push(times(times(z[i], z[j]), conjugate(s)));
        }
    }
    beta
}

fn norm(values: &[Complex]) -> f64 {
    let squares = values.iter().map(|v| v.0 * v.0 + v.1 * v.1);
    squares.sum::<f64>().sqrt()
}

/// Elements of a `.npy` file that the command wrote, after a look at its header.
fn elements(bytes: &[u8], descr: &str, shape: &str) -> Vec<f64> {
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..begin]).unwrap();
    assert!(header.contains(&format!("'descr': '{descr}'")), "{header}");
    assert!(header.contains("'fortran_order': False"), "{header}");
    assert!(
        header.contains(&format!("'shape': ({shape}, )")),
        "{header}"
    );
    assert_eq!(begin % 16, 0);
    let (numbers, rest) = bytes[begin..].as_chunks::<4>();
    assert!(rest.is_empty());
    numbers
        .iter()
        .map(|&number| f32::from_le_bytes(number).into())
        .collect()
}

/// Fails where a sample's values are further from those wanted than 1e-5 of the largest wanted one. The core's own
/// error is 1e-6 of it, from sums of N terms in f32.
fn assert_close(found: &[f64], wanted: &[Vec<Complex>]) {
    let mut found = found.chunks(2);
    for wanted in wanted {
        let largest = wanted.iter().map(|w| w.0.hypot(w.1)).fold(0.0, f64::max);
        for w in wanted {
            let found = found.next().unwrap();
            let error = (found[0] - w.0).hypot(found[1] - w.1);
            assert!(error <= 1e-5 * largest, "{found:?} {w:?} of {largest}");
        }
    }
    assert!(found.next().is_none());
}

/// A random W of 5 × 7 in Fortran order, imported; and 9 random signals.
struct Example {
    folder: Folder,
    w: Vec<Vec<Complex>>,
    x: Vec<Vec<f64>>,
}

fn example() -> Example {
    let mut random = Random(7);
    let (rows, inputs, samples) = (5, 7, 9);
    let w: Vec<Vec<Complex>> = (0..rows)
        .map(|_| {
            (0..inputs)
                .map(|_| (random.next(), random.next()))
                .collect()
        })
        .collect();
    let x: Vec<Vec<f64>> = (0..samples).map(|_| random.values(inputs)).collect();
    let columns = (0..inputs).flat_map(|n| w.iter().map(move |row| row[n]));
    let data = f64s(columns.flat_map(|(re, im)| [re, im]));
    let folder = Folder::new();
    folder.write("W.npy", npy("'<c16'", Order::Fortran, "(5, 7)", data));
    folder.succeed("import W.npy -o model.bsn");
    folder.write(
        "X.npy",
        npy(
            "'<f8'",
            Order::C,
            "(9, 7)",
            f64s(x.iter().flatten().copied()),
        ),
    );
    Example { folder, w, x }
}

impl Example {
    fn invariants(&self) -> Vec<Vec<Complex>> {
        let normalised = |x: &Vec<f64>| {
            let beta = bispectrum(&self.w, x);
            let norm = norm(&beta);
            beta.iter().map(|b| (b.0 / norm, b.1 / norm)).collect()
        };
        self.x.iter().map(normalised).collect()
    }
}

#[test]
fn the_features_are_those_of_the_equations() {
    let example = example();
    let Example { folder, w, x } = &example;
    let each = |of: fn(&[Vec<Complex>], &[f64]) -> Vec<Complex>| -> Vec<Vec<Complex>> {
        x.iter().map(|x| of(w, x)).collect()
    };
    for (flag, width, wanted) in [
        ("", 15, example.invariants()),
        ("--raw", 15, each(bispectrum)),
        ("--coefficients", 5, each(coefficients)),
    ] {
        folder.succeed(&format!("features model.bsn X.npy -o Y.npy --force {flag}"));
        let found = elements(&folder.read("Y.npy"), "<c8", &format!("9, {width}"));
        assert_close(&found, &wanted);
    }

    folder.succeed("features model.bsn X.npy -o Y.npy --force --power");
    let found = elements(&folder.read("Y.npy"), "<f4", "9, 5");
    for (found, z) in found.iter().zip(each(coefficients).iter().flatten()) {
        let wanted = z.0 * z.0 + z.1 * z.1;
        assert!((found - wanted).abs() <= 1e-5 * wanted.max(1.0));
    }
}

#[test]
fn orders_precisions_and_csv_give_the_same_features() {
    let Example { folder, x, .. } = example();
    // Multiples of 1/8 are the same in every precision, and eight times them in integers.
    let x: Vec<Vec<f64>> = x
        .iter()
        .map(|x| x.iter().map(|x| (x * 100.0).round() / 8.0).collect())
        .collect();
    let rows = || x.iter().flatten().copied();
    let columns = || (0..7).flat_map(|n| x.iter().map(move |x| x[n]));
    let lines: Vec<String> = x.iter().map(|x| format!("{x:?}")).collect();
    let csv = lines.join("\n").replace(['[', ']'], "");
    folder.write("X.csv", csv);
    let c = |descr, data: Vec<u8>| npy(descr, Order::C, "(9, 7)", data);
    let fortran = |descr, data: Vec<u8>| npy(descr, Order::Fortran, "(9, 7)", data);
    let eight = |x: f64| (x * 8.0) as i8;
    folder.write("a.npy", c("'<f8'", f64s(rows())));
    folder.write("b.npy", fortran("'<f8'", f64s(columns())));
    folder.write(
        "c.npy",
        fortran(
            "'>f4'",
            columns().flat_map(|x| (x as f32).to_be_bytes()).collect(),
        ),
    );
    folder.write(
        "d.npy",
        c(
            "'|i1'",
            rows().flat_map(|x| eight(x).to_ne_bytes()).collect(),
        ),
    );
    folder.write(
        "e.npy",
        c(
            "'>i8'",
            rows()
                .flat_map(|x| i64::from(eight(x)).to_be_bytes())
                .collect(),
        ),
    );
    folder.succeed("features model.bsn X.csv -o Y.npy");
    let wanted = folder.read("Y.npy");
    for name in ["a", "b", "c", "d", "e"] {
        folder.succeed(&format!("features model.bsn {name}.npy -o Y-{name}.npy"));
        assert!(folder.read(&format!("Y-{name}.npy")) == wanted, "{name}");
    }
}

#[test]
fn one_dimension_is_one_sample() {
    let Example { folder, x, .. } = example();
    folder.write(
        "x.npy",
        npy("'<f8'", Order::C, "(7,)", f64s(x[0].iter().copied())),
    );
    let object = folder.object("features model.bsn x.npy -o y.npy");
    assert_eq!(
        (&object["samples"], &object["features"]),
        (&1.into(), &15.into())
    );
    assert!(object["seconds"].as_f64().unwrap() >= 0.0);
    assert!(object["samples_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(object["quantity"], "invariants");
    folder.succeed("features model.bsn X.npy -o Y.npy");
    let (one, all) = (folder.read("y.npy"), folder.read("Y.npy"));
    assert!(all[128..].starts_with(&one[128..]));
}

#[test]
fn the_scale_of_a_64_bit_signal_does_not_matter_to_the_invariants() {
    let example = example();
    let wanted = example.invariants();
    for scale in [1e300, 1e-300, 3e38, 1e-44] {
        let x = example.x.iter().flatten().map(|x| x * scale);
        let folder = &example.folder;
        folder.write("X.npy", npy("'<f8'", Order::C, "(9, 7)", f64s(x)));
        folder.succeed("features model.bsn X.npy -o Y.npy --force");
        assert_close(&elements(&folder.read("Y.npy"), "<c8", "9, 15"), &wanted);
    }
}

/// 2000 signals of 2048 values: three blocks. To the last value W pays no attention.
fn many(folder: &Folder) -> Vec<u8> {
    let mut random = Random(3);
    let mut row = random.values(2048);
    row[2047] = 0.0;
    folder.write("W.npy", npy("'<f8'", Order::C, "(1, 2048)", f64s(row)));
    folder.succeed("import W.npy -o model.bsn");
    (0..2000 * 2048)
        .map(|_| (random.next() * 100.0) as i8 as u8)
        .collect()
}

#[test]
fn blocks_threads_and_orders_leave_the_bytes_as_they_are() {
    let folder = Folder::new();
    let x = many(&folder);
    let columns = (0..2048).flat_map(|n| x.iter().skip(n).step_by(2048));
    let transposed: Vec<u8> = columns.copied().collect();
    folder.write("C.npy", npy("'|i1'", Order::C, "(2000, 2048)", &x));
    folder.write(
        "F.npy",
        npy("'|i1'", Order::Fortran, "(2000, 2048)", &transposed),
    );
    folder.succeed("features model.bsn C.npy -o 1.npy --coefficients --threads 1");
    folder.succeed("features model.bsn C.npy -o 2.npy --coefficients --threads 2");
    folder.succeed("features model.bsn F.npy -o 3.npy --coefficients --threads 3");
    let found = folder.read("1.npy");
    assert!(found == folder.read("2.npy"));
    assert!(found == folder.read("3.npy"));

    // One of each block, by itself.
    for sample in [0, 900, 1999] {
        let values = &x[sample * 2048..][..2048];
        folder.write("x.npy", npy("'|i1'", Order::C, "(2048,)", values));
        folder.succeed("features model.bsn x.npy -o y.npy --coefficients --force");
        assert!(found[128 + 8 * sample..].starts_with(&folder.read("y.npy")[128..]));
    }
}

#[test]
fn of_several_samples_without_features_the_first_is_named() {
    let folder = Folder::new();
    let mut x = many(&folder);
    // Of random signals some meet one row by little; the first does not.
    for sample in 1..1850 {
        x.copy_within(..2048, sample * 2048);
    }
    for (last, refusal) in [
        (0, "sample 1850: every value is zero: "),
        (1, "sample 1850: its bispectrum is zero up to rounding"),
    ] {
        for sample in 1850..1900 {
            let values = &mut x[sample * 2048..][..2048];
            values.fill(0);
            values[2047] = last;
        }
        folder.write("X.npy", npy("'|i1'", Order::C, "(2000, 2048)", &x));
        folder.refuse_with(
            "features model.bsn X.npy -o Y.npy --threads 2",
            &format!("X.npy: {refusal}"),
        );
    }
}

#[test]
fn signals_without_features_are_refused() {
    let big = f64::from(f32::MAX);
    for (x, flag, refusal) in [
        ([1.0, f64::NAN], "", "sample 1: column 1 is NaN"),
        ([f64::INFINITY, 0.0], "", "sample 1: column 0 is inf"),
        ([0.0, -0.0], "", "sample 1: every value is zero"),
        ([0.0, 0.0], "--raw", "sample 1: every value is zero"),
        (
            [0.0, 1.0],
            "",
            "sample 1: its bispectrum is zero up to rounding",
        ),
        (
            [1e39, 0.0],
            "--raw",
            "sample 1: column 0 is 1e39, more than",
        ),
        ([1e39, 0.0], "--coefficients", "sample 1: column 0 is 1e39"),
        ([1e20, 0.0], "--raw", "sample 1: the result is larger than"),
        (
            [1e20, 0.0],
            "--power",
            "sample 1: the result is larger than",
        ),
        (
            [big, 0.0],
            "--coefficients",
            "sample 1: the result is larger",
        ),
        (
            [1e-60, 0.0],
            "--raw",
            "sample 1: every value is less than f32",
        ),
    ] {
        let folder = Folder::new();
        folder.write("W.npy", npy("'<f8'", Order::C, "(1, 2)", f64s([2.0, 0.0])));
        folder.succeed("import W.npy -o model.bsn");
        let data = f64s([1.0, 2.0].into_iter().chain(x));
        folder.write("X.npy", npy("'<f8'", Order::C, "(2, 2)", data));
        folder.refuse_with(
            &format!("features model.bsn X.npy -o Y.npy {flag}"),
            &format!("X.npy: {refusal}"),
        );
    }
}

#[test]
fn arrays_that_are_no_signals_of_the_model_are_refused() {
    let Example { folder, .. } = example();
    let c = |descr: &str, shape: &str, data: &[u8]| npy(descr, Order::C, shape, data);
    for (bytes, refusal) in [
        (
            c("'<f8'", "(1, 2)", &[0; 16]),
            "signals of 2 values where model.bsn has 7",
        ),
        (
            c("'<f8'", "(2,)", &[0; 16]),
            "signals of 2 values where model.bsn has 7",
        ),
        (c("'<c8'", "(1, 7)", &[0; 56]), "the samples are complex64"),
        (c("'<f8'", "(0, 7)", &[]), "the array is empty"),
        (c("'|b1'", "(1, 7)", &[1; 7]), "the elements are bool"),
        (c("'|u1'", "(1, 7)", &[1; 6]), "the data are truncated"),
        (c("'|u1'", "(1, 7)", &[1; 8]), "1 bytes follow the data"),
        (
            c("'|u1'", "(1, 7, 1, 1)", &[1; 7]),
            "the array has 4 dimensions",
        ),
    ] {
        folder.write("bad.npy", bytes);
        folder.refuse_with(
            "features model.bsn bad.npy -o Y.npy",
            &format!("bad.npy: {refusal}"),
        );
    }
    folder.write("bad.csv", "1,2,3,4,5,6,7\n1,2,3,4,5,six,7\n");
    folder.refuse_with(
        "features model.bsn bad.csv -o Y.npy",
        "bad.csv: line 2: column 5: \"six\" is not a number: ",
    );
    folder.refuse_with(
        "features model.bsn absent.npy -o Y.npy",
        "absent.npy: there is no",
    );
    folder.refuse_with("features model.bsn . -o Y.npy", ".: is a directory");
    folder.refuse_with(
        "features absent.bsn X.npy -o Y.npy",
        "absent.bsn: there is no",
    );
    folder.refuse_with(
        "features X.npy X.npy -o Y.npy",
        "X.npy: not a bispectral model",
    );
}

#[test]
fn an_existing_file_is_replaced_only_by_force_and_only_at_the_end() {
    let Example { folder, .. } = example();
    folder.write("Y.npy", "precious");
    folder.refuse_with(
        "features model.bsn X.npy -o Y.npy",
        "Y.npy: exists already: ",
    );
    folder.write("zero.npy", npy("'|u1'", Order::C, "(1, 7)", [0; 7]));
    folder.refuse("features model.bsn zero.npy -o Y.npy --force");
    folder.succeed("features model.bsn X.npy -o Y.npy --force");
    // What is read is never replaced.
    folder.refuse_with(
        "features model.bsn X.npy -o X.npy --force",
        "X.npy: it is read, and would be overwritten: ",
    );
}

/// Every form in which a group's model is exported, and how far its invariants may be from those of f32.
const FORMS: [&str; 8] = [
    "dense",
    "dense --encoding f16",
    "dense --encoding i8",
    "conjugates",
    "conjugates --encoding i8",
    "combined:1",
    "cyclic",
    "fft",
];

/// round(2047·cos(2π(t − s)/n + 0.3)), two shifts of it.
fn sinusoid(n: usize) -> Vec<u8> {
    let turn = std::f64::consts::TAU / n as f64;
    let sample = |s: usize, t: usize| (2047.0 * (turn * (t as f64 - s as f64) + 0.3).cos()).round();
    let samples = [0, 1]
        .into_iter()
        .flat_map(|s| (0..n).map(move |t| sample(s, t)));
    npy("'<f8'", Order::C, &format!("(2, {n})"), f64s(samples))
}

#[test]
fn a_signal_without_a_third_order_is_refused_by_every_form_in_the_same_words() {
    let folder = Folder::new();
    folder.succeed("train --group Z16 -o r");
    folder.write("X.npy", sinusoid(16));
    let mut refusals = Vec::new();
    for structure in FORMS {
        folder.succeed(&format!(
            "export r -o m.bsn --force --structure {structure}"
        ));
        refusals.push(folder.refuse("features m.bsn X.npy -o Y.npy"));
    }
    assert!(
        refusals[0].starts_with("X.npy: sample 0: its bispectrum is zero up to rounding"),
        "{}",
        refusals[0]
    );
    assert!(
        refusals.iter().all(|line| *line == refusals[0]),
        "{refusals:?}"
    );
    // What the message offers is there.
    folder.succeed("features m.bsn X.npy -o P.npy --power");
}

#[test]
fn on_an_odd_cycle_the_same_signal_has_a_third_order_in_every_form() {
    let folder = Folder::new();
    folder.succeed("train --group Z7 -o r");
    folder.write("X.npy", sinusoid(7));
    // Seven is no power of two: there is no fast transform.
    for structure in FORMS.iter().filter(|form| **form != "fft") {
        folder.succeed(&format!(
            "export r -o m.bsn --force --structure {structure}"
        ));
        folder.succeed("features m.bsn X.npy -o Y.npy --force");
        let found = folder.read("Y.npy");
        let values: Vec<f32> = found[128..]
            .as_chunks()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect();
        let (first, second) = values.split_at(2 * 28);
        let squares = first
            .iter()
            .zip(second)
            .map(|(a, b)| f64::from(a - b).powi(2));
        let apart = squares.sum::<f64>().sqrt();
        // Halves and bytes are characters to 2^-12 and 2^-8 only, and the third order is 1e-4 of what it could be: there it
        // is of W, not of rounding, and another W has another. Floats keep 2^-24 of what it could be.
        if !structure.contains("16") && !structure.contains("i8") {
            assert!(apart < 2e-2, "{structure}: {apart:e}");
        }
    }
}
