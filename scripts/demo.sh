#!/bin/sh
# The main job on generated data, end to end: packages, build, a graph on disk, what is in it.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release -DHGT_TESTS=OFF
mkdir -p build/demo
build/release/hgt generate --preset small --out build/demo/small.graph --force
echo
build/release/hgt inspect build/demo/small.graph --verify --quiet
