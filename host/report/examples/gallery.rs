//! One page with every kind of drawing: `cargo run -p bispectral-report --example gallery -- gallery.html`.

use bispectral_report::{
    Cayley, Chart, Curve, Distances, Drawing, Filters, Losses, Page, Panel, Scale, Section, Table,
    Tiles, render,
};
use std::f64::consts::{PI, TAU};

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1);
    let path = path.unwrap_or_else(|| "gallery.html".into());
    let page = page();
    let rendered = render(&page);
    let json = page.to_json();
    println!(
        "{} figures, {} faults, {} KB of HTML, {} KB of JSON",
        rendered.figures,
        rendered.faults.len(),
        rendered.html.len() / 1000,
        json.len() / 1000
    );
    std::fs::write(path, rendered.html)
}

fn page() -> Page {
    let table = Table::new("Three ways to learn")
        .words("learned from")
        .numbers("seconds")
        .numbers("mean overlap")
        .row(["whole orbits", "0.4", "1.000"])
        .row(["80 % of each orbit with 5 % noise", "1.9", "0.998"])
        .published(["in the paper", "600", "0.98"]);
    Page::new(
        "Every kind of drawing",
        "Made-up data, to see whether it can be read.",
    )
    .section(
        Section::new("Words")
            .paragraph("A table, and names with what they stand for.")
            .table(table)
            .facts([("seed", "0"), ("patches", "8 × 8 pixels")]),
    )
    .section(
        Section::new("Cayley tables")
            .figure(
                "cayley/small",
                cayley(&[4, 2], 0.02),
                "A table of eight colours",
                "Z4×Z2: every product is written in its cell.",
            )
            .figure(
                "cayley/alone",
                Cayley::new(
                    &products(&[24]),
                    &(0..24).collect::<Vec<_>>(),
                    None,
                    "Z24, alone",
                ),
                "Bands of colours",
                "Z24 without confidences.",
            )
            .figure(
                "cayley/large",
                cayley(&[16, 16], 0.4),
                "A table of bands",
                "Z16×Z16: 65,536 products, one tooltip a row.",
            ),
    )
    .section(
        Section::new("Filters")
            .figure(
                "filters/strips",
                filters(&[4, 2], (1, 8)),
                "Strips",
                "Characters of Z4×Z2 as strips.",
            )
            .figure(
                "filters/small",
                filters(&[8, 8], (8, 8)),
                "Waves",
                "64 Fourier filters of 8 × 8.",
            )
            .figure(
                "filters/large",
                filters(&[16, 16], (16, 16)),
                "Waves",
                "256 Fourier filters of 16 × 16.",
            ),
    )
    .section(
        Section::new("Distances")
            .figure(
                "distances/blocks",
                distances(10, 6),
                "Blocks",
                "Ten orbits of six members.",
            )
            .figure(
                "distances/many",
                distances(40, 5),
                "Blocks",
                "Forty orbits of five members, one tooltip a row.",
            ),
    )
    .section(
        Section::new("Curves")
            .figure(
                "along",
                along(),
                "Phases above, changes below",
                "Marks are measured, dashes predicted.",
            )
            .figure(
                "many",
                many(),
                "Nine curves",
                "More curves than colours, with sparse marks.",
            )
            .figure(
                "loss",
                Losses::from_metrics(&metrics()),
                "Falling curves",
                "Three phases.",
            ),
    )
    .section(
        Section::new("Images")
            .figure(
                "tiles/digits",
                tiles(10, 28),
                "Rings",
                "Images of 28 × 28 with labels.",
            )
            .figure("tiles/compare", tiles(4, 16), "Rings", "Fewer columns.")
            .figure(
                "missing",
                Drawing::Missing("W.npy: the file is damaged: train again".into()),
                "",
                "What could not be drawn.",
            ),
    )
}

