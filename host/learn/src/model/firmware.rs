//! A whole small program around a model, as a Cargo project or with a Makefile: it reads windows, calls the core and prints.
//!
//! The board is one that QEMU has or a real one by its HAL crate. Beside the program lie recorded windows, and what the host
//! computes of them, to the bit.

use super::c::array;
use super::emit::{Exported, Kind};
use crate::Result;
use bispectral_core::{Feature, Model};
use std::fmt::Write;

/// Of a board's RAM at most this share is a buffer for features; where they need more, they are streamed.
const SHARE: usize = 4;
/// Windows that are made up where none are given.
const WINDOWS: usize = 4;

/// Where a board has its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    origin: u32,
    /// In bytes.
    pub length: usize,
}

/// How a program begins on a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runtime {
    CortexM,
    Riscv32,
    Rp2040,
    Stm32f405,
}

/// A board that a program can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    /// What people choose it by.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What Rust calls its processor.
    pub target: &'static str,
    /// Where the program and the model are.
    pub flash: Memory,
    /// Where everything else is.
    pub ram: Memory,
    /// How QEMU is started, where it has this board.
    pub emulator: Option<&'static str>,
    /// What probe-rs calls a part of this kind.
    chip: &'static str,
    runtime: Runtime,
}

const fn memory(origin: u32, kilobytes: usize) -> Memory {
    Memory {
        origin,
        length: 1024 * kilobytes,
    }
}

/// Generic ones that QEMU has, and two real ones.
pub const BOARDS: [Board; 6] = [
    Board {
        name: "cortex-m4f",
        about: "a Cortex-M4F (MPS2 AN386 in QEMU)",
        target: "thumbv7em-none-eabihf",
        flash: memory(0, 1024),
        ram: memory(0x2000_0000, 128),
        emulator: Some("qemu-system-arm -M mps2-an386 -cpu cortex-m4 -icount shift=7"),
        chip: "STM32F411CEUx",
        runtime: Runtime::CortexM,
    },
    Board {
        name: "cortex-m0",
        about: "a Cortex-M0 or M0+ (micro:bit in QEMU)",
        target: "thumbv6m-none-eabi",
        flash: memory(0, 256),
        ram: memory(0x2000_0000, 16),
        emulator: Some("qemu-system-arm -M microbit -cpu cortex-m0"),
        chip: "nRF51822_xxAA",
        runtime: Runtime::CortexM,
    },
    Board {
        name: "cortex-m33",
        about: "a Cortex-M33 (MPS2 AN505 in QEMU)",
        target: "thumbv8m.main-none-eabihf",
        flash: memory(0x1000_0000, 1024),
        ram: memory(0x3800_0000, 128),
        emulator: Some("qemu-system-arm -M mps2-an505 -cpu cortex-m33"),
        chip: "nRF9160_xxAA",
        runtime: Runtime::CortexM,
    },
    Board {
        name: "rv32",
        about: "an RV32IMAC (virt in QEMU)",
        target: "riscv32imac-unknown-none-elf",
        flash: memory(0x8000_0000, 1024),
        ram: memory(0x8010_0000, 128),
        emulator: Some("qemu-system-riscv32 -M virt -bios none -icount shift=0"),
        chip: "esp32c6",
        runtime: Runtime::Riscv32,
    },
    Board {
        name: "stm32f405",
        about: "an STM32F405 (Netduino Plus 2, also in QEMU)",
        target: "thumbv7em-none-eabihf",
        flash: memory(0x0800_0000, 1024),
        ram: memory(0x2000_0000, 128),
        emulator: Some("qemu-system-arm -M netduinoplus2"),
        chip: "STM32F405RGTx",
        runtime: Runtime::Stm32f405,
    },
    Board {
        name: "rp2040",
        about: "an RP2040 (Raspberry Pi Pico)",
        target: "thumbv6m-none-eabi",
        flash: memory(0x1000_0100, 2047),
        ram: memory(0x2000_0000, 256),
        emulator: None,
        chip: "RP2040",
        runtime: Runtime::Rp2040,
    },
];

