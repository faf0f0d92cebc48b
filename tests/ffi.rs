//! The C interface: its header is what its source says, and a C program linked against it computes what the host does.

use bispectral::Arguments;
use bispectral_tests::repository;
use clap::Parser;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_checked_in_header_is_what_cbindgen_makes_of_the_source() {
    let ffi = repository().join("core/ffi");
    let config = cbindgen::Config::from_file(ffi.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for module in ["status", "model", "compute"] {
        builder = builder.with_src(ffi.join(format!("src/{module}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().expect("bindings").write(&mut header);
    let path = ffi.join("include/bispectral.h");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &header).expect("a writable checkout");
    }
    assert!(
        fs::read(&path).is_ok_and(|bytes| bytes == header),
        "core/ffi/include/bispectral.h is not what core/ffi/src says; if that is meant: \
         BLESS=1 cargo test -p bispectral-tests --test ffi header"
    );
}

/// Exports the example's model as a C header, as `bispectral export turn.bsn -o turn.h --emit c --quiet` does it.
fn export_header(folder: &Path) {
    let model = repository().join("firmware-example/model/turn.bsn");
    let header = folder.join("turn.h");
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let line = format!("bispectral export {} -o {}", path(&model), path(&header));
    let line = line.split(' ').chain(["--emit", "c", "--quiet"]);
    bispectral::run(&Arguments::parse_from(line)).expect("a header");
}

/// Invariants that the C program compares: 561 of three signals, of a model that was opened, of the constant, and streamed.
const COMPARED: u32 = 3 * 3 * 561;

/// Builds and runs the C program: whether it succeeded, and what it printed.
fn run(flags: &[&str]) -> (bool, String) {
    for tool in ["arm-none-eabi-gcc", "qemu-system-arm"] {
        let found = Command::new(tool).arg("--version").output().is_ok();
        assert!(
            found,
            "{tool} is not installed: `bash tests/all.sh` installs it"
        );
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    export_header(folder.path());
    let script = repository().join("firmware-example/c/run.sh");
    let output = Command::new("bash")
        .arg(script)
        .args(flags)
        .env("OUT", folder.path())
        .output()
        .expect("bash runs");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    println!("{stdout}");
    // QEMU prints what the program does to the standard error.
    (output.status.success(), stdout + &stderr)
}

/// How many numbers had the host's bits, of how many, and the last line.
fn verdict(printed: &str) -> (u32, u32, &str) {
    let equal = printed
        .lines()
        .find_map(|line| line.strip_prefix("bits equal to the host's   "))
        .and_then(|line| line.strip_suffix(" invariants"))
        .and_then(|line| line.split_once(" of "))
        .expect("a line with two numbers");
    let number = |text: &str| text.parse().expect("a number");
    let last = printed.lines().last().expect("a last line");
    (number(equal.0), number(equal.1), last)
}

#[test]
fn a_c_program_on_a_cortex_m4f_computes_the_hosts_bits_and_has_no_panic_path() {
    let (success, printed) = run(&[]);
    assert!(success, "{printed}");
    assert_eq!(verdict(&printed), (COMPARED, COMPARED, "ok"));
}

#[test]
fn one_changed_bit_of_one_sample_fails_the_c_program() {
    let (success, printed) = run(&["-DTAMPERED"]);
    assert!(!success, "{printed}");
    let (equal, compared, last) = verdict(&printed);
    assert_eq!((compared, last), (COMPARED, "FAILED"));
    assert!(equal < COMPARED, "{printed}");
}
