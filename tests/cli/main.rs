//! The `bispectral` command as a user runs it: files in a folder, an exit status, two streams of text.

mod attack;
mod canonical;
mod characters;
mod classify;
mod compare;
mod couplings;
mod diagnosis;
mod documents;
mod export;
mod features;
mod folders;
mod formats;
mod fourth_order;
mod group;
mod import;
mod inspect;
mod invert;
mod limits;
mod linear;
mod messages;
#[path = "../src/octahedral.rs"]
pub mod octahedral;
mod report;
mod reproduce;
#[path = "../src/skip.rs"]
pub mod skip;
mod train;
mod tutorial_device;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder in which the command runs.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Every file, hidden ones too, and what is in it.
    fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(&path).unwrap_or_default()))
            .collect()
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bispectral"));
        command
            .current_dir(self.0.path())
            .args(arguments.split_whitespace());
        command
    }

    fn run(&self, arguments: &str) -> (Option<i32>, String, String) {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code(), text(stdout), text(stderr))
    }

    /// What a run that must succeed prints on standard output.
    fn succeed(&self, arguments: &str) -> String {
        let (code, stdout, stderr) = self.run(arguments);
        assert_eq!(code, Some(0), "{arguments}: {stderr}");
        stdout
    }

    /// The object that a run with `--json` prints, and nothing else.
    fn object(&self, arguments: &str) -> Value {
        let stdout = self.succeed(&format!("{arguments} --json"));
        let object: Value = serde_json::from_str(&stdout).unwrap();
        assert!(object.is_object(), "{stdout}");
        assert_eq!(stdout.lines().count(), 1, "{stdout}");
        object
    }

    /// The one line of a run that must fail, which leaves every file as it was and adds none.
    fn refuse(&self, arguments: &str) -> String {
        let before = self.contents();
        let (code, stdout, stderr) = self.run(arguments);
        assert_eq!(code, Some(1), "{arguments}: {stdout}{stderr}");
        assert_eq!(stdout, "", "{arguments}");
        assert_eq!(stderr.lines().count(), 1, "{arguments}: {stderr}");
        assert!(self.contents() == before, "{arguments} changed a file");
        let line = stderr.strip_prefix("error: ").expect(&stderr).trim_end();
        assert!(
            line.matches(": ").count() >= 2,
            "no file, fault and remedy: {line}"
        );
        line.to_owned()
    }

    /// That a file is an SVG from its first to its last element, and that there is something to see in it.
    fn assert_picture(&self, name: &str) {
        let text = String::from_utf8(self.read(name)).unwrap();
        assert!(
            text.starts_with("<svg ") && text.contains("xmlns=\"http://www.w3.org/2000/svg\""),
            "{name}"
        );
        assert!(text.trim_end().ends_with("</svg>"), "{name}");
        assert!(text.contains("<path") || text.contains("<rect"), "{name}");
        assert!(!text.contains("NaN") && !text.contains("inf,"), "{name}");
    }

    /// A run that must fail with a line that begins like this.
    fn refuse_with(&self, arguments: &str, beginning: &str) {
        let line = self.refuse(arguments);
        assert!(line.starts_with(beginning), "{line}\n{beginning}");
    }
}

/// A `.npy` file, put together byte by byte: version 1.0, with the header as NumPy pads it.
fn npy(descr: &str, order: Order, shape: &str, data: impl AsRef<[u8]>) -> Vec<u8> {
    let fortran = match order {
        Order::C => "False",
        Order::Fortran => "True",
    };
    let mut header =
        format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data.as_ref());
    bytes
}

#[derive(Clone, Copy)]
enum Order {
    C,
    Fortran,
}

/// Little-endian f64.
fn f64s(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// Uniform in −1 … 1: Steele, Lea and Flood's SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn values(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }
}

#[test]
fn bad_usage_exits_with_2_and_prints_nothing_on_standard_output() {
    let folder = Folder::new();
    for arguments in [
        "",
        "--json",
        "unheard-of",
        "import W.npy",
        "import W.npy -o m.bsn --threads 0",
        "import W.npy -o m.bsn --group \x1b",
        "features m.bsn X.npy -o Y.npy --raw --power",
        "inspect m.bsn --seed minus-one",
        "inspect --json",
    ] {
        let (code, stdout, stderr) = folder.run(arguments);
        assert_eq!((code, &*stdout), (Some(2), ""), "{arguments}");
        assert!(!stderr.is_empty(), "{arguments}");
    }
    assert!(folder.contents().is_empty());
}

#[test]
fn help_says_how_failures_look() {
    for arguments in ["--help", "import --help", "features --help", "inspect -h"] {
        let help = Folder::new().succeed(arguments);
        for word in ["--json", "--seed", "--threads", "--quiet", "{\"error\": "] {
            assert!(help.contains(word), "{arguments} lacks {word}");
        }
    }
}

#[test]
fn a_failure_with_json_is_one_object_with_the_line_in_it() {
    let folder = Folder::new();
    for arguments in [
        "import absent.npy -o m.bsn --json",
        "features absent.bsn X.npy -o Y.npy --json",
        "inspect absent.bsn --json",
    ] {
        let (code, stdout, stderr) = folder.run(arguments);
        assert_eq!(code, Some(1));
        let object: Value = serde_json::from_str(&stdout).unwrap();
        let line = object["error"].as_str().unwrap();
        assert!(line.starts_with("absent."), "{line}");
        assert_eq!(stderr, format!("error: {line}\n"));
    }
}

#[test]
fn a_file_name_of_several_lines_makes_one_line_of_error() {
    let folder = Folder::new();
    let mut command = folder.command("inspect");
    let output = command.arg("two\nlines\x1b[2J.bsn").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        stderr,
        "error: two\\nlines\\u{1b}[2J.bsn: there is no such file: check the path\n"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_a_failure() {
    let folder = Folder::new();
    folder.write(
        "model.bsn",
        include_bytes!("../../core/models/z4.bsn").as_slice(),
    );
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = folder.command("inspect model.bsn").stdout(full).output();
    let output = output.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.starts_with("error: standard output: "), "{stderr}");
}
