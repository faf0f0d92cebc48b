//! Whatever numbers and files a command is given: no panic, no abort, one line before memory is taken.

use crate::{Folder, Order, f64s, npy};

/// The line of a command that must fail, whose process may have so many KiB of address space.
#[cfg(target_os = "linux")]
fn refuse_within(folder: &Folder, kibibytes: u64, arguments: &str) -> (String, String) {
    let command = format!(
        "ulimit -v {kibibytes}; exec {} {arguments}",
        env!("CARGO_BIN_EXE_bispectral")
    );
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", &command]);
    let output = shell.output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(1), "{arguments}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{arguments}: {stderr}");
    (stdout, stderr)
}

#[test]
fn numbers_past_every_limit_are_refused_before_anything_is_allocated() {
    let folder = Folder::new();
    folder.write(
        "X.npy",
        npy("'<f8'", Order::C, "(2, 4)", f64s((0..8).map(f64::from))),
    );
    let most = "18446744073709551615";
    for (flags, beginning) in [
        (
            format!("--group Z16 --rows {most}"),
            "rows: 18446744073709551615 are more than 8192",
        ),
        (
            "--group Z16 --rows 100000000".into(),
            "rows: 100000000 are more than 8192",
        ),
        (
            "--group Z16 --rows 8193".into(),
            "rows: 8193 are more than 8192",
        ),
        (
            format!("--group Z16 --exemplars {most}"),
            "exemplars: 18446744073709551615 are more",
        ),
        (
            "--group Z16 --exemplars 100000000000".into(),
            "exemplars: 100000000000 are more",
        ),
        (
            format!("--images natural --exemplars {most}"),
            "exemplars: 18446744073709551615 are",
        ),
        (
            format!("--images natural --size {most}"),
            "size: patches of 18446744073709551615 ×",
        ),
        (
            "--images natural --size 91".into(),
            "size: patches of 91 × 91 pixels",
        ),
        (
            format!("--data X.npy --transform rotate --size {most}"),
            "size: patches of",
        ),
        ("--group Z8 --noise 1e38".into(), "noise: 1"),
        ("--group Z8 --noise inf".into(), "noise: inf"),
    ] {
        folder.refuse_with(&format!("train {flags} -o run"), beginning);
    }
}

#[test]
fn enormous_samples_with_noise_stay_finite() {
    let folder = Folder::new();
    let values = (0..64).map(|k| 1e38 * f64::from((k * k % 29 + k / 8) % 7 - 3) / 1.1);
    folder.write("X.npy", npy("'<f8'", Order::C, "(8, 8)", f64s(values)));
    let (code, _, said) =
        folder.run("train --data X.npy --transform translate1d --noise 10 --steps 3 -o run");
    assert!(matches!(code, Some(0 | 1)), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn more_memory_than_there_is_is_refused_with_both_figures() {
    let folder = Folder::new();
    for (flags, beginning) in [
        (
            "--group Z16 --exemplars 100000000",
            "error: exemplars: 12.8 GB of memory for 100000000 functions on the group, and there are ",
        ),
        ("--group Z16 --rows 8192", "error: training: "),
        (
            "--images natural --exemplars 100000000",
            "error: exemplars: 108.8 GB of memory for 100000000 patches, and there are ",
        ),
    ] {
        let (_, line) = refuse_within(&folder, 4 << 20, &format!("train {flags} -o run"));
        assert!(line.starts_with(beginning), "{line}");
        assert!(!folder.path("run").exists(), "{flags}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_allocation_that_fails_ends_with_the_one_line_and_the_object() {
    let folder = Folder::new();
    // A million labels, each a word of its own in memory: more than what is compared before.
    folder.write("y.csv", "7\n".repeat(1 << 20));
    folder.write("X.csv", "1,3\n2,5\n");
    let arguments = "train --data X.csv --labels y.csv -o run --threads 1 --json";
    let (stdout, line) = refuse_within(&folder, 64 << 10, arguments);
    let object: serde_json::Value = serde_json::from_str(&stdout).expect(&stdout);
    let error = object["error"].as_str().unwrap();
    assert_eq!(line, format!("error: {error}\n"));
    assert!(error.starts_with("memory: there is none for "), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn files_that_only_claim_to_be_long_take_no_memory() {
    let folder = Folder::new();
    folder.succeed("train --group Z4 -o run --quiet");
    folder.succeed("train --group Z4 -o other --quiet");
    folder.write("X.csv", "1,3\n2,5\n");
    let sparse = |name: &str, begin: &[u8]| {
        folder.write(name, begin);
        let file = std::fs::File::options().write(true).open(folder.path(name));
        file.unwrap().set_len(1 << 40).unwrap();
    };
    sparse("zeros.toml", b"seed = 1\n");
    sparse("zeros.csv", b"1,2\n");
    sparse("zeros.bsn", &folder.read("run/model.bsn")[..16]);
    sparse("run/checkpoint.bin", b"BSC\0");
    sparse("other/results.json", b"{");
    // Four mebibytes of gzip that become four gibibytes; there are two samples.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, b"\0\0\x08\x01\x7f\xff\xff\xff").unwrap();
    folder.write("y.gz", gzip.finish().unwrap());
    for (arguments, what) in [
        (
            "train zeros.toml -o new",
            "zeros.toml: 1099511627776 bytes are more than",
        ),
        (
            "train --data zeros.csv --transform translate1d -o new",
            "zeros.csv: 4.4 TB of memory for its numbers",
        ),
        (
            "train --data X.csv --labels zeros.csv -o new",
            "zeros.csv: 4.4 TB of memory",
        ),
        (
            "train --data X.csv --labels y.gz -o new",
            "y.gz: 2147483647 labels for 2 samples",
        ),
        (
            "inspect zeros.bsn",
            "zeros.bsn: 1099511627776 bytes are more than",
        ),
        (
            "train --resume run",
            "run/checkpoint.bin: 1099511627776 bytes are more than",
        ),
        (
            "report other",
            "other/results.json: 1099511627776 bytes are more than",
        ),
        ("train /dev/zero -o new", "/dev/zero: is a pipe or a device"),
        ("inspect /dev/zero", "/dev/zero: is a pipe or a device"),
    ] {
        let (_, line) = refuse_within(&folder, 2 << 20, arguments);
        assert!(line.contains(what), "{arguments}: {line}");
    }
}
