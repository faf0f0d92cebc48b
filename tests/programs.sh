#!/usr/bin/env bash
# Measures the programs that `bispectral firmware` writes, one a kind of models, for the boards named: code (flash without model
# and windows), statics, and stack without the buffers. Prints the rows of host/learn/src/model/firmware/recorded.txt.
#
#     BISPECTRAL=target/debug/bispectral bash tests/programs.sh cortex-m4f cortex-m0
set -euo pipefail
cd "$(dirname "$0")/.."
BISPECTRAL=$(realpath "${BISPECTRAL:-target/release/bispectral}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seeds=core/fuzz/seeds/model

# The bytes of window, scratch and result, as the emitted constants have them.
buffers() {
  "$BISPECTRAL" export "$1" -o "$work/sizes.rs" --emit rust --force --quiet
  awk '/pub const/ { gsub(/[:;]/, ""); size[$3] = $6 }
    END { print 4 * (size["INPUTS"] + size["SCRATCH"] + (size["CLASSES"] ? size["CLASSES"] : size["FEATURES"])) }' "$work/sizes.rs"
}

for board in "$@"; do
  for seed in z42-dense-f32 z42-conj-f32 z42-comb-f32 z42-cyclic z42-fft z42-i32 z42-dense-f16 z42-dense-i8 head-f32; do
    model=$seeds/$seed.bsn
    rm -rf "$work/program"
    "$BISPECTRAL" firmware "$model" -o "$work/program" --board "$board" --quiet
    kind=$(sed -n 's/^bispectral-core.*features = \[\(.*\)\].*/\1/p' "$work/program/Cargo.toml" | tr -d '" ')
    (cd "$work/program" && CARGO_TARGET_DIR="$work/target" cargo run --quiet --release >"$work/out" 2>"$work/err") ||
      { cat "$work/err" >&2; exit 1; }
    diff "$work/out" "$work/program/expected.txt" >&2
    read -r flash ram stack < <(sed -n 's/^flash \([0-9]*\) bytes, RAM \([0-9]*\) bytes with a stack of \([0-9]*\)$/\1 \2 \3/p' "$work/err")
    held=$(($(stat -c %s "$work/program/model.bsn") + $(stat -c %s "$work/program/windows.bin")))
    printf '%-12s %-20s %6d %6d %6d\n' "$board" "$kind" $((flash - held)) $((ram - stack)) $((stack - $(buffers "$model")))
  done
done
