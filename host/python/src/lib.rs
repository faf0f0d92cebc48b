//! The library for Python: a thin skin over `bispectral-learn` and `bispectral-core`. Everything that is computed is
//! computed there; here arrays, errors, threads and interruptions change hands. `python/bispectral` gives it the words and
//! types of Python.

mod attack;
mod classifier;
mod compare;
mod datasets;
mod error;
mod learned;
mod model;
mod moments;
mod signals;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _bispectral(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<learned::Learned>()?;
    module.add_class::<classifier::Classifier>()?;
    module.add_class::<moments::Moments>()?;
    module.add_class::<moments::Compacted>()?;
    module.add_function(wrap_pyfunction!(learned::learn, module)?)?;
    module.add_function(wrap_pyfunction!(learned::learn_transformed, module)?)?;
    module.add_function(wrap_pyfunction!(attack::attack, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(classifier::train_classifier, module)?)?;
    module.add_function(wrap_pyfunction!(classifier::fit_chain, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::group_orbits, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::transformed_orbits, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::patches, module)?)?;
    module.add_function(wrap_pyfunction!(datasets::characters, module)?)?;
    module.add_function(wrap_pyfunction!(model::known, module)?)?;
    Ok(())
}
