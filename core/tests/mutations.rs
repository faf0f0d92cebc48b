//! Models damaged in a quarter of a million ways. As they are, none of them loads but those the damage left unchanged.
//! With length and checksum made right again, whatever loads is read as the reader made from `docs/format.md` reads it,
//! is written back to the same bytes, and its invariants are those of the equations; all else has a name.

mod by_hand;
mod equations;

use bispectral_core::{Complex32, Error, Model};
use by_hand::{Decoded, Fields, both, with_checksum};
use equations::{Disc, Rounded, evaluate};
use num_complex::Complex64;
use std::collections::BTreeMap;

/// A quarter of a million in all, over 5 models.
const BYTES_AS_THEY_ARE: u64 = 10_000;
const BYTES_REPAIRED: u64 = 20_000;
const FIELDS_REPAIRED: u64 = 20_000;

/// Steele, Lea and Flood's generator: the same numbers on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 … end − 1.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// −1 … 1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// A range of bytes that is not long.
    fn range(&mut self, length: usize) -> core::ops::Range<usize> {
        let from = self.below(length);
        let to = (from + 1 + self.below(24)).min(length);
        from..to
    }
}

fn model(inputs: u16, rows: u16, name: &str, group: &str) -> Fields {
    let mut random = SplitMix64(u64::from(inputs) << 16 | u64::from(rows));
    let count = 2 * usize::from(inputs) * usize::from(rows);
    Fields {
        inputs,
        rows,
        name: name.into(),
        group: group.into(),
        weights: (0..count)
            .flat_map(|_| random.unit().to_le_bytes())
            .collect(),
        ..Fields::z4()
    }
}

/// Square, tall, wide, the smallest; with names and without; one whose lengths take two bytes.
fn models() -> [Fields; 5] {
    [
        Fields::z4(),
        model(1, 1, "", ""),
        model(3, 7, "", "Z3"),
        model(9, 2, "Drehung um 40°", ""),
        model(4, 4, &"n".repeat(130), "Z2xZ2"),
    ]
}

/// One or a few edits that know nothing of the format.
fn mutate_bytes(bytes: &mut Vec<u8>, random: &mut SplitMix64) {
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        match random.below(8) {
            0 | 1 => bytes[random.below(length)] ^= 1 << random.below(8),
            2 => bytes[random.below(length)] = random.next() as u8,
            3 => {
                let from = random.range(length);
                let to = random.below(length - from.len() + 1);
                bytes.copy_within(from, to);
            }
            4 => {
                let copy = bytes[random.range(length)].to_vec();
                let at = random.below(length + 1);
                bytes.splice(at..at, copy);
            }
            5 => drop(bytes.drain(random.range(length))),
            6 => bytes.truncate(random.below(length)),
            _ => bytes.extend((0..=random.below(40)).map(|_| random.next() as u8)),
        }
    }
}

/// One or a few edits of fields: dimensions, names, kinds, padding, weights, and how numbers are written.
fn mutate_fields(fields: &mut Fields, random: &mut SplitMix64) {
    const DIMENSIONS: [u16; 9] = [0, 1, 2, 127, 128, 8192, 8193, 16384, u16::MAX];
    /// NaN, ∞, the largest f32, 2^61, 2^60, 2^-60, the smallest f32, −0.
    const SPECIAL: [u32; 8] = [
        0x7fc0_0000,
        0xff80_0000,
        0x7f7f_ffff,
        0x5e00_0000,
        0x5d80_0000,
        0x2180_0000,
        1,
        0x8000_0000,
    ];
    for _ in 0..=random.below(2) {
        match random.below(12) {
            0 => core::mem::swap(&mut fields.inputs, &mut fields.rows),
            1 => fields.inputs = DIMENSIONS[random.below(9)],
            2 => fields.rows = DIMENSIONS[random.below(9)],
            3 => mutate_bytes(&mut fields.name, random),
            4 => mutate_bytes(&mut fields.group, random),
            5 => fields.sections[random.below(4)].0 = random.below(3) as u8,
            6 => fields.sections[random.below(4)].1 = vec![0; random.below(3)],
            7 => fields.padding = Some(vec![random.below(2) as u8; random.below(34)]),
            8 => fields.overlong = Some(random.below(11)),
            9 => mutate_bytes(&mut fields.weights, random),
            10 => set_weight(fields, SPECIAL[random.below(8)], random),
            _ => set_weight(fields, random.next() as u32, random),
        }
    }
}

fn set_weight(fields: &mut Fields, bits: u32, random: &mut SplitMix64) {
    let (weights, _) = fields.weights.as_chunks_mut::<4>();
    if !weights.is_empty() {
        let at = random.below(weights.len());
        weights[at] = bits.to_le_bytes();
    }
}

/// What a file can be refused for once its length and checksum are right.
const FIELD_REFUSALS: [&str; 6] = [
    "Malformed",
    "Unsupported",
    "Dimensions",
    "WeightLength",
    "NonFiniteWeight",
    "WeightRange",
];

/// What became of the mutations.
#[derive(Default)]
struct Tally {
    loaded: u32,
    /// Of those: how many had the bits of another model, and how many were compared with the equations.
    changed: u32,
    compared: u32,
    refused: BTreeMap<String, u32>,
}

impl Tally {
    fn refuse(&mut self, error: Error) {
        let name = format!("{error:?}");
        let end = name.find([' ', '{']).unwrap_or(name.len());
        *self.refused.entry(name[..end].into()).or_default() += 1;
    }

    fn total(&self) -> u32 {
        self.loaded + self.refused.values().sum::<u32>()
    }

    /// A refusal that hardly ever happened would not have been tested.
    fn assert_seen(&self, names: &[&str]) {
        for name in names {
            let times = self.refused.get(*name).copied().unwrap_or_default();
            assert!(times >= 20, "{name}: {times} times");
        }
    }

