// hgt: learning on heterogeneous, dynamic graphs. This is the front door of the library: everything
// below is public, and docs/cpp.md walks through it.
//
//   #include <hgt/hgt.h>
//
//   hgt::import_tables(hgt::read_manifest("manifest.toml"), "papers.graph");
//   hgt::RunOptions options{.graph = "papers.graph"};
//   options.task = hgt::find_task("paper-venue", hgt::HeteroGraph::open("papers.graph").schema());
//   hgt::Run run = hgt::Run::create("venue.run", options);
//   run.train();
//   const hgt::RunResult result = run.evaluate(hgt::Split::test, run.scoring());
//
// With CMake: find_package(hgt REQUIRED), target_link_libraries(mine PRIVATE hgt::hgt).
// No header here includes LibTorch. Whoever builds networks of their own also includes
// hgt/model/encoder.h, which does.
#pragma once

#include "hgt/academic/academic_generator.h"  // a generated graph
#include "hgt/error.h"                        // what is thrown
#include "hgt/features/make_features.h"       // input features
#include "hgt/features/recipe.h"              //   and which ones
#include "hgt/graph/graph_builder.h"          // a graph, node by node and edge by edge
#include "hgt/graph/hetero_graph.h"           // a graph, opened
#include "hgt/graph/time_text.h"              // times as people write them
#include "hgt/graph/verified_arrays.h"        // a graph, opened and known to be undamaged
#include "hgt/insight/explain.h"              // what a model attends to
#include "hgt/insight/similarity.h"           // which nodes are alike to it
#include "hgt/model/machine.h"                // threads and memory
#include "hgt/progress.h"                     // how far long work is
#include "hgt/run/comparison.h"               // several models on one task
#include "hgt/run/results.h"                  // how good a run is
#include "hgt/run/saved_run.h"                // what a run was made of
#include "hgt/run/training_log.h"             // how training went
#include "hgt/run/tune_report.h"              // what a search for options found
#include "hgt/sampling/batch_stream.h"        // batches of sub-graphs, made ahead
#include "hgt/sampling/sampler.h"             // one sub-graph
#include "hgt/tables/table_import.h"          // tables -> a graph
#include "hgt/task/batch_plan.h"              // what the batches of a task ask for
#include "hgt/task/task.h"                    // what is predicted
#include "hgt/training/run.h"                 // train, evaluate, predict, embed
#include "hgt/training/tune.h"                // a search for options
