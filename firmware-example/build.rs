//! Chooses the memory map of the board that belongs to the target.

use std::{env, error::Error, fs, path::Path};

/// The board on which the R(R+1)/2 invariants are only streamed, never held.
const SMALL: &str = "thumbv6m-none-eabi";

fn main() -> Result<(), Box<dyn Error>> {
    let target = env::var("TARGET")?;
    let map = Path::new("boards").join(format!("{target}.x"));
    let out = env::var("OUT_DIR")?;
    fs::copy(&map, Path::new(&out).join("memory.x")).map_err(|_| {
        format!(
            "no board for {target}: write its memory map to {}",
            map.display()
        )
    })?;
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-env=BOARD={target}");
    println!("cargo::rustc-check-cfg=cfg(roomy)");
    if target != SMALL {
        println!("cargo::rustc-cfg=roomy");
    }
    println!("cargo::rerun-if-changed={}", map.display());
    println!("cargo::rerun-if-changed=model");
    Ok(())
}
