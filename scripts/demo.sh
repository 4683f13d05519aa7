#!/bin/sh
# The main job on generated data, end to end: packages, build, a graph on disk, what is in it, and
# a batch sampled from it.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release -DHGT_TESTS=OFF
mkdir -p build/demo
build/release/hgt generate --preset small --out build/demo/small.graph --force
echo
build/release/hgt inspect build/demo/small.graph --verify --quiet
echo
build/release/hgt sample build/demo/small.graph --random paper:64 --split train --width 64 --depth 4 --verify --rows 12
