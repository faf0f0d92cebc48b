#!/usr/bin/env bash
# Everything that must hold, from set-up to firmware in QEMU, on a machine with rustup, a C compiler and apt.
set -euo pipefail
cd "$(dirname "$0")/.."
# Nothing is built twice here, and what makes the second build fast makes the first one slow.
export CARGO_INCREMENTAL=0
# Nobody looks for a line in programs that are built, run and forgotten.
export CARGO_PROFILE_RELEASE_DEBUG=false
# The same cases on every run, so that a failure is of the change at hand; `cargo test` by itself draws new ones.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1}"

TARGETS=(thumbv7em-none-eabihf thumbv6m-none-eabi thumbv7m-none-eabi thumbv8m.main-none-eabihf riscv32imac-unknown-none-elf)
EVERY_TARGET=("${TARGETS[@]/#/--target=}")
oldest() { sed -n 's/^rust-version = "\(.*\)"/\1/p' "$1"; }
OLDEST=$(oldest Cargo.toml)
OLDEST_CORE=$(oldest core/Cargo.toml)


# Two cores: what waits for one thing, or for the network, runs beside the rest. Its output is printed when it is waited for.
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT

# The time since the beginning, and the processor time of all that has ended: the one depends on what else runs here.
step() {
  times >"$folder/times"
  printf '\n== %s (%d s; processor %s)\n' "$1" "$SECONDS" "$(tail -1 "$folder/times")"
}

declare -A beside
# beside NAME COMMAND…: begins it.
beside() {
  local name=$1
  shift
  ("$@") >"$folder/$name" 2>&1 &
  beside[$name]=$!
}
# ended NAME: waits for it; what it printed.
ended() {
  local status=0
  wait "${beside[$1]}" || status=$?
  cat "$folder/$1"
  [ "$status" -eq 0 ] || { echo "error: $1 failed" >&2; exit 1; }
}

step "set-up: Rust targets, rustfmt, clippy, the oldest Rust promised, QEMU, a C compiler for Arm, Chromium"
rustup target add "${TARGETS[@]}" wasm32-unknown-unknown
rustup component add rustfmt clippy
rustup toolchain install "$OLDEST" "$OLDEST_CORE" --profile minimal --no-self-update
rustup component add clippy --toolchain "$OLDEST"
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
wanted=()
command -v qemu-system-arm >/dev/null && command -v qemu-system-riscv32 >/dev/null || wanted+=(qemu-system-arm qemu-system-misc)
command -v arm-none-eabi-gcc >/dev/null || wanted+=(gcc-arm-none-eabi)
[ -n "${BISPECTRAL_CHROMIUM:-}" ] || command -v chromium chromium-browser google-chrome >/dev/null || wanted+=(chromium)
command -v chromedriver >/dev/null || wanted+=(chromium-driver)
install() {
  [ "${#wanted[@]}" -gt 0 ] || return 0
  "${as_root[@]}" apt-get update &&
    "${as_root[@]}" apt-get install -y --no-install-recommends "${wanted[@]}" ||
    { echo "error: ${wanted[*]} could not be installed by apt, and the tests need them" >&2; exit 1; }
}
# In front, where sudo may ask for a password.
if [ "${#as_root[@]}" -gt 0 ]; then install; else beside install install; fi

export BISPECTRAL_VENV=$folder/venv
beside environment bash tests/python.sh environment

step "format"
for part in . firmware-example core/fuzz core/ffi; do
  (cd "$part" && cargo fmt --all --check)
done

clippy_for_every_target() {
  cargo clippy -p bispectral-core --target-dir target/clippy "${EVERY_TARGET[@]}" -- -D warnings
  (cd firmware-example && cargo clippy --release --workspace --features fft "${EVERY_TARGET[@]}" -- -D warnings)
  (cd core/ffi && cargo clippy --release "${EVERY_TARGET[@]}" -- -D warnings)
  (cd core/ffi && cargo clippy --tests -- -D warnings)
  (cd core/fuzz && CUSTOM_LIBFUZZER_PATH=none/libfuzzer.a cargo check --locked)
}
beside clippy clippy_for_every_target

# Lints and documentation by the oldest Rust, tests by the newest: each of the two builds what it needs once.
step "clippy, by the oldest Rust promised ($OLDEST)"
cargo "+$OLDEST" clippy --workspace --all-targets -- -D warnings
for feature in std serde defmt; do
  cargo "+$OLDEST" clippy -p bispectral-core --features "$feature" -- -D warnings
done
cargo "+$OLDEST_CORE" check -p bispectral-core --all-features

step "documentation"
export RUSTDOCFLAGS="-D warnings"
cargo "+$OLDEST" doc --workspace --no-deps
cargo "+$OLDEST" doc -p bispectral-core --no-deps --all-features
unset RUSTDOCFLAGS

step "clippy for every target; the fuzz target compiles"
ended clippy
[ -z "${beside[install]:-}" ] || ended install

step "tests are built"
cargo test --workspace --no-run

# Firmware is built for five targets and emulated, one after the other, while the host's tests run.
BOARDS=" boards couplings emitted ffi firmware groups sizes "
boards=() others=()
for name in $(cargo test --workspace --test 2>&1 | sed -n 's/^    //p' | sort -u); do
  case $BOARDS in *" $name "*) boards+=(--test "$name") ;; *) others+=(--test "$name") ;; esac
done
beside boards cargo test --workspace "${boards[@]}"

step "tests"
# Programs have no tests, and these libraries have none; tests/architecture.rs sees to it. That for Python has none either, but what it
# needs of others' crates is what they were built with: without it, all would be built again.
untested=(bispectral-allocator bispectral-benches bispectral-firmware)
cargo test --workspace "${untested[@]/#/--exclude=}" --lib "${others[@]}"
cargo test --workspace --doc
# Each kind of models alone: it is computed, and the others are refused by name.
for kind in dense,f32 dense,f16 dense,i8 conjugates,f32 combined,i8 cyclic fft i32 dense,f32,head; do
  cargo test -q -p bispectral-core --no-default-features --features "$kind" --test features
done

step "tests, with the firmware of five targets in QEMU"
ended boards

step "wheel: built, installed and tested in a fresh environment; packages: what is published is whole"
ended environment
beside packages bash tests/package.sh check target "+$OLDEST"
bash tests/python.sh test target
ended packages

step "all passed"
