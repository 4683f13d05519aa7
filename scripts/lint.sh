#!/bin/sh
# clang-format over all sources of ours, clang-tidy over those of the product. Needs
# scripts/build.sh release.
set -eu
cd "$(dirname "$0")/.."
find hgt cli tests benchmarks examples fuzz reference -name '*.h' -o -name '*.cc' -o -name '*.inc' | sort >build/sources.txt
xargs clang-format --dry-run -Werror <build/sources.txt
grep -E '^(hgt|cli)/.*\.cc$' build/sources.txt | grep -v _test.cc |
  xargs run-clang-tidy -quiet -j 2 -p build/release -extra-arg=-Wno-unknown-warning-option \
    >build/tidy.log 2>/dev/null || {
  grep -E -A 3 'error:|warning:' build/tidy.log
  exit 1
}
