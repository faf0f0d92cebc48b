//! One page with every kind of drawing: `cargo run -p bispectral-report --example gallery -- gallery.html`.

use bispectral_report::{
    Cayley, Chart, Curve, Distances, Drawing, Filters, Losses, Page, Panel, Scale, Section, Table,
    Tiles, render,
};
use std::f64::consts::{PI, TAU};

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1);
    let rendered = render(&page());
    let (figures, faults) = (rendered.figures, rendered.faults.len());
    println!("{figures} figures, {faults} missing");
    std::fs::write(path.unwrap_or("gallery.html".into()), rendered.html)
}

fn page() -> Page {
    let table = Table::new("Three ways to learn")
        .words("learned from")
        .numbers("seconds")
        .row(["80 % of each orbit with 5 % noise", "1.9"])
        .published(["in the paper", "600"]);
    let words = Section::new("Words").paragraph("A table, and facts.");
    let words = words.table(table).facts([("seed", "0")]);
    let missing = Drawing::Missing("W.npy: the file is damaged: train again".into());
    let figures = |title: &str, drawings: Vec<Drawing>| {
        let section = Section::new(title);
        let add = |section: Section, drawing| section.figure(title, drawing, title, title);
        drawings.into_iter().fold(section, add)
    };
    let cayley = vec![
        cayley(4, 2, true),
        cayley(24, 1, false),
        cayley(16, 16, true),
    ];
    let filters = [(4, 2, (1, 8)), (8, 8, (8, 8)), (16, 16, (16, 16))];
    let filters = filters.map(|(m, n, shape)| characters(m, n, shape)).into();
    let losses = Losses::from_metrics(&metrics()).into();
    Page::new("Every kind of drawing", "Made-up data.")
        .section(words)
        .section(figures("Cayley tables", cayley))
        .section(figures("Filters", filters))
        .section(figures(
            "Distances",
            vec![distances(10, 6), distances(40, 5)],
        ))
        .section(figures("Curves", vec![orbit(), many(), losses]))
        .section(figures(
            "Images",
            vec![tiles(10, 28), tiles(4, 16), missing],
        ))
}

/// The group Zm × Zn, its elements being a · n + b.
fn cayley(m: usize, n: usize, with_confidence: bool) -> Drawing {
    let count = m * n;
    let product = |cell: usize| {
        let (a, b) = (cell / count, cell % count);
        ((a / n + b / n) % m * n + (a + b) % n) as u16
    };
    let products: Vec<u16> = (0..count * count).map(product).collect();
    let sure = |cell| 1.0 - 0.3 * noise(cell).abs();
    let sure: Vec<f32> = (0..count * count).map(sure).collect();
    let order: Vec<usize> = (0..count).collect();
    let sure = with_confidence.then_some(&sure[..]);
    Cayley::new(&products, &order, sure, format!("Z{m}×Z{n}")).into()
}

/// The characters of Zm × Zn.
fn characters(m: usize, n: usize, shape: (usize, usize)) -> Drawing {
    let count = m * n;
    let weight = |cell: usize| {
        let (k, x) = (cell / count, cell % count);
        let turns = (k / n * (x / n)) as f64 / m as f64 + (k % n * (x % n)) as f64 / n as f64;
        let (sin, cos) = (TAU * turns).sin_cos();
        (cos as f32 + 0.01 * noise(cell), sin as f32)
    };
    let order: Vec<usize> = (0..count).collect();
    Filters::new((0..count * count).map(weight), shape, &order).into()
}

fn distances(orbits: usize, members: usize) -> Drawing {
    let count = orbits * members;
    let distance = |cell: usize| {
        let (a, b) = (cell / count, cell % count);
        let noise = f64::from(noise(a.min(b) * count + a.max(b))).abs();
        let apart = a / members != b / members;
        if apart {
            1.4 - 0.4 * noise
        } else {
            0.02 * noise
        }
    };
    let orbits: Vec<_> = (0..orbits).map(|k| (k.to_string(), members)).collect();
    Distances::new((0..count * count).map(distance), &orbits, "‖β̄(a) − β̄(b)‖").into()
}

