//! libFuzzer on [`any_bytes`]: the C interface, from the corpus of models.

#![no_main]
#![allow(dead_code)]

#[path = "../../ffi/tests/any_bytes/mod.rs"]
mod any_bytes;
#[path = "../../ffi/src/buffers.rs"]
mod buffers;
#[path = "../../ffi/src/compute.rs"]
mod compute;
#[path = "../../ffi/src/model.rs"]
mod model;
#[path = "../src/model.rs"]
mod repair;
#[path = "../../ffi/src/status.rs"]
mod status;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    any_bytes::examine(bytes);
    any_bytes::examine(&repair::repaired(repair::fields(bytes)));
});
