//! Models as statics that need no parser: what `bispectral export --emit rust` writes compiles, computes the bits of the model
//! that is read, on this host and on emulated boards, and refuses to compile where it was changed.

use bispectral_core::{Complex32, Error, Model};
use bispectral_learn::model::emit::{Exported, Kind};
use bispectral_tests::device::{self, BOARDS, after};
use bispectral_tests::{example, least, repository};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The module of a model.
fn module(bytes: &[u8]) -> String {
    let exported = Exported::new(bytes).expect("a sound model");
    let text = Kind::Rust.emitter().emit(&exported, "model");
    String::from_utf8(text).expect("UTF-8")
}

/// Signals of a model, and what it makes of them, as bits.
const COMPARED: &str = r#"
fn bits(values: &[f32]) -> Vec<u32> { values.iter().map(|value| value.to_bits()).collect() }

macro_rules! same {
    ($module:ident) => {
        #[test]
        fn $module() {
            use bispectral_core::{Complex32, Model};
            let (read, fixed) = (Model::from_bytes($module::FILE).unwrap(), &$module::MODEL);
            assert_eq!((read.inputs(), read.rows(), read.pairs()), (fixed.inputs(), fixed.rows(), fixed.pairs()));
            assert_eq!((read.scratch_len(), read.classes()), (fixed.scratch_len(), fixed.classes()));
            assert!(read.pair_list().eq(fixed.pair_list()));
            assert_eq!((read.feature_count(), read.output()), (fixed.feature_count(), fixed.output()));
            assert_eq!(read.classifier_scratch_len(), fixed.classifier_scratch_len());
            for seed in 0..4_usize {
                let x: Vec<f32> = (0..$module::INPUTS).map(|n| ((n * n * 7 + n * (3 + seed) + 11) % 61) as f32 / 61.0 - 0.375).collect();
                let whole: Vec<i16> = x.iter().map(|x| (x * 1e4) as i16).collect();
                let mut scratch = [vec![0.0; $module::SCRATCH], vec![0.0; $module::SCRATCH]];
                let [first, second] = &mut scratch;
                macro_rules! compare {
                    ($call:ident, $zero:expr, $length:expr, $of:expr) => {
                        let (mut a, mut b) = (vec![$zero; $length], vec![$zero; $length]);
                        let found = (read.$call($of, first, &mut a), fixed.$call($of, second, &mut b));
                        assert_eq!(found.0, found.1);
                        assert_eq!(a, b);
                    };
                }
                compare!(features, 0.0_f32, $module::FEATURES, &x);
                compare!(features, 0.0_f32, $module::FEATURES, &whole);
                compare!(invariants, Complex32::ZERO, $module::PAIRS, &x);
                compare!(bispectrum, Complex32::ZERO, $module::PAIRS, &x);
                compare!(coefficients, Complex32::ZERO, $module::ROWS, &x);
                compare!(power_spectrum, 0.0_f32, $module::ROWS, &x);
                compare!(scores, 0.0_f32, $module::CLASSES, &x);
                compare!(classify, 0.0_f32, $module::CLASSES, &whole);
                let (mut a, mut b) = (Vec::new(), Vec::new());
                let ends = (
                    read.stream(&x, first, |i, j, term| a.extend([i as u32, j as u32, bits(&[term.re])[0], bits(&[term.im])[0]])),
                    fixed.stream(&x, second, |i, j, term| b.extend([i as u32, j as u32, bits(&[term.re])[0], bits(&[term.im])[0]])),
                );
                assert_eq!(ends.0, ends.1);
                assert_eq!(a, b);
            }
        }
    };
}
"#;

/// A crate of these modules, tested.
fn tested(folder: &Path, modules: &[(String, String)]) -> Output {
    let core = repository().join("core").canonicalize().expect("the core");
    let manifest = format!(
        "[package]\nname = \"probe\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n\
         [workspace]\n\n[dependencies]\nbispectral-core = {{ path = {core:?} }}\n"
    );
    let mut code = String::from(COMPARED);
    for (name, text) in modules {
        fs::write(folder.join(format!("{name}.rs")), text).expect("a new file");
        code += &format!("pub mod {name};\nsame!({name});\n");
    }
    fs::write(folder.join("Cargo.toml"), manifest).expect("a new file");
    fs::write(folder.join("lib.rs"), format!("#![cfg(test)]\n{code}")).expect("a new file");
    Command::new(env!("CARGO"))
        .args(["test", "--offline", "--quiet"])
        .current_dir(folder)
        .output()
        .expect("cargo runs")
}

