#!/usr/bin/env bash
# Builds the engine of the page, core and learn as WebAssembly, into a file.
#
#     host/web/engine.sh ENGINE.wasm [PROFILE]      web, which is small and fast; or dev, which is built in half the time
set -euo pipefail
cd "$(dirname "$0")/../.."
profile=${2:-web} folder=${2:-web}
if [ "$profile" = dev ]; then
  # Macros and build scripts are those of the tests, which do not depend on this.
  export CARGO_PROFILE_DEV_OPT_LEVEL=s
  folder=debug
fi
rustup target add wasm32-unknown-unknown
cargo rustc -p bispectral-web --lib --crate-type cdylib --profile "$profile" --target wasm32-unknown-unknown -- -C strip=symbols
mkdir -p "$(dirname "$1")"
cp "${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/$folder/bispectral_web.wasm" "$1"
