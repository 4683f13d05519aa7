#!/bin/sh
# Everything that must hold: packages, build, tests, sanitizers, format, tidy, a little fuzzing.
# The real data sets are looked for in ../shared; without them, the tests that need them are skipped.
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
step "address and undefined-behavior sanitizers"
scripts/build.sh asan
ctest --preset asan -L fast -j 2
step "thread sanitizer, on code with threads"
cmake --preset tsan -DCMAKE_UNITY_BUILD=ON -DHGT_PAGE=OFF >/dev/null
cmake --build --preset tsan --target graph_test ordered_stream_test sampling_test academic_test \
  tables_test metapath2vec_test http_test
build/tsan/tests/graph_test --gtest_filter='*EdgeSorter*:*GraphBuilder*:*JobGroup*' --gtest_brief=1
build/tsan/tests/ordered_stream_test --gtest_brief=1
build/tsan/tests/academic_test --gtest_filter='QuotaChunks*:*WithAnyNumberOfThreads' --gtest_brief=1
build/tsan/tests/tables_test --gtest_filter='RowPieces*:ThreadsImport*' --gtest_brief=1
build/tsan/tests/sampling_test --gtest_filter='BatchStream*' --gtest_brief=1
build/tsan/tests/metapath2vec_test --gtest_filter='SkipGram*:ShareOut*:WalkPairs*' --gtest_brief=1
build/tsan/tests/http_test --gtest_brief=1
step "fuzzing"
scripts/fuzz.sh 30
step "benchmarks run"
build/release/benchmarks/graph_benchmark --papers=3000 --benchmark_min_time=0.01
build/release/benchmarks/sampling_benchmark --papers=3000 --benchmark_min_time=0.01
build/release/benchmarks/model_benchmark --benchmark_filter=sub_128x6 --benchmark_min_time=0.01
build/release/benchmarks/training_benchmark --benchmark_filter=train/ --benchmark_min_time=0.01
build/release/benchmarks/metapath2vec_benchmark --papers=1000 --walks=200 --benchmark_min_time=0.01
build/release/benchmarks/word_vectors_benchmark --papers=5000 --benchmark_min_time=0.01
build/release/benchmarks/xlnet_benchmark --benchmark_filter=encode/1/ --benchmark_min_time=0.01
build/release/benchmarks/bert_benchmark --benchmark_filter=encode/1/ --benchmark_min_time=0.01
step "the page in a browser"
scripts/page_test.sh
step "tests"
ctest --preset release -j 2
step "done"
