//! The program of the README: from samples in memory to a model for a device.

use bispectral_learn::{Options, Orbits, learn};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Twenty things, each in the eight positions that a motion brings it to; nobody says which motion.
    let shape = |k: usize, n: usize| ((k + 3) * n * n % 29) as f32;
    let moved = |k, by| (0..8).map(|n| shape(k, (n + by) % 8)).collect();
    let samples = (0..160).map(|row| (row as i64 / 8, moved(row / 8, row % 8)));

    let orbits = Orbits::from_samples::<Vec<f32>>(samples)?;
    let learned = learn(&orbits, &Options::default())?;
    println!("{:?}, {:?}", learned.group(), learned.evaluation());
    learned.model().write("model.bsn")?; // for bispectral-core on a device
    Ok(())
}
