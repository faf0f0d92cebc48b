#!/usr/bin/env bash
# What takes longer than the ten minutes of tests/all.sh, for maintainers before a release: undefined behaviour, optimised code,
# licences, the promise of semantic versions, every combination of features, fuzzing with coverage.
#
#     bash tests/deep.sh [STEP…]     # miri sanitizer release packages deny semver features coverage fuzz; without any, all of them
#
# What cannot be had on this machine is skipped and said so at the end; FUZZ_SECONDS (600) is the time for each target.
set -uo pipefail
cd "$(dirname "$0")/.."
FUZZ_SECONDS="${FUZZ_SECONDS:-600}"
STEPS=("$@")
[ "${#STEPS[@]}" -gt 0 ] || STEPS=(miri sanitizer release packages deny semver features coverage fuzz)
passed=() failed=() skipped=()

skip() { echo "skipped: $1"; skipped+=("$1"); return 77; }
# tool PROGRAM CRATE: the program, installed where it is not there
tool() {
  command -v "$1" >/dev/null || cargo install --locked "$2" || return 1
}
nightly() { rustup component add "$1" --toolchain nightly >/dev/null 2>&1; }

# The core has no unsafe code, and the C interface nothing but that at its edge. Miri's sines are of random last bits otherwise, and
# models of these tests are leaked, so that C may have them for ever.
miri() {
  nightly miri || { skip "miri: no such component of nightly"; return; }
  local -x MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-deterministic-floats -Zmiri-ignore-leaks"
  (cd core && PROPTEST_CASES=4 cargo +nightly miri test --lib) &&
    (cd core/ffi && cargo +nightly miri test --test interface)
}

# Leaked models again.
sanitizer() {
  nightly rust-src || { skip "sanitizer: no rust-src of nightly"; return; }
  local host; host=$(rustc -vV | sed -n 's/^host: //p')
  (cd core/ffi && ASAN_OPTIONS=detect_leaks=0 RUSTFLAGS=-Zsanitizer=address cargo +nightly test --test interface --target "$host")
}

release() { cargo test --release --workspace --lib --tests; }

packages() { bash tests/package.sh test target; }

deny() {
  tool cargo-deny cargo-deny || { skip "deny: cargo-deny could not be installed"; return; }
  cargo deny check licenses bans sources || return 1
  cargo deny check advisories || skip "advisories: the database could not be had, or has something against a dependency"
}

semver() {
  tool cargo-semver-checks cargo-semver-checks || { skip "semver: cargo-semver-checks could not be installed"; return; }
  cargo semver-checks -p bispectral-core || skip "semver: no earlier bispectral-core is published to compare with"
}

features() {
  tool cargo-hack cargo-hack || { skip "features: cargo-hack could not be installed"; return; }
  # All pairs: with one feature a kind, all subsets would be thousands of builds.
  cargo hack check -p bispectral-core --feature-powerset --depth 2 --no-dev-deps
}

coverage() {
  tool cargo-llvm-cov cargo-llvm-cov || { skip "coverage: cargo-llvm-cov could not be installed"; return; }
  rustup component add llvm-tools-preview >/dev/null 2>&1
  cargo llvm-cov -p bispectral-core --features std,serde,fft
}

fuzz() {
  tool cargo-fuzz cargo-fuzz || { skip "fuzz: cargo-fuzz could not be installed"; return; }
  local target seeds features status=0
  for target in model parts interface readers; do
    mkdir -p "core/fuzz/corpus/$target"
    case $target in
      model | interface) seeds=fuzz/seeds/model features=() ;;
      parts) seeds= features=() ;;
      readers) seeds=fuzz/seeds/readers features=(--features host) ;;
    esac
    (cd core && cargo +nightly fuzz run "${features[@]}" "$target" "fuzz/corpus/$target" $seeds -- \
      -max_total_time="$FUZZ_SECONDS" -print_final_stats=1) || status=1
  done
  return "$status"
}

for step in "${STEPS[@]}"; do
  printf '\n== %s (%d s)\n' "$step" "$SECONDS"
  "$step"
  case $? in
    0) passed+=("$step") ;;
    77) ;;
    *) failed+=("$step") ;;
  esac
done
printf '\npassed: %s\nfailed: %s\n' "${passed[*]:-none}" "${failed[*]:-none}"
for what in "${skipped[@]:-}"; do [ -z "$what" ] || echo "skipped: $what"; done
[ "${#failed[@]}" -eq 0 ]
