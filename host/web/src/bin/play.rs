//! Writes the page, with an engine inside.
//!
//!     cargo run -p bispectral-web --bin play -- ENGINE.wasm PAGE.html

use bispectral_web::page::page;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [engine, path] = &arguments[..] else {
        return Err("give the engine (.wasm) and the page to write (.html)".into());
    };
    let engine = fs::read(engine).map_err(|error| format!("{}: {error}", engine.display()))?;
    let html = page(&engine)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, &html).map_err(|error| format!("{}: {error}", path.display()))?;
    println!(
        "{}: {} bytes, {} of them the engine's",
        path.display(),
        html.len(),
        engine.len()
    );
    Ok(())
}