#[test]
fn statics_of_every_kind_compute_the_bits_of_the_model_that_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut modules: Vec<(String, String)> = least::KINDS
        .iter()
        .map(|kind| {
            let name = kind.replace([',', '-'], "_");
            (name, module(&least::model(kind)))
        })
        .collect();
    // Kinds that the table of sizes has no row for, and lists of pairs.
    for seed in [
        "z42-comb-i8",
        "z42-conj-f16",
        "z42-conj-i8",
        "z42-densesel",
        "z42-fftsel",
        "z8-sel",
    ] {
        let path = repository().join(format!("core/fuzz/seeds/model/{seed}.bsn"));
        let bytes = fs::read(path).expect("a seed");
        modules.push((seed.replace('-', "_"), module(&bytes)));
    }
    let count = modules.len();
    let output = tested(folder.path(), &modules);
    let words = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}\n{errors}");
    assert!(words.contains(&format!("{count} passed")), "{words}");

    // One bit of one weight: the checksum, four bytes behind the last of them, is looked at when the program is built.
    let (name, text) = &modules[0];
    let (last, _) = (text.rmatch_indices("\\x").nth(4)).expect("a byte of a weight");
    let digits = last + 2..last + 4;
    let byte = u8::from_str_radix(&text[digits.clone()], 16).expect("a byte");
    let mut changed = text.clone();
    changed.replace_range(digits, &format!("{:02x}", byte ^ 1));
    let output = tested(folder.path(), &[(name.clone(), changed)]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("the model was changed"),
        "a changed module compiles\n{errors}"
    );
}

#[test]
fn statics_compute_the_hosts_bits_on_two_emulated_boards() {
    let firmware = repository().join("firmware-example");
    for (board, kind) in [
        (&BOARDS[0], "dense,f32"),
        (&BOARDS[0], "fft"),
        (&BOARDS[3], "dense,i8"),
    ] {
        let bytes = least::model(kind);
        let model = Model::from_bytes(&bytes).expect("a sound model");
        let path = firmware.join("target/emitted.rs");
        let text = module(&bytes);
        let code: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("//!"))
            .collect();
        fs::create_dir_all(firmware.join("target")).expect("a writable checkout");
        fs::write(&path, code.join("\n")).expect("a writable checkout");
        let build = "build --release --features fft,emitted --bin emitted --target";
        let output = Command::new(env!("CARGO"))
            .args(build.split(' '))
            .arg(board.target())
            .env("MODULE", &path)
            .current_dir(&firmware)
            .output()
            .expect("cargo runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let words = board.run("emitted", &[]).expect("an answer");
        let expected = example::checksum(&model, &device::signal(model.inputs()));
        let found = after(&words, "checksum");
        assert_eq!(found, format!("{expected:08x}"), "{kind}: {words}");
    }
}

/// Steele, Lea and Flood's generator: the same numbers on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[test]
fn bytes_that_no_reader_accepted_give_errors_or_numbers_and_never_a_panic() {
    const CHANGES: usize = 100;
    // A changed dimension may be a thousand times what it was, and take as long.
    const MOST: usize = 1 << 12;
    let mut random = SplitMix64(16);
    for kind in least::KINDS {
        let sound = least::model(kind);
        let findings = Model::from_bytes(&sound).expect("a sound model").findings();
        for _ in 0..CHANGES {
            let (mut bytes, mut findings) = (sound.clone(), findings);
            for _ in 0..=random.next() % 3 {
                // The fields lie in front; weights change nothing but numbers.
                let at = random.next() as usize % bytes.len().min(96);
                bytes[at] = random.next() as u8;
            }
            if random.next().is_multiple_of(4) {
                findings[random.next() as usize % 4] = random.next() as u32;
            }
            let model = Model::from_checked_bytes(&bytes, findings);
            if model.inputs() * model.rows() > MOST {
                continue;
            }
            let x = vec![0.25; model.inputs()];
            let mut scratch = vec![0.0; 1 << 16];
            let (mut terms, mut numbers) = (vec![Complex32::ZERO; 1 << 12], vec![0.0; 1 << 13]);
            let _: Result<(), Error> = model.invariants(&x, &mut scratch, &mut terms);
            let _ = model.features(&x, &mut scratch, &mut numbers);
            let _ = model.bispectrum(&x, &mut scratch, &mut terms);
            let _ = model.coefficients(&x, &mut scratch, &mut terms);
            let _ = model.classify(&x, &mut scratch, &mut numbers);
            let _ = (model.name(), model.group(), model.classifier_scratch_len());
            let _ = (model.weight(1, 1), model.pair(3), model.is_aligned());
        }
    }
}