/// What QEMU is told behind the machine.
const SEMIHOSTING: &str = "-nographic -semihosting-config enable=on,target=native -kernel";

impl Board {
    /// The board of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Board> {
        BOARDS.iter().find(|board| board.name == name)
    }

    /// Whether a program in C can be written for it: where arm-none-eabi-gcc compiles, and nothing stands before the vectors.
    #[must_use]
    pub fn has_c(&self) -> bool {
        !matches!(self.runtime, Runtime::Riscv32 | Runtime::Rp2040)
    }

    /// What `run` starts.
    fn runner(&self) -> String {
        match self.emulator {
            Some(emulator) => format!("{emulator} {SEMIHOSTING}"),
            None => self.probe(),
        }
    }

    fn probe(&self) -> String {
        format!("probe-rs run --chip {}", self.chip)
    }

    fn runs(&self) -> &'static str {
        match self.emulator {
            Some(_) => {
                "Runs in QEMU. With a board at hand, exchange the runner for the line of probe-rs."
            }
            None => "Flashes and runs by probe-rs; QEMU has no such board.",
        }
    }

    /// What the compiler of C is told.
    fn cpu(&self) -> &'static str {
        match self.target {
            "thumbv6m-none-eabi" => "-mcpu=cortex-m0 -mthumb",
            "thumbv8m.main-none-eabihf" => {
                "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16"
            }
            _ => "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
        }
    }

    fn dependencies(&self) -> &'static str {
        match self.runtime {
            Runtime::CortexM => "cortex-m-rt = \"0.7.7\"\n",
            Runtime::Riscv32 => {
                "riscv-rt = { version = \"0.18.0\", features = [\"memory\", \"single-hart\"] }\n"
            }
            Runtime::Stm32f405 => {
                "cortex-m-rt = \"0.7.7\"\nstm32f4xx-hal = { version = \"0.23.0\", features = [\"stm32f405\"] }\n"
            }
            Runtime::Rp2040 => {
                "cortex-m-rt = \"0.7.7\"\nembedded-hal = \"1.0.0\"\nrp2040-boot2 = \"0.3.0\"\n\
                 rp2040-hal = { version = \"0.12.0\", features = [\"critical-section-impl\", \"rt\"] }\n"
            }
        }
    }

    fn source(&self) -> &'static str {
        match self.runtime {
            Runtime::CortexM => include_str!("firmware/cortex-m.rs.txt"),
            Runtime::Riscv32 => include_str!("firmware/riscv32.rs.txt"),
            Runtime::Stm32f405 => include_str!("firmware/stm32f405.rs.txt"),
            Runtime::Rp2040 => include_str!("firmware/rp2040.rs.txt"),
        }
    }

    /// memory.x.
    fn map(&self) -> String {
        let Board { flash, ram, .. } = self;
        let mut text = format!(
            "/* {}: put your part's flash and RAM here. */\nMEMORY\n{{\n",
            self.about
        );
        if self.runtime == Runtime::Rp2040 {
            text += "  BOOT2 : ORIGIN = 0x10000000, LENGTH = 0x100\n";
        }
        let _ = write!(
            text,
            "  FLASH : ORIGIN = {:#010x}, LENGTH = {}K\n  RAM   : ORIGIN = {:#010x}, LENGTH = {}K\n}}\n\
             _flash_origin = ORIGIN(FLASH);\n_ram_origin = ORIGIN(RAM);\n",
            flash.origin,
            flash.length / 1024,
            ram.origin,
            ram.length / 1024,
        );
        match self.runtime {
            Runtime::Rp2040 => {
                text += "SECTIONS { .boot2 ORIGIN(BOOT2) : { KEEP(*(.boot2)); } > BOOT2 } INSERT BEFORE .text;\n";
            }
            Runtime::Riscv32 => {
                for (region, memory) in [
                    ("TEXT", "FLASH"),
                    ("RODATA", "FLASH"),
                    ("DATA", "RAM"),
                    ("BSS", "RAM"),
                    ("HEAP", "RAM"),
                    ("STACK", "RAM"),
                ] {
                    let _ = writeln!(text, "REGION_ALIAS(\"REGION_{region}\", {memory});");
                }
            }
            _ => {}
        }
        text
    }

    fn config(&self) -> String {
        let runner = |line: String| format!("runner = \"{line}\"\n");
        let probe = match self.emulator {
            Some(_) => format!(
                "# With a board at hand, and its memory in memory.x:\n# {}",
                runner(self.probe())
            ),
            None => String::new(),
        };
        format!(
            "[build]\ntarget = \"{target}\"\n\n[target.{target}]\n{}{probe}",
            runner(self.runner()),
            target = self.target,
        )
    }
}

