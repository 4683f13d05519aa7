#!/bin/sh
# Everything that must hold: packages, build, tests, sanitizers, format, tidy, a little fuzzing.
# The real data sets are looked for in ../shared; tests that need them are skipped without.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s (%s s)\n' "$1" "$(($(date +%s) - start))"; }
start=$(date +%s)

step "packages"
scripts/setup.sh --tests
step "build"
scripts/build.sh release
step "format and tidy"
scripts/lint.sh
step "address and undefined-behaviour sanitizers"
scripts/build.sh asan
ctest --preset asan -L fast -j 2
step "thread sanitizer"
scripts/build.sh tsan
ctest --preset tsan -L fast -j 2
step "fuzzing"
scripts/build.sh fuzz
scripts/fuzz.sh 30
step "benchmarks run"
build/release/benchmarks/graph_benchmark --papers=3000 --benchmark_min_time=0.01
step "tests"
ctest --preset release -j 2
step "done"