/// The factors' coordinates of an element.
fn coordinates(factors: &[usize], element: usize) -> Vec<usize> {
    let mut rest = element;
    let mut coordinates: Vec<usize> = factors
        .iter()
        .rev()
        .map(|n| {
            let c = rest % n;
            rest /= n;
            c
        })
        .collect();
    coordinates.reverse();
    coordinates
}

fn products(factors: &[usize]) -> Vec<u16> {
    let count: usize = factors.iter().product();
    let product = |cell: usize| {
        let (a, b) = (
            coordinates(factors, cell / count),
            coordinates(factors, cell % count),
        );
        factors
            .iter()
            .zip(a.iter().zip(&b))
            .fold(0, |sum, (n, (a, b))| sum * n + (a + b) % n) as u16
    };
    (0..count * count).map(product).collect()
}

fn cayley(factors: &[usize], doubt: f32) -> Drawing {
    let products = products(factors);
    let order: Vec<usize> = (0..products.len().isqrt()).collect();
    let sure: Vec<f32> = (0..products.len())
        .map(|cell| 1.0 - doubt * noise(cell).abs())
        .collect();
    let name: Vec<String> = factors.iter().map(|n| format!("Z{n}")).collect();
    Cayley::new(
        &products,
        &order,
        Some(&sure),
        format!("{}, as it was learned", name.join("×")),
    )
    .into()
}

fn filters(factors: &[usize], shape: (usize, usize)) -> Drawing {
    let count: usize = factors.iter().product();
    let weight = |cell: usize| {
        let (k, n) = (
            coordinates(factors, cell / count),
            coordinates(factors, cell % count),
        );
        let turns: f64 = factors
            .iter()
            .zip(k.iter().zip(&n))
            .map(|(m, (k, n))| (k * n) as f64 / *m as f64)
            .sum();
        let size = 1.0 / (count as f64).sqrt();
        let noise = 0.01 * size as f32 * noise(cell);
        (
            (size * (TAU * turns).cos()) as f32 + noise,
            (size * (TAU * turns).sin()) as f32,
        )
    };
    let order: Vec<usize> = (0..count).collect();
    Filters::new((0..count * count).map(weight), shape, &order).into()
}

fn distances(orbits: usize, members: usize) -> Drawing {
    let count = orbits * members;
    let distance = |cell: usize| {
        let (a, b) = (cell / count, cell % count);
        let (low, high) = (a.min(b), a.max(b));
        let noise = f64::from(noise(low * count + high)).abs();
        if a == b {
            0.0
        } else if a / members == b / members {
            0.02 * noise
        } else {
            1.41 - 0.4 * noise
        }
    };
    let orbits: Vec<(String, usize)> = (0..orbits)
        .map(|orbit| ((orbit * 37 % 1000).to_string(), members))
        .collect();
    Distances::new(
        (0..count * count).map(distance),
        &orbits,
        "‖β̄(a) − β̄(b)‖ of samples never trained on",
    )
    .into()
}