/// What the program does with a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// The class, and the scores.
    Classify,
    /// All features, in a buffer.
    Features,
    /// One term of the bispectrum after the other.
    Stream,
}

impl Call {
    /// What a board of so much RAM does with this model.
    #[must_use]
    pub fn of(model: &Model<'_>, ram: usize) -> Self {
        let buffer = model.feature_count() * size_of::<f32>();
        if model.classes() > 0 {
            Call::Classify
        } else if buffer <= ram / SHARE {
            Call::Features
        } else {
            Call::Stream
        }
    }

    fn does(self) -> &'static str {
        match self {
            Call::Classify => "Classifies",
            Call::Features => "Prints what becomes of",
            Call::Stream => "Streams the terms of",
        }
    }

    /// The buffer for the result, and the body of the loop.
    fn rust(self) -> [&'static str; 2] {
        match self {
            Call::Classify => [
                "    let mut scores = [0.0; network::CLASSES];\n",
                "        let class = model.classify(&window, &mut scratch, &mut scores)?;\n        \
                 println!(\"window {number}: class {class}, bits {:08x}\", checksum::of(&scores));\n",
            ],
            Call::Features => [
                "    let mut features = [0.0; network::FEATURES];\n",
                "        model.features(&window, &mut scratch, &mut features)?;\n        \
                 println!(\"window {number}: bits {:08x}\", checksum::of(&features));\n",
            ],
            Call::Stream => [
                "",
                "        let mut bits = checksum::Checksum::EMPTY;\n        \
                 model.stream(&window, &mut scratch, |_, _, term| {\n            \
                 bits.add(term.re);\n            bits.add(term.im);\n        })?;\n        \
                 println!(\"window {number}: bits {:08x}\", bits.0);\n",
            ],
        }
    }

    fn c(self) -> [&'static str; 2] {
        match self {
            Call::Classify => [
                "static float scores[MODEL_CLASSES];\n",
                "    size_t class;\n    \
                 status = bispectral_classify(&model, window, MODEL_INPUTS, scratch, MODEL_SCRATCH, scores, MODEL_CLASSES, &class);\n    \
                 if (status != BISPECTRAL_STATUS_OK) break;\n    uint32_t bits = EMPTY_CHECKSUM;\n    \
                 for (size_t k = 0; k < MODEL_CLASSES; k++) add_bits(&bits, scores[k]);\n    \
                 print(\"window \");\n    print_number(number);\n    print(\": class \");\n    print_number(class);\n    \
                 print(\", bits \");\n    print_bits(bits);\n    print(\"\\n\");\n",
            ],
            Call::Features => [
                "static float features[MODEL_FEATURES];\n",
                "    status = bispectral_features(&model, window, MODEL_INPUTS, scratch, MODEL_SCRATCH, features, MODEL_FEATURES);\n    \
                 if (status != BISPECTRAL_STATUS_OK) break;\n    uint32_t bits = EMPTY_CHECKSUM;\n    \
                 for (size_t k = 0; k < MODEL_FEATURES; k++) add_bits(&bits, features[k]);\n    \
                 print(\"window \");\n    print_number(number);\n    print(\": bits \");\n    print_bits(bits);\n    print(\"\\n\");\n",
            ],
            Call::Stream => [
                "\nstatic void add(void *bits, size_t i, size_t j, BispectralComplex term) {\n  (void)i, (void)j;\n  \
                     add_bits(bits, term.re);\n  add_bits(bits, term.im);\n}\n",
                "    uint32_t bits = EMPTY_CHECKSUM;\n    BispectralMagnitude magnitude;\n    \
                     status = bispectral_stream(&model, window, MODEL_INPUTS, scratch, MODEL_SCRATCH, add, &bits, &magnitude);\n    \
                     if (status != BISPECTRAL_STATUS_OK) break;\n    \
                     print(\"window \");\n    print_number(number);\n    print(\": bits \");\n    print_bits(bits);\n    print(\"\\n\");\n",
            ],
        }
    }
}

