//! libFuzzer on [`model`], from a corpus of every kind of model:
//!
//!     cargo +nightly fuzz run model fuzz/corpus/model fuzz/seeds/model -- -max_total_time=600
//!
//! Whether it compiles is known without a nightly compiler, and without building libFuzzer's C++, which only a link needs:
//!
//!     CUSTOM_LIBFUZZER_PATH=none/libfuzzer.a cargo check --locked

#![no_main]

#[path = "../src/model.rs"]
mod model;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    model::examine(bytes);
    model::examine(&model::repaired(bytes));
    // A whole model, as the corpus has them: what is changed in its fields is looked at.
    model::examine(&model::repaired(model::fields(bytes)));
});
