#!/bin/sh
# A thousand kills and a thousand damaged files: scripts/torture.sh [TRIALS [SEED]]
# The tests of every day (ctest -L slow) take 100 of each.
set -eu
cd "$(dirname "$0")/.."
scripts/build.sh release
export HGT_TRIALS="${1:-1000}" HGT_SEED="${2:-1}" TEST_TMPDIR="${TEST_TMPDIR:-/dev/shm}"
build/release/tests/torture_program_test
