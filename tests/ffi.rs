//! The C interface: its header is what its source says, and a C program linked against it computes what the host does.

use bispectral_tests::repository;
use std::fs;

#[test]
fn the_checked_in_header_is_what_cbindgen_makes_of_the_source() {
    let ffi = repository().join("core/ffi");
    let config = cbindgen::Config::from_file(ffi.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for module in ["status", "model", "compute"] {
        builder = builder.with_src(ffi.join(format!("src/{module}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().expect("bindings").write(&mut header);
    let path = ffi.join("include/bispectral.h");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &header).expect("a writable checkout");
    }
    assert!(
        fs::read(&path).is_ok_and(|bytes| bytes == header),
        "core/ffi/include/bispectral.h is not what core/ffi/src says; if that is meant: \
         BLESS=1 cargo test -p bispectral-tests --test ffi header"
    );
}
