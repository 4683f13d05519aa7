#!/bin/sh
# Installs the Debian packages that hgt needs; with --tests, also those for tests and checks.
# If all of them are installed, it does nothing and needs no root rights.
set -eu

# Without OpenBLAS, LibTorch falls back to the reference BLAS, 30 times slower.
packages="build-essential cmake ninja-build pkg-config libboost-dev libcli11-dev
  libfasttext-dev libfmt-dev libhnswlib-dev libopenblas0-openmp libtomlplusplus-dev libtorch-dev
  liburing-dev libutf8proc-dev libxxhash-dev libzstd-dev nlohmann-json3-dev zlib1g-dev"
# Node.js may come from elsewhere, with npm in the same package.
command -v npm >/dev/null || packages="$packages nodejs npm"
if [ "${1:-}" = --tests ]; then
  packages="$packages chromium clang-16 clang-format clang-tidy-16 git libbenchmark-dev
    libclang-rt-16-dev libgtest-dev libomp-16-dev libsentencepiece-dev python3 python3-numpy"
fi

missing=""
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
echo "installing:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086  # a list of words
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
