#!/bin/sh
# Tests the page in a real browser: with made-up data, and with a small run, as hgt report writes
# it and as hgt view serves it. Needs scripts/build.sh release. Screenshots are left in
# build/page_test.
set -eu
cd "$(dirname "$0")/.."
hgt=build/release/hgt
work=$PWD/build/page_test
rm -rf "$work"
mkdir -p "$work/web"
tar -C web --exclude=node_modules --exclude=dist -cf - . | tar -C "$work/web" -xf -
(cd "$work/web" && npm ci --silent && npm run --silent check)
(cd "$work/web/test" && npm ci --silent)
node "$work/web/test/page_test.mjs" build/release/share/hgt/page.html "$work/page"

$hgt generate --preset small --papers 2000 --out "$work/small.graph" --quiet
$hgt train "$work/small.graph" --task paper-field-L1 --run "$work/field.run" --hidden 32 --heads 4 \
  --layers 3 --width 32 --depth 4 --learning-rate 0.003 --batches 60 --quiet
$hgt evaluate "$work/field.run" --quiet >/dev/null
$hgt report "$work/field.run" --out "$work/report.html" --quiet >/dev/null
node "$work/web/test/file_test.mjs" "$work/report.html" "$work/file"
: >"$work/view.log"
$hgt view "$work/field.run" --port 0 >"$work/view.log" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
tries=0
until grep -q http "$work/view.log"; do
  tries=$((tries + 1))
  [ $tries -le 300 ] || { echo "hgt view did not start"; exit 1; }
  sleep 0.1
done
node "$work/web/test/viewer_test.mjs" "$(cut -d ' ' -f 1 "$work/view.log")" "$work/viewer"
