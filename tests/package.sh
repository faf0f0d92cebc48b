#!/usr/bin/env bash
# Packages every crate that is published and unpacks the packages: each must be whole without the tree around it. Crates of the
# same list that one depends on are taken from the unpacked packages, since none may be published yet.
#
#     tests/package.sh check TARGET_DIR [+TOOLCHAIN]    # what is in them is what was tested, and all of it compiles
#     tests/package.sh test TARGET_DIR                  # all of them are tested: before a release, `bash tests/deep.sh packages`
#
# TARGET_DIR that is kept makes the next run fast: that of `cargo clippy --workspace --all-targets` by the same toolchain has all
# that `check` needs of others' crates.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=$1
target=$2
toolchain=${3:-}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$target"
target=$(cd "$target" && pwd)

# unpacked NAME FOLDER TO: the package of a crate, with its licences and every file that the tree has in these folders.
unpacked() {
  printf '\n== %s\n' "$1"
  (cd "$2" && cargo package -p "$1" --allow-dirty --no-verify --exclude-lockfile --target-dir "$folder/packages")
  mkdir -p "$3"
  tar -xzf "$folder/packages/package/$1"-[0-9]*.crate -C "$3" --strip-components=1
  for file in LICENSE-MIT LICENSE-APACHE README.md; do
    [ -s "$3/$file" ] || { echo "error: $1: the package has no $file" >&2; exit 1; }
  done
  for part in src tests models include; do
    if [ -d "$2/$part" ]; then diff -r "$2/$part" "$3/$part" || { echo "error: $1: the package has other files" >&2; exit 1; }; fi
  done
}

# The workspace with packages in place of these crates and nothing in all others: features of others' crates are those of the
# workspace, so that none is built again. It is one folder deeper, so that no crate is taken for the tree's.
workspace=$folder/workspace
mkdir "$workspace"
sed -E 's#"(core|host/[a-z]+|tests|benches)"#"of/\1"#g' Cargo.toml >"$workspace/Cargo.toml"
cp Cargo.lock "$workspace"
for member in $(sed -n 's/^members = \[\(.*\)\]/\1/p' Cargo.toml | tr -d '",'); do
  case $member in
    core | host/learn)
      name=bispectral-${member#host/}
      unpacked "$name" "$member" "$workspace/of/$member"
      if [ "$member" = core ]; then printf '\n[patch.crates-io]\n%s = { path = "of/core" }\n' "$name" >>"$workspace/Cargo.toml"; fi
      ;;
    *)
      mkdir -p "$workspace/of/$member/src"
      awk '/^\[/ { left_out = /^\[\[/ } !left_out' "$member/Cargo.toml" >"$workspace/of/$member/Cargo.toml"
      echo '//! Nothing.' >"$workspace/of/$member/src/lib.rs"
      ;;
  esac
done
unpacked bispectral-ffi core/ffi "$folder/ffi"
cp Cargo.lock "$folder/ffi"

cd "$workspace"
if [ "$mode" = check ]; then
  cargo $toolchain check --workspace --all-targets --target-dir "$target"
else
  cargo test --workspace --target-dir "$target"
fi
cd "$folder/ffi"
cargo test --config "patch.crates-io.bispectral-core.path='$workspace/of/core'" --target-dir "$target"
