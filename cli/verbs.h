// The verbs of the command line: one row each, which both programs read. A verb is a function
// add_NAME in a file of its own, in graph/ or learn/; it gives its sub-command options and a
// callback. Verbs throw hgt::Error; only main() turns that into an exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace hgt::cli {

// GRAPH: a verb of hgt, LEARN: a verb of hgt-learn (program.h), in the order of --help.
#define HGT_VERBS(GRAPH, LEARN)                                                                    \
  GRAPH(generate, "Generate a synthetic academic graph with known structure (docs/generator.md)")  \
  GRAPH(import, "Build a graph from tables, as described by a manifest (docs/import.md)")          \
  GRAPH(export, "Write a graph as TSV tables, with a manifest that imports them again")            \
  GRAPH(inspect, "Show the types, counts, degrees, times and features of a graph")                 \
  GRAPH(sample, "Sample a sub-graph around some nodes and show it (docs/sampling.md)")             \
  LEARN(doctor, "Check this machine: libraries, speed, and what could be improved")                \
  LEARN(features, "Compute input features for the nodes of a graph (docs/features.md)")            \
  LEARN(train, "Train a model on a graph (docs/training.md)")                                      \
  LEARN(tune, "Search for good options of a model by validation scores (docs/tuning.md)")          \
  LEARN(compare, "Train several models on one task and write a table that compares them")          \
  LEARN(evaluate, "Score a trained model on validation or test examples")                          \
  LEARN(predict, "Write the predictions of a trained model for some or all nodes")                 \
  LEARN(embed, "Write the vectors that a trained model computes for all nodes of a type")          \
  LEARN(explain, "Show what a trained model pays attention to (docs/explain.md)")                  \
  LEARN(similar, "Show which nodes a trained model finds similar, and how that changes over time") \
  LEARN(report, "Write one page about runs: results, curves, attention (docs/viewer.md)")          \
  LEARN(view, "Explore a run in a web browser on this machine (docs/viewer.md)")

#define HGT_DECLARE_VERB(name, help) void add_##name(CLI::App& verb);
HGT_VERBS(HGT_DECLARE_VERB, HGT_DECLARE_VERB)
#undef HGT_DECLARE_VERB

struct Verb {
  const char* name;
  const char* help;
  void (*add)(CLI::App& verb);  // nullptr: a verb of the other program
};

// Rows of a program's own verbs, and of those of the other one.
#define HGT_OWN_VERB(name, help) {#name, help, add_##name},
#define HGT_OTHER_VERB(name, help) {#name, help, nullptr},

}  // namespace hgt::cli
