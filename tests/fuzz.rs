//! What a fuzzer does, on stable Rust and in seconds: seeds of every kind, and seeded mutations of them, by the functions that
//! libFuzzer calls (`core/fuzz`). Those of valid parts and of the C interface are tests of their crates (`any_parts`, `any_bytes`).

#[path = "../core/fuzz/src/model.rs"]
mod model;
#[path = "../core/fuzz/src/readers.rs"]
mod readers;

use bispectral_tests::repository;
use crc::{CRC_32_ISO_HDLC, Crc};
use std::fs;
use std::path::PathBuf;

/// Steele, Lea and Flood's generator: the same numbers on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// The bytes with one to four of them changed, left out, doubled or put in, and now and then cut.
    fn mutated(&mut self, bytes: &[u8]) -> Vec<u8> {
        const TELLING: [u8; 12] = [
            0, 1, 2, 0x7f, 0x80, 0xff, b'0', b'9', b',', b'\n', b'-', b'e',
        ];
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 | 1 => bytes[at] = self.next() as u8,
                2 => bytes[at] = TELLING[self.below(TELLING.len())],
                3 => bytes[at] ^= 1 << self.below(8),
                4 => bytes.insert(at, TELLING[self.below(TELLING.len())]),
                _ if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => {}
            }
        }
        if self.below(16) == 0 {
            bytes.truncate(self.below(bytes.len()).max(1));
        }
        bytes
    }
}

fn seeds(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(repository().join(folder)).unwrap();
    let mut seeds: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    seeds.sort();
    seeds
}

#[test]
fn every_kind_of_model_loads_and_its_mutations_are_models_or_errors() {
    let seeds = seeds("core/fuzz/seeds/model");
    assert!(seeds.len() > 20);
    let mut random = SplitMix64(1);
    let (mut tried, mut loaded) = (0, 0);
    for (path, bytes) in &seeds {
        assert!(model::examine(bytes), "{}", path.display());
        assert!(
            model::repaired(model::fields(bytes)) == *bytes,
            "{}",
            path.display()
        );
        for _ in 0..400 {
            let mutated = random.mutated(model::fields(bytes));
            tried += 1;
            loaded += usize::from(model::examine(&model::repaired(&mutated)));
            model::examine(&random.mutated(bytes));
        }
    }
    println!("{loaded} of {tried} mutations were models, and computed with");
    // Most weights may be any number, so that the arithmetic is reached: by 2,445 of 10,400.
    assert!(5 * loaded > tried, "{loaded} of {tried}");
}

/// Reads mutations of a seed; how many of them were values.
fn read_mutations(name: &str, count: usize, repair: impl Fn(Vec<u8>) -> Vec<u8>) -> usize {
    let seed = fs::read(repository().join("tests/seeds").join(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, &seed).unwrap();
    assert!(readers::examine(&path), "{name}");
    let mut random = SplitMix64(name.len() as u64);
    let mutations = (0..count).map(|_| repair(random.mutated(&seed)));
    let is_read = |bytes| {
        fs::write(&path, bytes).unwrap();
        readers::examine(&path)
    };
    mutations.map(is_read).filter(|&read| read).count()
}

#[test]
fn files_of_any_bytes_are_read_or_refused_in_one_line() {
    for (name, most_are_damaged) in [
        ("f8.npy", false),
        ("images-f2.npy", false),
        ("i2-big.npy", false),
        ("header.csv", false),
        ("comma.csv", false),
        ("images.idx", false),
        ("images.idx.gz", true),
        ("labels.csv", false),
        ("words.npy", false),
        ("grey.png", false),
        ("run.toml", false),
    ] {
        let read = read_mutations(name, 1000, |bytes| bytes);
        assert!(read > 10 || most_are_damaged, "{name}: {read}");
    }
    let crc = Crc::<u32>::new(&CRC_32_ISO_HDLC);
    let repair = |mut bytes: Vec<u8>| {
        bytes.truncate(bytes.len().saturating_sub(4));
        let sum = crc.checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    };
    let read = read_mutations("checkpoint.bin", 1000, repair);
    assert!(read > 10, "{read}");
}
