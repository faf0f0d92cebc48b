#!/usr/bin/env bash
# Measures the programs that `bispectral firmware` writes, one a kind of models, for the boards named: code (flash without model
# and windows), statics, and stack without the buffers. Prints the rows of host/learn/src/model/firmware/recorded.txt. Boards that
# have another's processor (cortex-m33, stm32f405, rp2040) need one kind, which says what their runtime adds:
#
#     export BISPECTRAL=target/debug/bispectral
#     bash tests/programs.sh cortex-m4f cortex-m0 rv32 && KINDS=z42-dense-f32 bash tests/programs.sh cortex-m33 stm32f405 rp2040
#
# An rp2040 is not in QEMU: its flash is read from the linked file, its statics and stack are those of the cortex-m0.
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

# Bytes of flash of a linked program: what is loaded, wherever it runs.
flash_of() {
  local sum=0 size
  for size in $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$2 == "PROGBITS" && $7 ~ /A/ { print $5 }'); do
    sum=$((sum + 16#$size))
  done
  echo "$sum"
}

KINDS=${KINDS:-z42-dense-f32 z42-conj-f32 z42-comb-f32 z42-cyclic z42-fft z42-i32 z42-dense-f16 z42-dense-i8 head-f32 head-i32 z42-degree1 s3-couplings}
for board in "$@"; do
  for seed in $KINDS; do
    model=$seeds/$seed.bsn
    rm -rf "$work/program"
    "$BISPECTRAL" firmware "$model" -o "$work/program" --board "$board" --quiet
    kind=$(sed -n 's/^bispectral-core.*features = \[\(.*\)\].*/\1/p' "$work/program/Cargo.toml" | tr -d '" ')
    if [ "$board" = rp2040 ]; then
      (cd "$work/program" && CARGO_TARGET_DIR="$work/target" cargo build --quiet --release)
      flash=$(flash_of "$work/target/thumbv6m-none-eabi/release/bispectral-$board")
      held=$(($(stat -c %s "$work/program/model.bsn") + $(stat -c %s "$work/program/windows.bin")))
      printf '%-12s %-20s %6d %6s %6s\n' "$board" "$kind" $((flash - held)) - -
      continue
    fi
    (cd "$work/program" && CARGO_TARGET_DIR="$work/target" cargo run --quiet --release >"$work/out" 2>"$work/err") ||
      { cat "$work/err" >&2; exit 1; }
    diff "$work/out" "$work/program/expected.txt" >&2
    read -r flash ram stack < <(sed -n 's/^flash \([0-9]*\) bytes, RAM \([0-9]*\) bytes with a stack of \([0-9]*\)$/\1 \2 \3/p' "$work/err")
    held=$(($(stat -c %s "$work/program/model.bsn") + $(stat -c %s "$work/program/windows.bin")))
    printf '%-12s %-20s %6d %6d %6d\n' "$board" "$kind" $((flash - held)) $((ram - stack)) $((stack - $(buffers "$model")))
  done
done
