#!/usr/bin/env bash
# The packages that building and testing need, and their installation where that is allowed.
#
#   packages.sh --missing    prints those that are missing
#   packages.sh --install    installs them (as root or through sudo without a password), or names them and fails with exit code 3
#
# Debian 12 carries LLVM 22 in its security archive.  Elsewhere: install LLVM/MLIR 22 by other means and set LLVM_DIR and MLIR_DIR; a tool that is
# found on PATH counts as installed.
set -euo pipefail

build_packages="llvm-22-dev libmlir-22-dev mlir-22-tools clang-22 libclang-rt-22-dev lld-22 cmake ninja-build ccache libfmt-dev catch2 libcli11-dev
  nlohmann-json3-dev libzstd-dev zlib1g-dev libedit-dev libxml2-dev libcurl4-openssl-dev"
test_packages="python3 python3-numpy git"

installed() {
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'
}

# Without dpkg only what a build meets first can be looked for.
missing() {
  if command -v dpkg-query >/dev/null; then
    for package in $build_packages $test_packages; do
      installed "$package" || printf '%s ' "$package"
    done
  else
    for tool in clang++-22 cmake ninja python3 git; do
      command -v "$tool" >/dev/null || printf '%s ' "$tool"
    done
  fi
}

lacking=$(missing)
case "${1:---missing}" in
--missing)
  echo "$lacking"
  ;;
--install)
  [ -n "${lacking// /}" ] || exit 0
  elevate=
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then elevate="sudo -n"; fi
  fi
  if command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || [ -n "$elevate" ]; }; then
    echo "installing: $lacking"
    $elevate env DEBIAN_FRONTEND=noninteractive apt-get update -q
    # shellcheck disable=SC2086 # a list of words
    $elevate env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $lacking
  else
    echo "these packages are missing and cannot be installed from here: $lacking" >&2
    echo "as root: apt-get update && apt-get install $lacking" >&2
    exit 3
  fi
  ;;
*)
  echo "usage: packages.sh --missing | --install" >&2
  exit 2
  ;;
esac