    fn print(&self, what: &str) {
        println!(
            "{what}: {} mutations, {} loaded, {} of them changed, {} compared; {:?}",
            self.total(),
            self.loaded,
            self.changed,
            self.compared,
            self.refused
        );
    }
}

/// A damaged file, its length and checksum right: read twice, written back, evaluated.
fn examine(bytes: &[u8], original: &[u8], random: &mut SplitMix64, tally: &mut Tally) {
    match both(bytes) {
        Ok((model, decoded)) => {
            tally.loaded += 1;
            tally.changed += u32::from(bytes != original);
            tally.compared += u32::from(agrees_with_the_equations(&model, &decoded, random));
            assert_eq!(written_back(&model), bytes);
        }
        Err(error) => tally.refuse(error),
    }
}

fn written_back(model: &Model<'_>) -> Vec<u8> {
    let parts = model.parts();
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.write(&mut bytes).unwrap();
    bytes
}

/// Half of the samples zero, so that some models hardly respond.
fn signal(inputs: u16, random: &mut SplitMix64) -> Vec<f32> {
    let mut x: Vec<f32> = (0..inputs)
        .map(|_| random.unit() * random.below(2) as f32)
        .collect();
    x[0] = random.unit();
    x
}

/// z, β and β̄ are where the equations and the roundings of f32 have them. Whether β̄ could be compared.
fn agrees_with_the_equations(
    model: &Model<'_>,
    decoded: &Decoded,
    random: &mut SplitMix64,
) -> bool {
    let x = signal(decoded.inputs, random);
    let weights: Vec<Complex64> = (decoded.weights.iter())
        .map(|w| Complex64::new(w.re.into(), w.im.into()))
        .collect();
    let doubles: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let exact = evaluate(&weights, &doubles, Rounded::default());
    let mut scratch = vec![0.0; model.scratch_len()];
    let mut found = vec![Complex32::ZERO; model.pairs()];

    let z = &mut found[..model.rows()];
    model
        .coefficients(&x, &mut scratch, z)
        .expect("weights below 2^61");
    assert_holds(&exact.coefficients, z);
    match model.bispectrum(&x, &mut scratch, &mut found) {
        Ok(()) => assert_holds(&exact.bispectrum, &found),
        Err(error) => {
            assert_eq!(error, Error::Overflow);
            let far = |disc: &Disc| disc.centre.l1_norm() + disc.radius > f64::from(f32::MAX);
            assert!(exact.bispectrum.iter().any(far));
        }
    }
    if let Err(error) = model.invariants(&x, &mut scratch, &mut found) {
        assert_eq!(error, Error::ZeroBispectrum);
        assert!(exact.permits(false));
        return false;
    }
    let squares: f64 = (found.iter())
        .map(|b| f64::from(b.re).powi(2) + f64::from(b.im).powi(2))
        .sum();
    // The roundings of the norm, its reciprocal and the products: see `properties.rs`.
    assert!((squares.sqrt() - 1.0).abs() < 6.0 * 2_f64.powi(-24));
    assert!(exact.permits(true));
    assert_holds(&exact.invariants, &found);
    exact.is_well_conditioned()
}

fn assert_holds(discs: &[Disc], found: &[Complex32]) {
    for (disc, found) in discs.iter().zip(found) {
        assert!(disc.holds(found.re, found.im), "{found} outside {disc:?}");
    }
}

#[test]
fn damaged_bytes_do_not_load() {
    let mut tally = Tally::default();
    for (seed, fields) in models().iter().enumerate() {
        let original = fields.encode();
        let mut random = SplitMix64(seed as u64);
        for _ in 0..BYTES_AS_THEY_ARE {
            let mut bytes = original.clone();
            mutate_bytes(&mut bytes, &mut random);
            match both(&bytes) {
                Ok(_) => {
                    assert_eq!(bytes, original);
                    tally.loaded += 1;
                }
                Err(error) => tally.refuse(error),
            }
        }
    }
    tally.print("bytes as they are");
    assert_eq!(tally.total(), 50_000);
    // Copying zeros onto zeros leaves a file as it was.
    assert!(tally.loaded > 100);
    tally.assert_seen(&["Truncated", "TrailingBytes", "Magic", "Version", "Checksum"]);
}

#[test]
fn damaged_bytes_with_a_right_checksum_load_as_what_they_say_or_not_at_all() {
    let mut tally = Tally::default();
    for (seed, fields) in models().iter().enumerate() {
        let original = fields.encode();
        let mut random = SplitMix64(1000 + seed as u64);
        for _ in 0..BYTES_REPAIRED {
            let mut message = original[..original.len() - 4].to_vec();
            mutate_bytes(&mut message, &mut random);
            examine(&with_checksum(message), &original, &mut random, &mut tally);
        }
    }
    tally.print("bytes repaired");
    assert_eq!(tally.total(), 100_000);
    assert!(tally.changed > 10_000 && tally.compared > 10_000);
    tally.assert_seen(&FIELD_REFUSALS);
}

#[test]
fn damaged_fields_load_as_what_they_say_or_not_at_all() {
    let mut tally = Tally::default();
    for (seed, fields) in models().iter().enumerate() {
        let original = fields.encode();
        let mut random = SplitMix64(2000 + seed as u64);
        for _ in 0..FIELDS_REPAIRED {
            let mut fields = fields.clone();
            mutate_fields(&mut fields, &mut random);
            examine(&fields.encode(), &original, &mut random, &mut tally);
        }
    }
    tally.print("fields repaired");
    assert_eq!(tally.total(), 100_000);
    assert!(tally.changed > 15_000 && tally.compared > 15_000);
    tally.assert_seen(&FIELD_REFUSALS);
}
