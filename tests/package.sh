#!/usr/bin/env bash
# Packages every crate that is published and unpacks the packages side by side: each must be whole without the tree around it.
# Crates of the same list that one depends on are taken from the unpacked packages, since none may be published yet.
#
#     tests/package.sh check TARGET_DIR [+TOOLCHAIN]    # the core and the C interface are tested, the library with its tests compiles
#     tests/package.sh test TARGET_DIR                  # all of them are tested: before a release, `bash tests/deep.sh packages`
#
# TARGET_DIR that is kept makes the next run fast.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=$1
target=$2
toolchain=${3:-}

# Name and folder, each behind those it depends on.
CRATES=(
  "bispectral-core core"
  "bispectral-ffi core/ffi"
  "bispectral-learn host/learn"
)

# The profile of the workspace: what it has built of others' crates serves here, too.
PROFILE=(
  --config 'profile.dev.opt-level=2'
  --config 'profile.dev.debug="line-tables-only"'
  --config 'profile.dev.package."*".debug=false'
  --config 'profile.dev.package.bispectral-learn.opt-level=1'
)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$target"
target=$(cd "$target" && pwd)

patches=()
for crate in "${CRATES[@]}"; do
  read -r name path <<<"$crate"
  printf '\n== %s\n' "$name"
  (cd "$path" && cargo package -p "$name" --allow-dirty --no-verify --exclude-lockfile --target-dir "$folder/packages")
  package=$(ls -d "$folder/packages/package/$name"-[0-9]*.crate)
  tar -xzf "$package" -C "$folder"
  unpacked=$folder/$(basename "$package" .crate)
  for file in LICENSE-MIT LICENSE-APACHE README.md; do
    [ -s "$unpacked/$file" ] || { echo "error: $name: the package has no $file" >&2; exit 1; }
  done
  cp Cargo.lock "$unpacked"
  if [ "$mode" = check ] && [ "$name" = bispectral-learn ]; then
    # Its tests ran in the workspace, from the same files; here they must find all they are made of.
    (cd "$unpacked" && cargo $toolchain check --all-targets "${PROFILE[@]}" "${patches[@]}" --target-dir "$target")
  else
    (cd "$unpacked" && cargo test "${PROFILE[@]}" "${patches[@]}" --target-dir "$target")
  fi
  patches+=(--config "patch.crates-io.$name.path='$unpacked'")
done
