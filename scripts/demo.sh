#!/bin/sh
# The main job on generated data, end to end: packages, build, a graph on disk, two trained models,
# their scores, and a report to look at.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release -DHGT_TESTS=OFF
hgt=build/release/hgt
mkdir -p build/demo
rm -rf build/demo/venue.run build/demo/field.run
$hgt generate --preset small --out build/demo/small.graph --force
echo
$hgt inspect build/demo/small.graph --quiet
settings="--hidden 64 --heads 4 --layers 2 --width 64 --depth 4 --learning-rate 0.003"
echo
# shellcheck disable=SC2086  # a list of words
$hgt train build/demo/small.graph --task paper-venue --run build/demo/venue.run $settings --epochs 12
echo
$hgt train build/demo/small.graph --task paper-field-L1 --run build/demo/field.run $settings --epochs 6
echo
$hgt evaluate build/demo/venue.run --quiet
echo
$hgt evaluate build/demo/field.run --quiet
echo
$hgt report build/demo/venue.run build/demo/field.run --out build/demo/report.html --quiet
echo "open it in a browser, or explore a run: $hgt view build/demo/field.run"
