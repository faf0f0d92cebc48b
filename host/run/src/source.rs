//! Where a run's orbits come from: a group by name, labelled samples, or exemplars and how to move them.

use crate::config::{Config, TransformName};
use crate::photographs::patches::{Patches, Support};
use crate::photographs::{Photograph, natural};
use bispectral_learn::data::group::Group;
use bispectral_learn::data::load;
use bispectral_learn::data::orbits::{Orbits, Transform};
use bispectral_learn::limits::memory;
use bispectral_learn::{Error, Result};
use std::path::{Path, PathBuf};

/// The photographs that come with the program, where a folder could be named; `natural:alps,grass` for some of them.
const NATURAL: &str = "natural";
/// Bytes of an orbit beside the values of its exemplar.
const OF_ORBIT: usize = 64;

/// Fills in what was left open: the split, the phases, and whole paths, so that a run can be resumed from anywhere.
///
/// # Errors
/// A path that does not exist.
pub fn complete(config: &mut Config) -> Result<()> {
    config.resolve();
    let data = &mut config.data;
    for path in [&mut data.samples, &mut data.labels].into_iter().flatten() {
        *path = whole(path)?;
    }
    if let Some(path) = data.images.as_mut().filter(|path| shipped(path).is_none()) {
        *path = whole(path)?;
    }
    Ok(())
}

/// The names after `natural:`, or none for all, where `path` is that and no folder.
fn shipped(path: &Path) -> Option<&str> {
    let names = path.to_str()?.strip_prefix(NATURAL)?;
    if names.is_empty() {
        return Some(names);
    }
    names.strip_prefix(':')
}

/// The photographs of these names, with commas between them; all where there are none.
///
/// # Errors
/// There is no photograph of such a name.
pub fn photographs(names: &str) -> Result<Vec<Photograph>> {
    let all = natural::photographs();
    if names.is_empty() {
        return Ok(all);
    }
    names
        .split(',')
        .map(|name| {
            let found = all.iter().find(|photograph| photograph.name == name);
            found.cloned().ok_or_else(|| {
                let known: Vec<&str> = all.iter().map(|photo| photo.name.as_str()).collect();
                Error::new(
                    format!("{NATURAL}:{name}"),
                    "no photograph of this name comes with the program",
                    format!("choose from {}", known.join(", ")),
                )
            })
        })
        .collect()
}

fn whole(path: &Path) -> Result<PathBuf> {
    path.canonicalize()
        .map_err(|error| Error::reading(path, &error))
}

/// What the model is called.
#[must_use]
pub fn name(config: &Config) -> String {
    let data = &config.data;
    let stem = |path: &PathBuf| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let from = data.group.clone().or_else(|| {
        data.samples
            .as_ref()
            .or(data.images.as_ref())
            .and_then(stem)
    });
    from.unwrap_or_default()
}

/// All orbits of a run: those to train on, and those that are held out.
///
/// # Errors
/// One line that names the file or the key, and the remedy.
pub fn orbits(config: &Config) -> Result<Orbits> {
    Ok(all_orbits(config)?.noisy(config.data.noise, config.seed))
}

fn all_orbits(config: &Config) -> Result<Orbits> {
    let data = &config.data;
    match (&data.group, &data.samples, &data.images) {
        (Some(group), None, None) => {
            let group: Group = group.parse()?;
            check_memory("functions on the group", data.exemplars, group.order())?;
            Ok(Orbits::of_group(&group, data.exemplars, config.seed))
        }
        (None, Some(samples), None) => match (&data.labels, data.transform) {
            (Some(labels), None) => load::labelled(samples, labels),
            (None, Some(transform)) => {
                let exemplars = load::exemplars(samples)?;
                let side = data.size;
                let square = (side * side == exemplars.samples.ncols()).then_some((side, side));
                let moved = moved(config, transform, exemplars.shape().or(square))?;
                exemplars.transformed(&moved)
            }
            _ => Err(Error::file(
                samples,
                "samples need either labels or a transformation",
                "give labels, or say how exemplars are moved",
            )),
        },
        (None, None, Some(folder)) => {
            let transform = data.transform.unwrap_or(TransformName::Translate2d);
            check_memory("patches", data.exemplars, data.size * data.size)?;
            let patches = Patches {
                size: data.size,
                count: data.exemplars,
                support: if transform == TransformName::Rotate {
                    Support::Disk
                } else {
                    Support::Square
                },
                ..Patches::default()
            };
            let patches = match shipped(folder) {
                Some(names) => patches.cut(&photographs(names)?, config.seed)?,
                None => patches.cut_from_folder(folder, config.seed)?,
            };
            let moved = moved(config, transform, Some((data.size, data.size)))?;
            Ok(Orbits::transformed(patches, moved)?)
        }
        _ => Err(Error::new(
            "the data",
            "exactly one source is needed",
            "name a group such as Z4xZ2, samples, or a folder of images",
        )),
    }
}

/// Refuses more exemplars of so many values than there is memory for.
fn check_memory(what: &str, exemplars: usize, values: usize) -> Result<()> {
    let of_one = (size_of::<f32>() * values + OF_ORBIT) as u64;
    let bytes = (exemplars as u64).saturating_mul(of_one);
    memory::check("exemplars", &format!("{exemplars} {what}"), bytes)
}

fn moved(
    config: &Config,
    transform: TransformName,
    shape: Option<(usize, usize)>,
) -> Result<Transform> {
    let (height, width) = match (transform, shape) {
        (TransformName::Translate1d, _) => return Ok(Transform::Translate1d),
        (_, Some(shape)) => shape,
        (_, None) => {
            return Err(Error::new(
                "transform",
                "the exemplars are not images",
                "save them as [samples, height, width], or give the side of square ones as size",
            ));
        }
    };
    Ok(match transform {
        TransformName::Rotate => Transform::Rotate {
            size: height,
            fraction: config.data.angles,
            seed: config.seed,
        },
        _ => Transform::Translate2d { height, width },
    })
}
