#!/bin/sh
# clang-format over all sources, clang-tidy over those of the product. Needs scripts/build.sh release.
set -eu
cd "$(dirname "$0")/.."
find hgt cli tests benchmarks examples fuzz reference -name '*.h' -o -name '*.cc' -o -name '*.inc' | sort >build/sources.txt
xargs clang-format --dry-run -Werror <build/sources.txt
# Clang cannot read the headers that GCC precompiled. All sources of a folder compiled together read
# each header once: LibTorch's take half a minute. clang-tidy 16 is the oldest that parses them as
# C++20.
rm -rf build/tidy
cmake --preset release -B build/tidy -DHGT_TESTS=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 >/dev/null
find build/tidy -path '*/Unity/*.cxx' |
  xargs run-clang-tidy-16 -quiet -j 2 -p build/tidy -extra-arg=-Wno-unknown-warning-option \
    -checks=-bugprone-suspicious-include >build/tidy.log 2>/dev/null || {
  grep -E -A 3 'error:|warning:' build/tidy.log
  exit 1
}
