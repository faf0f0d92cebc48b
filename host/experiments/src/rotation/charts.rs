//! Curves of the experiment: how many rows there are of each order, and what happens as a patch turns.

use crate::angular::{Order, PURE};
use bispectral_core::{Complex32, Model};
use bispectral_learn::Result;
use bispectral_learn::analysis::equivariance;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::data::rotate::{DEGREES, Rotation};
use bispectral_report::{Chart, Curve, Panel, Scale};
use ndarray::Array2;
use std::f64::consts::PI;

/// How many rows there are of each order.
pub(super) fn orders(orders: &[Order]) -> Chart {
    let highest = orders
        .iter()
        .map(|order| order.order.abs())
        .max()
        .unwrap_or(0);
    let count = |least: f64| -> Vec<f64> {
        let of = |m: i32| {
            orders
                .iter()
                .filter(move |o| o.order == m && o.purity >= least)
                .count()
        };
        (-highest..=highest).map(|m| of(m) as f64).collect()
    };
    let curve = |label: &str, values| Curve {
        label: label.into(),
        values,
        predicted: None,
    };
    Chart {
        title: "Angular orders of the learned rows".into(),
        x_label: "angular order m".into(),
        x: (-highest..=highest).map(f64::from).collect(),
        panels: vec![Panel {
            title: "Rows that a rotation by θ multiplies by exp(imθ)".into(),
            y_label: "rows".into(),
            scale: Scale::Linear,
            curves: vec![
                curve("all rows, by their main order", count(0.0)),
                curve("pure rows", count(PURE)),
            ],
        }],
    }
}

/// A patch that was not trained on, turned once around in steps of ten degrees.
pub(super) fn along(
    model: &Model<'_>,
    published: Option<&Model<'_>>,
    orbits: &Orbits,
    orders: &[Order],
    size: usize,
) -> Result<Chart> {
    const STEP: usize = 10;
    let exemplar = orbits.exemplar(0).to_vec();
    let mut places = Array2::zeros((DEGREES / STEP + 1, size * size));
    for (k, mut place) in places.rows_mut().into_iter().enumerate() {
        let turn = Rotation::in_disk(size, k * STEP % DEGREES);
        turn.apply(
            &exemplar,
            place.as_slice_mut().expect("rows lie in one piece"),
        );
    }
    let motion = equivariance::follow(model, &places.view())?;
    let z = &motion.coefficients;
    let phase = |z: Complex32| f64::from(z.arg()) / PI;
    let phases = [1, 2, 4].into_iter().filter_map(|m| {
        let of_order = (0..orders.len()).filter(|&row| orders[row].order.abs() == m);
        let row = of_order.max_by(|&a, &b| orders[a].purity.total_cmp(&orders[b].purity))?;
        let rate = f64::from(orders[row].order) * STEP as f64 / 180.0;
        Some(Curve {
            label: format!("m = {}", orders[row].order),
            values: z.iter().map(|z| phase(z[row])).collect(),
            predicted: Some(
                (0..z.len())
                    .map(|k| phase(z[0][row]) + rate * k as f64)
                    .collect(),
            ),
        })
    });
    let curve = |label: &str, values: &[f64]| Curve {
        label: label.into(),
        values: values.to_vec(),
        predicted: None,
    };
    let mut changes = vec![
        curve("invariants, ‖β̄ − β̄₀‖", &motion.invariants),
        curve("signal, ‖x − x₀‖ / ‖x₀‖", &motion.signal),
    ];
    if let Some(published) = published {
        let other = equivariance::follow(published, &places.view())?;
        changes.push(curve("invariants of the published W", &other.invariants));
    }
    Ok(Chart {
        title: "A patch of a photograph never seen, turned once around".into(),
        x_label: "degrees".into(),
        x: (0..z.len()).map(|k| (k * STEP) as f64).collect(),
        panels: vec![
            Panel {
                title: "Equivariance: a coefficient of order m turns m times".into(),
                y_label: "arg zᵢ / π".into(),
                scale: Scale::Phase,
                curves: phases.collect(),
            },
            Panel {
                title: "Invariance: β̄ changes little while the patch turns".into(),
                y_label: "change".into(),
                scale: Scale::Log,
                curves: changes,
            },
        ],
    })
}
