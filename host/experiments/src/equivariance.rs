//! A patch never trained on, shifted to the right pixel by pixel, once around: z turns, the invariants stay.

use bispectral_core::{Complex32, Model};
use bispectral_learn::Result;
use bispectral_learn::analysis::equivariance::{self, Motion};
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::model::file;
use bispectral_report::{Chart, Curve, Panel, Scale};
use ndarray::Array2;
use serde::Serialize;
use std::f64::consts::PI;

/// Frequencies whose coefficients are drawn: down and across.
const FREQUENCIES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 3]];

/// What changed on the way.
#[derive(Debug, Serialize)]
pub struct Equivariance {
    /// max ‖z(g·x) − χ(g) z(x)‖ / ‖z(x)‖
    pub equivariance_error: f64,
    /// max ‖β̄(g·x) − β̄(x)‖
    pub invariance_error: f64,
    /// max ‖g·x − x‖ / ‖x‖
    pub signal: f64,
}

/// Follows the first of `held_out`, whose orbits hold all translates of patches of `size` × `size`, and draws it;
/// `nearest` is the character that each row of W is most like.
///
/// # Errors
/// A sample has no invariants.
pub fn follow(
    model: &Model<'_>,
    held_out: &Orbits,
    nearest: &[usize],
    size: usize,
) -> Result<(Equivariance, Chart)> {
    let mut places = Array2::zeros((size + 1, size * size));
    for (shift, mut place) in places.rows_mut().into_iter().enumerate() {
        let place = place.as_slice_mut().expect("rows lie in one piece");
        held_out.write_member(0, shift % size, place);
    }
    let motion = equivariance::follow(model, &places.view())?;
    let w = file::weights(model);
    let turn = |i: usize, shift: usize| w[(i, shift % size)] / w[(i, 0)];
    let picture = chart(&motion, nearest, size, &turn);
    let z = &motion.coefficients;
    let length = |z: &mut dyn Iterator<Item = Complex32>| {
        z.map(|z| f64::from(z.norm_sqr())).sum::<f64>().sqrt()
    };
    let whole = length(&mut z[0].iter().copied());
    let error = |(shift, now): (usize, &Vec<Complex32>)| {
        let differences = now.iter().zip(&z[0]).enumerate();
        length(&mut differences.map(|(i, (now, first))| now - turn(i, shift) * first)) / whole
    };
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let along = Equivariance {
        equivariance_error: most(&mut z.iter().enumerate().map(error)),
        invariance_error: most(&mut motion.invariants.iter().copied()),
        signal: most(&mut motion.signal.iter().copied()),
    };
    Ok((along, picture))
}

/// The phases of some coefficients, and how little the invariants change.
fn chart(
    motion: &Motion,
    nearest: &[usize],
    size: usize,
    turn: &dyn Fn(usize, usize) -> Complex32,
) -> Chart {
    let rows = FREQUENCIES.iter().filter_map(|[down, right]| {
        let row = nearest.iter().position(|&k| k == down * size + right)?;
        Some((row, format!("{down} down, {right} across")))
    });
    let z = &motion.coefficients;
    let phases = rows.map(|(i, label)| {
        let phase = |z: Complex32| f64::from(z.arg()) / PI;
        let predicted = |shift| phase(z[0][i] * turn(i, shift));
        Curve {
            label,
            values: z.iter().map(|z| phase(z[i])).collect(),
            predicted: Some((0..z.len()).map(predicted).collect()),
        }
    });
    let curve = |label: &str, values: &[f64]| Curve {
        label: label.into(),
        values: values.to_vec(),
        predicted: None,
    };
    Chart {
        title: "A patch never trained on, shifted once around".into(),
        x_label: "shift in pixels".into(),
        x: (0..z.len()).map(|shift| shift as f64).collect(),
        panels: vec![
            Panel {
                title: "Equivariance: each coefficient turns at the rate of its irrep".into(),
                y_label: "arg zᵢ / π".into(),
                scale: Scale::Phase,
                curves: phases.collect(),
            },
            Panel {
                title: "Invariance: β̄ stays while the signal moves".into(),
                y_label: "change".into(),
                scale: Scale::Log,
                curves: vec![
                    curve("invariants, ‖β̄ − β̄₀‖", &motion.invariants),
                    curve("signal, ‖x − x₀‖ / ‖x₀‖", &motion.signal),
                ],
            },
        ],
    }
}
