#!/bin/sh
# Builds the fuzz targets and runs each of them for a number of seconds: scripts/fuzz.sh [30]
set -eu
cd "$(dirname "$0")/.."
targets="table_reader_fuzz graph_open_fuzz"
cmake --preset fuzz -DCMAKE_UNITY_BUILD=ON >/dev/null
# shellcheck disable=SC2086  # a list of words
cmake --build --preset fuzz --target $targets
cd build/fuzz/fuzz
for target in $targets; do
  mkdir -p "corpus/$target"
  echo "$target"
  if ! ./"$target" -max_total_time="${1:-30}" -print_final_stats=1 "corpus/$target" >"$target.log" 2>&1; then
    tail -50 "$target.log"
    exit 1
  fi
  grep -E 'number_of_executed_units|new_units_added' "$target.log"
done
