#!/usr/bin/env bash
# Everything that must hold, from set-up to firmware in QEMU, on a machine with rustup, a C compiler and apt.
set -euo pipefail
cd "$(dirname "$0")/.."

TARGETS=(thumbv7em-none-eabihf thumbv6m-none-eabi thumbv7m-none-eabi thumbv8m.main-none-eabihf riscv32imac-unknown-none-elf)
oldest() { sed -n 's/^rust-version = "\(.*\)"/\1/p' "$1"; }
OLDEST=$(oldest Cargo.toml)
OLDEST_CORE=$(oldest core/Cargo.toml)

step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

step "set-up: Rust targets, rustfmt, clippy, the oldest Rust promised, QEMU, a C compiler for Arm, Chromium"
rustup target add "${TARGETS[@]}"
rustup component add rustfmt clippy
rustup toolchain install "$OLDEST" "$OLDEST_CORE" --profile minimal --no-self-update
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
if ! command -v qemu-system-arm >/dev/null || ! command -v qemu-system-riscv32 >/dev/null; then
  "${as_root[@]}" apt-get update
  "${as_root[@]}" apt-get install -y --no-install-recommends qemu-system-arm qemu-system-misc ||
    { echo "error: QEMU could not be installed, and the firmware tests need it" >&2; exit 1; }
fi
if ! command -v arm-none-eabi-gcc >/dev/null; then
  "${as_root[@]}" apt-get update
  "${as_root[@]}" apt-get install -y --no-install-recommends gcc-arm-none-eabi ||
    { echo "error: arm-none-eabi-gcc could not be installed, and the test of the C interface needs it" >&2; exit 1; }
fi
has_chromium() { [ -n "${BISPECTRAL_CHROMIUM:-}" ] || command -v chromium chromium-browser google-chrome >/dev/null; }
if ! has_chromium; then
  { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends chromium; } ||
    echo "note: Chromium is not available by apt: the reports will not be opened in a browser (or name one in BISPECTRAL_CHROMIUM)" >&2
fi

step "format"
cargo fmt --all --check
(cd firmware-example && cargo fmt --all --check)
(cd core/fuzz && cargo fmt --all --check)
(cd core/ffi && cargo fmt --all --check)

step "clippy"
cargo clippy --workspace --all-targets -- -D warnings
for feature in std serde defmt; do
  cargo clippy -p bispectral-core --features "$feature" -- -D warnings
done
for target in "${TARGETS[@]}"; do
  (cd firmware-example && cargo clippy --release --workspace --features fft --target "$target" -- -D warnings)
  (cd core/ffi && cargo clippy --release --target "$target" -- -D warnings)
done

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
RUSTDOCFLAGS="-D warnings" cargo doc -p bispectral-core --no-deps --all-features

step "the oldest Rust promised: $OLDEST, the core $OLDEST_CORE"
cargo "+$OLDEST" check --workspace
cargo "+$OLDEST_CORE" check -p bispectral-core --all-features

step "core for every target, with every feature"
for target in "${TARGETS[@]}"; do
  cargo build --release -p bispectral-core --target "$target"
done
for feature in serde defmt; do
  cargo build --release -p bispectral-core --target thumbv6m-none-eabi --features "$feature"
done

step "tests, with the firmware of five targets in QEMU"
cargo test --workspace
cargo test -p bispectral-core --features std,serde

step "all passed"
