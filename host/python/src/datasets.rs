//! The orbits of the paper.

use crate::error::exception;
use crate::learned::transform;
use crate::signals::Signals;
use crate::work::compute;
use bispectral_learn::bispectral_core::Complex32;
use bispectral_learn::data::group::Group;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::ndarray::Array2;
use bispectral_run::photographs::natural::photographs;
use bispectral_run::photographs::patches::Patches;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;

type Labelled<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<i64>>);

/// Every member of every orbit, with its label.
fn members<'py>(py: Python<'py>, orbits: &Orbits) -> PyResult<Labelled<'py>> {
    let (x, labels) = compute(py, None, || {
        let count = (0..orbits.len()).map(|orbit| orbits.members(orbit)).sum();
        let mut x = Array2::zeros((count, orbits.inputs()));
        let mut labels = Vec::with_capacity(count);
        let mut rows = x.rows_mut().into_iter();
        let mut sample = vec![0.0; orbits.inputs()];
        for orbit in 0..orbits.len() {
            for (member, mut row) in (0..orbits.members(orbit)).zip(&mut rows) {
                orbits.write_member(orbit, member, &mut sample);
                row.iter_mut().zip(&sample).for_each(|(to, x)| *to = *x);
                labels.push(orbits.label(orbit));
            }
        }
        (x, labels)
    })?;
    Ok((x.into_pyarray(py), PyArray1::from_vec(py, labels)))
}

#[pyfunction]
pub(crate) fn group_orbits<'py>(
    py: Python<'py>,
    group: &str,
    exemplars: usize,
    seed: u64,
) -> PyResult<Labelled<'py>> {
    let group: Group = group.parse().map_err(exception)?;
    members(py, &Orbits::of_group(&group, exemplars, seed))
}

#[pyfunction]
pub(crate) fn transformed_orbits<'py>(
    py: Python<'py>,
    exemplars: Signals<'py>,
    transform: &str,
    shape: Option<(usize, usize)>,
    fraction: f64,
    seed: u64,
) -> PyResult<Labelled<'py>> {
    let exemplars = exemplars.to_f32();
    let transform = self::transform(transform, exemplars.ncols(), shape, fraction, seed)?;
    members(
        py,
        &Orbits::transformed(exemplars, transform).map_err(exception)?,
    )
}

/// Patches of the photographs that ship with the program.
#[pyfunction]
pub(crate) fn patches<'py>(
    py: Python<'py>,
    count: usize,
    size: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let patches = Patches {
        size,
        count,
        ..Patches::default()
    };
    let cut = compute(py, None, || patches.cut(&photographs(), seed))?;
    Ok(cut.map_err(exception)?.into_pyarray(py))
}

/// The characters of a group, one a row, of unit length.
#[pyfunction]
pub(crate) fn characters<'py>(
    py: Python<'py>,
    group: &str,
) -> PyResult<Bound<'py, PyArray2<Complex32>>> {
    let group: Group = group.parse().map_err(exception)?;
    let w = group
        .characters()
        .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
    Ok(w.into_pyarray(py))
}
