#!/bin/sh
# Configures and builds one preset of CMakePresets.json: scripts/build.sh [release] [CMake options]
set -eu
cd "$(dirname "$0")/.."
preset="${1:-release}"
shift $(($# > 0))
cmake --preset "$preset" "$@" >/dev/null
cmake --build --preset "$preset"
