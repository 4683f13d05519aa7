#!/bin/sh
# clang-format over all sources of ours, clang-tidy over those of the product. Needs
# scripts/build.sh release.
# Sources that include LibTorch are left out: Debian's clang cannot parse its headers as C++20. Of
# hgt/model, hgt/training, hgt/xlnet, hgt/insight, hgt/explain and hgt/report, those without LibTorch
# are listed.
set -eu
cd "$(dirname "$0")/.."
find hgt cli tests benchmarks examples fuzz reference -name '*.h' -o -name '*.cc' -o -name '*.inc' | sort >build/sources.txt
xargs clang-format --dry-run -Werror <build/sources.txt
# Clang cannot read the headers that GCC precompiled either. Compiled together, sources read each
# header once: a third of the time.
rm -rf build/tidy
cmake --preset release -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DCMAKE_UNITY_BUILD=ON >/dev/null
torch_free='model/(model_options|large_blocks|meta_path|model_schema|tensor_file)|training/(comparison|example_scores|idle_options|run_options|text_file|time_slices|train_options)|xlnet/(xlnet|xlnet_config)|explain/(attention_rendering|attention_svg|attention_tree|explanation_json|neighbor_removal)|insight/(nearest_rows|prominence|similarity)|report/(batch_balance|run_report)'
{
  find build/tidy/CMakeFiles -path '*/Unity/*.cxx' | grep -vE 'hgt_(model|training|xlnet|insight|explain|report)\.dir'
  grep -E "^hgt/($torch_free).cc$" build/sources.txt
} >build/tidy_sources.txt
<build/tidy_sources.txt \
  xargs run-clang-tidy -quiet -j 2 -p build/tidy -extra-arg=-Wno-unknown-warning-option \
    -checks=-bugprone-suspicious-include >build/tidy.log 2>/dev/null || {
  grep -E -A 3 'error:|warning:' build/tidy.log
  exit 1
}
