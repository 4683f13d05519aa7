#!/bin/sh
# Runs each fuzz target for some seconds: scripts/fuzz.sh [30]. Needs scripts/build.sh fuzz.
set -eu
cd "$(dirname "$0")/../build/fuzz/fuzz"
for target in table_reader_fuzz graph_open_fuzz; do
  mkdir -p "corpus/$target"
  echo "$target"
  if ! ./$target -max_total_time="${1:-30}" -print_final_stats=1 "corpus/$target" >$target.log 2>&1; then
    tail -50 $target.log
    exit 1
  fi
  grep -E 'number_of_executed_units|new_units_added' $target.log
done
