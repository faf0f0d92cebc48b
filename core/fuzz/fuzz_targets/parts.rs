//! libFuzzer on [`any_parts`]: models that are valid by construction, against an independent reader and the equations in f64.

#![no_main]

#[path = "../../tests/any_parts/examined.rs"]
mod any_parts;
#[path = "../../tests/by_hand/mod.rs"]
#[allow(dead_code)]
mod by_hand;
#[path = "../../tests/equations/mod.rs"]
mod equations;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    any_parts::examine(bytes);
});
