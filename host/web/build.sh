#!/usr/bin/env bash
# Builds the page to play with into docs/play/index.html: WebAssembly by Cargo, and one file around it.
set -euo pipefail
cd "$(dirname "$0")/../.."
rustup target add wasm32-unknown-unknown
cargo build -p bispectral-web --lib --profile web --target wasm32-unknown-unknown
target=${CARGO_TARGET_DIR:-target}
cargo run -q -p bispectral-web --bin play -- "$target/wasm32-unknown-unknown/web/bispectral_web.wasm" "${1:-docs/play/index.html}"