fn curve(label: String, x: &[f64], of: impl Fn(f64) -> f64) -> Curve {
    let values = x.iter().map(|x| of(*x)).collect();
    Curve {
        label,
        values,
        predicted: None,
    }
}

fn chart(x_label: &str, x: Vec<f64>, panels: Vec<(&str, Scale, Vec<Curve>)>) -> Drawing {
    let panel = |(label, scale, curves): (&str, Scale, Vec<Curve>)| Panel {
        title: format!("A panel of {label}"),
        y_label: label.into(),
        scale,
        curves,
    };
    let chart = Chart {
        title: "A title".into(),
        x_label: x_label.into(),
        x,
        panels: panels.into_iter().map(panel).collect(),
    };
    chart.into()
}

fn orbit() -> Drawing {
    let x: Vec<f64> = (0..=16).map(f64::from).collect();
    let phases = (1..=3).map(|rate| {
        let exact = move |x: f64| (1.3 + f64::from(rate) * x / 8.0).rem_euclid(2.0) - 1.0;
        let mut phase = curve("across".into(), &x, |x| exact(x) + 0.01 * x.sin());
        phase.predicted = Some(x.iter().map(|x| exact(*x)).collect());
        phase
    });
    let size = |x: f64| (PI * x / 16.0).sin().abs();
    let invariants = |x: f64| 3e-7 * size(x).round() * (1.0 + x / 9.0);
    let changes = vec![
        curve("invariants, ‖β̄ − β̄₀‖".into(), &x, invariants),
        curve("signal".into(), &x, |x| 1.2 * size(x) + 0.01),
    ];
    let phases = ("arg zᵢ / π", Scale::Phase, phases.collect());
    let panels = vec![phases, ("change", Scale::Log, changes)];
    chart("shift in pixels", x.clone(), panels)
}

fn many() -> Drawing {
    let x: Vec<f64> = (0..120).map(|x| f64::from(x) * 500.0).collect();
    let rise = |k: u32| move |x: f64| 1.0 - (-x / 5000.0 / f64::from(k)).exp();
    let variants = (1..=9).map(|k| curve(format!("variant {k}"), &x, rise(k)));
    let panel = ("accuracy", Scale::Linear, variants.collect());
    chart("samples", x.clone(), vec![panel])
}

fn metrics() -> String {
    let line = |step: usize| {
        let fall = (0.3 * f64::from(noise(step))).exp() * (-(step as f64) / 400.0).exp();
        let (phase, step, second) = (step / 2000, step % 2000 + 1, fall.sqrt());
        format!(
            "{{\"phase\":{phase},\"step\":{step},\"invariance\":{fall},\"reconstruction\":{second}}}\n"
        )
    };
    (0..4000).map(line).collect()
}

fn tiles(columns: usize, size: usize) -> Drawing {
    let pixel = |cell: usize| {
        let (image, row, column) = (cell / size / size, cell / size % size, cell % size);
        let place = |at: usize| (at as f32 + 0.5) / size as f32 * 2.0 - 1.0;
        let radius = place(row).hypot(place(column) * (1.0 + 0.1 * image as f32));
        (-30.0 * (radius - 0.55).powi(2)).exp() + 0.03 * noise(cell)
    };
    let label = |k: usize| match k < columns {
        true => format!("target {k}"),
        false => format!("0.{:03} (not reached)", k * 37),
    };
    let labels: Vec<String> = (0..2 * columns).map(label).collect();
    let pixels = (0..labels.len() * size * size).map(pixel);
    Tiles::new(pixels, (size, size), columns, &labels).into()
}

/// The same noise in −1 … 1 each time.
fn noise(seed: usize) -> f32 {
    let mixed = (seed as u32 ^ 0x9e37).wrapping_mul(2_654_435_761);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(2_246_822_519);
    (mixed >> 8) as f32 / (1 << 23) as f32 - 1.0
}
