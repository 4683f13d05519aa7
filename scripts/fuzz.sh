#!/bin/sh
# Builds the fuzz targets (all of fuzz/, or those named) and runs each of them for a number of
# seconds, two at a time: scripts/fuzz.sh [30] [TARGET ...]
# Each starts from fuzz/corpus/TARGET; what it finds besides is kept in build/asan/fuzz/corpus. An
# input that fails is kept there, too: add a test for it, and a small file to fuzz/corpus.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-30}
[ $# -eq 0 ] || shift
cmake --preset asan -DCMAKE_UNITY_BUILD=ON >/dev/null
cmake --build --preset asan --target "${@:-fuzz_targets}"
seeds=$PWD/fuzz/corpus
cd build/asan/fuzz
if [ $# -eq 0 ]; then targets=$(cat targets.txt); else targets=$*; fi

# One target, with its result as one line.
run() {
  mkdir -p "corpus/$1" "$seeds/$1"
  if ./"$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$1-" "corpus/$1" "$seeds/$1" >"$1.log" 2>&1; then
    echo "$1: $(sed -n 's/.*number_of_executed_units: //p' "$1.log") inputs"
  else
    echo "$1 FAILED"
    tail -60 "$1.log"
    return 1
  fi
}

failed=0
waiting=
for target in $targets; do
  run "$target" &
  if [ -n "$waiting" ]; then
    wait "$waiting" || failed=1
  fi
  waiting=$!
done
wait "$waiting" || failed=1
exit $failed
