//! Every form against f64, quickly; `cargo run --release -p bispectral-core --features fft --example accuracy` takes longer.
#![cfg(feature = "fft")]

#[path = "accuracy/mod.rs"]
mod accuracy;

use accuracy::{Random, SIGNALS, Seen, forms, signal};

#[test]
fn every_form_is_within_its_stated_error_or_refuses() {
    let mut random = Random(1);
    for n in [7, 8, 16] {
        for form in forms(n) {
            for (kind, what) in SIGNALS.iter().enumerate() {
                let mut seen = Seen::default();
                for _ in 0..300 {
                    form.compare(&signal(kind, n, &mut random), &mut seen);
                }
                assert_eq!(seen.faults, 0, "Z{n} {} {what}", form.name);
                assert!(
                    seen.share <= 1.0,
                    "Z{n} {} {what}: {}",
                    form.name,
                    seen.share
                );
                assert!(seen.answered > 0 && seen.error < 0.52);
            }
        }
    }
}

#[test]
fn odd_harmonics_alone_are_refused_by_every_form() {
    let mut random = Random(2);
    for form in forms(16) {
        let mut seen = Seen::default();
        for _ in 0..100 {
            let mut x = signal(0, 16, &mut random);
            for t in 0..8 {
                x[t + 8] = -x[t];
            }
            form.compare(&x, &mut seen);
        }
        assert_eq!((seen.answered, seen.refused), (0, 100), "{}", form.name);
    }
}
