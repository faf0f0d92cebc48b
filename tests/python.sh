#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh environment, and runs its tests, its notebooks, the examples of its documentation
# and a check of its types.
#
#     tests/python.sh environment            the environment and what is installed in it, in the folder BISPECTRAL_VENV
#     tests/python.sh test [TARGET_DIR]      where to build; the workspace's own has what both need of others' crates
#
# Where there is no Python of 3.10 or later it says so, and fails in CI unless BISPECTRAL_SKIP names `python`.
# BISPECTRAL_PYTHON names the interpreter; BISPECTRAL_VENV a folder for the environment, which is kept.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-test}
target=${2:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)

skipped() {
  case ",${BISPECTRAL_SKIP:-}," in *,python,*) meant=1 ;; *) meant= ;; esac
  if [ -z "$meant" ] && [ -n "${CI:-}" ] && [ "${CI:-}" != false ]; then
    echo "error: not run for want of python: $1, or say that it is meant by BISPECTRAL_SKIP=python" >&2
    exit 1
  fi
  echo "NOT RUN for want of python: $1" >&2
  exit 0
}

is_new() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }
python=
for candidate in "${BISPECTRAL_PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.10; do
  if [ -n "$candidate" ] && is_new "$candidate"; then python=$candidate; break; fi
done
[ -n "$python" ] || skipped "install Python 3.10 or later with its venv"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
environment=${BISPECTRAL_VENV:-$folder/venv}
[ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
bin=$environment/bin
# What is there already is found without asking the network.
"$bin/python" -m pip install --quiet --disable-pip-version-check maturin numpy pytest scikit-learn pandas tqdm 'dask[array,distributed]' onnx onnxruntime mypy nbclient ipykernel matplotlib ||
  skipped "its packages could not be installed by pip"
[ "$mode" = test ] || exit 0

# In the profile of the tests and with the features that they have, so that nothing they share is built again; `maturin build
# --release` is what is uploaded.
crates() { cargo tree --prefix none -f '{p} {f}' "$@" | sed 's/ (\*)$//' | sort -u; }
again=$(comm -13 <(crates --workspace) <(crates -p bispectral-python -e normal,build --features tests) | grep -v '^bispectral-python ' || true)
[ -z "$again" ] || { printf 'error: built for the wheel alone; name the features of the tests in host/python/Cargo.toml:\n%s\n' "$again" >&2; exit 1; }
(cd host/python && "$bin/maturin" build --profile dev --features tests --interpreter "$bin/python" --target-dir "$target" --out "$folder/dist")
ls -l "$folder"/dist/*.whl | awk '{ print "wheel of the tests: " $5 " bytes" }'
"$bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$folder"/dist/*.whl

# From another folder, so that nothing but what is installed is tested.
cp -r host/python/tests host/python/notebooks host/python/README.md "$folder"
cp -r docs/notebooks "$folder/pages"
cp README.md "$folder/README.project.md"
cp docs/python.md "$folder"
cd "$folder"
"$bin/python" -m pytest -q -p no:cacheprovider tests
"$bin/python" -m pytest -q -p no:cacheprovider --doctest-modules --pyargs bispectral
"$bin/python" -m mypy --strict --no-warn-return-any --ignore-missing-imports --no-error-summary -p bispectral