/// FNV-1a of the bits of numbers, 32 bits at a time, as the programs compute it.
fn add(checksum: u32, number: f32) -> u32 {
    (checksum ^ number.to_bits()).wrapping_mul(0x0100_0193)
}

/// The checksum of no numbers.
const EMPTY: u32 = 0x811c_9dc5;

/// The language of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// A Cargo project
    Rust,
    /// A Makefile, and the core as a static library
    C,
}

/// A file of a project: its path below the project's folder, and its bytes.
pub type ProjectFile = (String, Vec<u8>);

/// A program around a model.
#[derive(Debug, Clone, Copy)]
pub struct Project<'a> {
    /// The model.
    pub exported: &'a Exported<'a>,
    /// Where it runs.
    pub board: &'a Board,
    /// What it is written in.
    pub language: Language,
    /// Recorded windows, one behind the other, as many samples each as the model has inputs.
    pub windows: &'a [f32],
}

/// Windows for a model of so many inputs, where there are no recorded ones.
#[must_use]
pub fn made_up_windows(inputs: usize) -> Vec<f32> {
    let sample =
        |window: usize, n: usize| ((n * n * 7 + n * (3 + window) + 11) % 61) as f32 / 61.0 - 0.375;
    (0..WINDOWS)
        .flat_map(|window| (0..inputs).map(move |n| sample(window, n)))
        .collect()
}

