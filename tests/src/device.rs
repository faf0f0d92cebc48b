//! Any model on any emulated board: `count` of firmware-example computes one inference with it.

use crate::place::place;
use crate::repository;
use std::fs;
use std::process::Command;

/// A board that QEMU has.
#[derive(Debug, Clone, Copy)]
pub struct Board {
    /// What people call its processor.
    pub name: &'static str,
    target: &'static str,
    emulator: &'static str,
    machine: &'static str,
}

/// Cortex-M4F, M0, M33 and RV32IMAC; instructions are counted on the first and the last.
pub const BOARDS: [Board; 4] = [
    Board {
        name: "M4F",
        target: "thumbv7em-none-eabihf",
        emulator: "qemu-system-arm",
        machine: "-M mps2-an386 -cpu cortex-m4 -icount shift=7",
    },
    Board {
        name: "M0",
        target: "thumbv6m-none-eabi",
        emulator: "qemu-system-arm",
        machine: "-M microbit -cpu cortex-m0",
    },
    Board {
        name: "M33",
        target: "thumbv8m.main-none-eabihf",
        emulator: "qemu-system-arm",
        machine: "-M mps2-an505 -cpu cortex-m33",
    },
    Board {
        name: "RV32",
        target: "riscv32imac-unknown-none-elf",
        emulator: "qemu-system-riscv32",
        machine: "-M virt -bios none -icount shift=0",
    },
];

/// Cortex-M3, which has no floats, either, and takes the time of M0 and RV32 to say so.
pub const M3: Board = Board {
    name: "M3",
    target: "thumbv7m-none-eabi",
    emulator: "qemu-system-arm",
    machine: "-M lm3s6965evb -cpu cortex-m3",
};

/// What the board said of one inference in the streaming form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Where the board can count them.
    pub instructions: Option<u64>,
    /// The most of the stack in use, in bytes.
    pub stack: usize,
    /// RAM of the program beside stack, signal and scratch, in bytes.
    pub statics: usize,
    /// Flash of the program without the model, in bytes.
    pub program: usize,
    /// CRC-32 of every term, and of the norm.
    pub checksum: u32,
}

/// The signal of `count`.
#[must_use]
pub fn signal(inputs: usize) -> Vec<f32> {
    let sample = |n: usize| ((n * n * 7 + n * 3 + 11) % 61) as f32 / 61.0 - 0.375;
    (0..inputs).map(sample).collect()
}

impl Board {
    /// Builds the programs that run on this board with what it is sent.
    ///
    /// # Errors
    /// They do not build, or the emulator is not installed.
    ///
    /// # Panics
    /// There is no cargo.
    pub fn build(&self) -> Result<(), String> {
        let emulator = self.emulator;
        if Command::new(emulator).arg("--version").output().is_err() {
            return Err(format!(
                "{emulator} is not installed: `bash tests/all.sh` installs it"
            ));
        }
        let build = "build --release --features fft --bins --target";
        let output = Command::new(env!("CARGO"))
            .args(build.split(' '))
            .arg(self.target)
            .current_dir(repository().join("firmware-example"))
            .output()
            .expect("cargo runs");
        if output.status.success() {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: {errors}", self.name))
    }

    /// One inference with this model.
    ///
    /// # Errors
    /// What the board printed instead of an answer: a model it has no room for.
    ///
    /// # Panics
    /// There is no room for a temporary file, or [`build`](Self::build) was not called.
    pub fn count(&self, model: &[u8]) -> Result<Counted, String> {
        let words = self.send("count", model)?;
        let number = |label| after(&words, label).parse::<usize>().expect("a number");
        let instructions = number("instructions") as u64;
        Ok(Counted {
            instructions: (instructions > 0).then_some(instructions),
            stack: number("stack"),
            statics: number("statics"),
            program: number("program"),
            checksum: u32::from_str_radix(after(&words, "checksum"), 16).expect("a checksum"),
        })
    }

    /// What a program printed that finds these bytes in the board's memory.
    ///
    /// # Errors
    /// What it printed instead, or that there is no room for them.
    ///
    /// # Panics
    /// There is no room for a temporary file, or [`build`](Self::build) was not called.
    pub fn send(&self, program: &str, bytes: &[u8]) -> Result<String, String> {
        let (at, room) = place(self.target);
        if bytes.len() > room {
            let needed = bytes.len();
            return Err(format!(
                "{needed} bytes, there is room for {room}: send a smaller model or fewer signals"
            ));
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("sent.bin");
        fs::write(&path, bytes).expect("a new file");
        let loader = format!(
            "loader,file={},addr={at:#x},force-raw=on",
            path.display().to_string().replace(',', ",,"),
        );
        self.run(program, &["-device", &loader])
    }

    /// Instructions of all 32,896 invariants of Z16xZ16 by microfft and triple products, and how many of them the transform
    /// takes; zeros where the board does not count.
    ///
    /// # Panics
    /// It does not run, or [`build`](Self::build) was not called.
    #[must_use]
    pub fn by_hand(&self) -> [u64; 2] {
        let words = self.run("by_hand", &[]).expect("a program without a model");
        ["instructions", "transform"].map(|label| after(&words, label).parse().expect("a number"))
    }

    /// What Rust calls the processor.
    #[must_use]
    pub fn target(&self) -> &'static str {
        self.target
    }

    /// What a program of firmware-example printed.
    ///
    /// # Errors
    /// What it printed instead.
    ///
    /// # Panics
    /// The emulator is not installed, or the program was not built.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        let firmware = repository().join("firmware-example/target");
        let output = Command::new(self.emulator)
            .args(self.machine.split(' '))
            .args([
                "-nographic",
                "-semihosting-config",
                "enable=on,target=native",
            ])
            .args(arguments)
            .arg("-kernel")
            .arg(firmware.join(self.target).join("release").join(program))
            .output()
            .expect("the emulator runs");
        let [words, errors] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        if output.status.success() {
            Ok(words)
        } else {
            Err(errors.trim().trim_start_matches("error: ").to_owned())
        }
    }
}

/// The word behind `label`.
#[must_use]
pub fn after<'w>(words: &'w str, label: &str) -> &'w str {
    let mut words = words.split_whitespace();
    words.find(|word| *word == label);
    words.next().unwrap_or_default()
}
