#!/bin/sh
# Configures and builds one preset of CMakePresets.json: scripts/build.sh [release] [CMake options]
# Sources are compiled together, which is faster; if you edit them, you may prefer
# -DCMAKE_UNITY_BUILD=OFF.
set -eu
cd "$(dirname "$0")/.."
preset="${1:-release}"
shift $(($# > 0))
cmake --preset "$preset" -DCMAKE_UNITY_BUILD=ON "$@" >/dev/null
cmake --build --preset "$preset"