impl Project<'_> {
    /// What the program does with a window.
    #[must_use]
    pub fn call(&self) -> Call {
        Call::of(self.exported.model(), self.board.ram.length)
    }

    /// Every file but the core's.
    ///
    /// # Errors
    /// A window that the core refuses, by its number.
    pub fn files(&self) -> Result<Vec<ProjectFile>> {
        let text = |name: &str, template: &str| (name.to_owned(), self.fill(template).into_bytes());
        let mut files = match self.language {
            Language::Rust => self.cargo_project(text),
            Language::C => self.makefile_project(text),
        };
        files.push(("expected.txt".into(), self.expected()?.into_bytes()));
        Ok(files)
    }

    fn cargo_project(&self, text: impl Fn(&str, &str) -> ProjectFile) -> Vec<ProjectFile> {
        let windows = self.windows.iter().flat_map(|sample| sample.to_le_bytes());
        vec![
            text("Cargo.toml", include_str!("firmware/Cargo.toml.txt")),
            text("README.md", include_str!("firmware/README.md.txt")),
            text(".gitignore", "/target\n"),
            text(".cargo/config.toml", &self.board.config()),
            text("build.rs", include_str!("firmware/build.rs.txt")),
            text("memory.x", &self.board.map()),
            text("src/main.rs", include_str!("firmware/main.rs.txt")),
            text("src/board.rs", self.board.source()),
            text("src/checksum.rs", include_str!("firmware/checksum.rs.txt")),
            text("src/memory.rs", include_str!("firmware/memory.rs.txt")),
            text("src/sensor.rs", include_str!("firmware/sensor.rs.txt")),
            ("model.bsn".into(), self.exported.bytes().to_vec()),
            ("windows.bin".into(), windows.collect()),
        ]
    }

    fn makefile_project(&self, text: impl Fn(&str, &str) -> ProjectFile) -> Vec<ProjectFile> {
        let inputs = self.exported.sizes().inputs;
        let header = Kind::C.emitter().emit(self.exported, "model");
        vec![
            text("Makefile", include_str!("firmware/Makefile.txt")),
            text(".gitignore", "/firmware.elf\n/bispectral-core/ffi/target\n"),
            text("board.c", include_str!("firmware/board.c.txt")),
            text("board.h", include_str!("firmware/board.h.txt")),
            text("board.ld", include_str!("firmware/board.ld.txt")),
            text("main.c", include_str!("firmware/main.c.txt")),
            ("model.h".into(), header),
            ("windows.h".into(), array(self.windows, inputs).into_bytes()),
        ]
    }

    /// What the program prints, computed by the core on this host.
    ///
    /// # Errors
    /// A window that the core refuses, by its number.
    pub fn expected(&self) -> Result<String> {
        let model = self.exported.model();
        let sizes = self.exported.sizes();
        let mut scratch = vec![0.0; sizes.scratch];
        let mut out = vec![0.0; sizes.features.max(sizes.classes)];
        let mut text = String::new();
        for (number, window) in self.windows.chunks_exact(sizes.inputs).enumerate() {
            let line = match self.call() {
                Call::Classify => model
                    .classify(window, &mut scratch, &mut out)
                    .map(|class| (Some(class), of(&out[..sizes.classes]))),
                Call::Features => model
                    .features(window, &mut scratch, &mut out)
                    .map(|()| (None, of(&out[..sizes.features]))),
                Call::Stream => {
                    let mut bits = EMPTY;
                    let each = |_, _, term: num_complex::Complex32| {
                        bits = add(add(bits, term.re), term.im);
                    };
                    let streamed = model.stream(window, &mut scratch, each);
                    streamed.map(|_| (None, bits))
                }
            };
            let (class, bits) = line.map_err(|error| {
                let what = format!("{error}");
                crate::Error::new(format!("window {number}"), what, "leave it out")
            })?;
            let class = class.map_or(String::new(), |class| format!("class {class}, "));
            let _ = writeln!(text, "window {number}: {class}bits {bits:08x}");
        }
        Ok(text)
    }

    /// The features of the core that the model needs.
    fn features(&self) -> Vec<&'static str> {
        let needed = self.exported.model().needed_features();
        needed.map(Feature::name).collect()
    }

    /// A template with what stands between double braces.
    fn fill(&self, template: &str) -> String {
        let Board { flash, ram, .. } = self.board;
        let kilobytes = |memory: &Memory| format!("{}K", memory.length / 1024);
        let (features, [buffer, call]) = match self.language {
            Language::Rust => (format!("{:?}", self.features()), self.call().rust()),
            Language::C => (self.features().join(","), self.call().c()),
        };
        let mut text = template.to_owned();
        for (name, value) in [
            ("BUFFER", buffer.to_owned()),
            ("CALL", call.to_owned()),
            ("TITLE", self.exported.title().replace('"', "")),
            ("ABOUT", self.board.about.to_owned()),
            ("DOES", self.call().does().to_owned()),
            ("NAME", format!("bispectral-{}", self.board.name)),
            ("TARGET", self.board.target.to_owned()),
            ("FEATURES", features),
            ("DEPENDENCIES", self.board.dependencies().to_owned()),
            ("RUNS", self.board.runs().to_owned()),
            ("RUNNER", self.board.runner()),
            ("CPU", self.board.cpu().to_owned()),
            ("FLASH_ORIGIN", format!("{:#010x}", flash.origin)),
            ("FLASH_LENGTH", kilobytes(flash)),
            ("RAM_ORIGIN", format!("{:#010x}", ram.origin)),
            ("RAM_LENGTH", kilobytes(ram)),
        ] {
            text = text.replace(&format!("{{{{{name}}}}}"), &value);
        }
        text
    }
}

fn of(numbers: &[f32]) -> u32 {
    numbers
        .iter()
        .fold(EMPTY, |bits, number| add(bits, *number))
}
