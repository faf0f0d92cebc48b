#!/usr/bin/env bash
# Builds the page to play with, one file, and says how large it is.
#
#     host/web/build.sh [PAGE.html]      docs/play/index.html
set -euo pipefail
cd "$(dirname "$0")/../.."
page=${1:-docs/play/index.html}
engine=${CARGO_TARGET_DIR:-target}/play/engine.wasm
bash host/web/engine.sh "$engine"
cargo run -q -p bispectral-web --bin play -- "$engine" "$page"