fn along() -> Drawing {
    let x: Vec<f64> = (0..=16).map(f64::from).collect();
    let phase = |rate: f64| {
        let exact: Vec<f64> = x
            .iter()
            .map(|x| (0.3 + rate * x / 8.0 + 1.0).rem_euclid(2.0) - 1.0)
            .collect();
        (
            exact
                .iter()
                .enumerate()
                .map(|(k, p)| p + 0.01 * f64::from(noise(k)))
                .collect(),
            exact,
        )
    };
    let turning = |label: &str, rate: f64| {
        let (values, predicted) = phase(rate);
        Curve {
            label: label.into(),
            values,
            predicted: Some(predicted),
        }
    };
    let curve = |label: &str, of: &dyn Fn(f64) -> f64| Curve {
        label: label.into(),
        values: x.iter().map(|x| of(*x)).collect(),
        predicted: None,
    };
    Chart {
        title: "A patch never trained on, shifted once around".into(),
        x_label: "shift in pixels".into(),
        panels: vec![
            Panel {
                title: "Equivariance: each coefficient turns at the rate of its irrep".into(),
                y_label: "arg zᵢ / π".into(),
                scale: Scale::Phase,
                curves: vec![
                    turning("0 down, 1 across", 1.0),
                    turning("1 down, 2 across", 2.0),
                    turning("2 down, 3 across", 3.0),
                ],
            },
            Panel {
                title: "Invariance: β̄ stays while the signal moves".into(),
                y_label: "change".into(),
                scale: Scale::Log,
                curves: vec![
                    curve("invariants, ‖β̄ − β̄₀‖", &|x| {
                        3e-7 * (PI * x / 16.0).sin().abs().round() * (1.0 + x / 9.0)
                    }),
                    curve("signal, ‖x − x₀‖ / ‖x₀‖", &|x| {
                        1.2 * (PI * x / 16.0).sin().abs() + 0.01
                    }),
                ],
            },
        ],
        x,
    }
    .into()
}

fn many() -> Drawing {
    let x: Vec<f64> = (0..120).map(|x| f64::from(x) * 500.0).collect();
    let curves = (1..=9).map(|k| Curve {
        label: format!("variant {k}"),
        values: x
            .iter()
            .map(|x| 1.0 - (-x / 5000.0 / f64::from(k)).exp())
            .collect(),
        predicted: None,
    });
    let curves = curves.collect();
    Chart {
        title: "Share of held-out digits that are right".into(),
        x_label: "samples".into(),
        x,
        panels: vec![Panel {
            title: "Nine variants".into(),
            y_label: "accuracy".into(),
            scale: Scale::Linear,
            curves,
        }],
    }
    .into()
}

fn metrics() -> String {
    let line = |phase: usize, step: usize, invariance: f64, reconstruction: f64| {
        format!(
            "{{\"phase\":{phase},\"step\":{step},\"invariance\":{invariance},\"reconstruction\":{reconstruction}}}\n"
        )
    };
    let noise = |step: usize| (0.3 * f64::from(noise(step))).exp();
    let first = (1..=3000).map(|k| {
        line(
            1,
            k,
            noise(k) * (-(k as f64) / 400.0).exp(),
            0.3 * noise(k + 7) * (-(k as f64) / 900.0).exp(),
        )
    });
    let second = (1..=1000).map(|k| line(2, k, 1e-4 * noise(k) * (-(k as f64) / 150.0).exp(), 0.0));
    let third = (1..=1500).map(|k| {
        line(
            3,
            k,
            1e-8 * noise(k),
            1e-6 * noise(k + 3) / (1.0 + k as f64 / 100.0),
        )
    });
    first.chain(second).chain(third).collect()
}

fn tiles(columns: usize, size: usize) -> Drawing {
    let pixel = |cell: usize| {
        let (image, row, column) = (cell / size / size, cell / size % size, cell % size);
        let place = |at: usize| (at as f32 + 0.5) / size as f32 * 2.0 - 1.0;
        let radius = place(row).hypot(place(column) * (1.0 + 0.1 * image as f32));
        (-30.0 * (radius - 0.55).powi(2)).exp() + 0.03 * noise(cell)
    };
    let count = 2 * columns;
    let labels: Vec<String> = (0..count)
        .map(|k| {
            if k < columns {
                format!("target {k}")
            } else {
                format!("0.{:03} (not reached)", k * 37)
            }
        })
        .collect();
    Tiles::new(
        (0..count * size * size).map(pixel),
        (size, size),
        columns,
        &labels,
    )
    .into()
}

/// The same noise in −1 … 1 each time.
fn noise(seed: usize) -> f32 {
    let mixed = (seed as u32 ^ 0x9e37).wrapping_mul(2_654_435_761);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(2_246_822_519);
    (mixed >> 8) as f32 / (1 << 23) as f32 - 1.0
}
