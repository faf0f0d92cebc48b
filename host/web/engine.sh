#!/usr/bin/env bash
# Builds the engine of the page, core and learn as WebAssembly, into a file.
#
#     host/web/engine.sh ENGINE.wasm          small and fast
#     host/web/engine.sh ENGINE.wasm dev      for tests, from the same source: macros and build scripts are those of the tests
set -euo pipefail
cd "$(dirname "$0")/../.."
profile=${2:-web} folder=${2:-web}
if [ "$profile" = dev ]; then
  # Of WebAssembly alone: macros and build scripts have a level of their own.
  export CARGO_PROFILE_DEV_OPT_LEVEL=s
  folder=debug
fi
rustup target add wasm32-unknown-unknown
cargo rustc -p bispectral-web --lib --crate-type cdylib --profile "$profile" --target wasm32-unknown-unknown -- -C strip=symbols
mkdir -p "$(dirname "$1")"
cp "${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/$folder/bispectral_web.wasm" "$1"
