// The verbs of the command line. Each adds its sub-command, with help, to the program; CLI11 calls
// it when the user asks for it. Verbs throw hgt::Error; only main() turns that into an exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace hgt::cli {

void add_generate(CLI::App& program);
void add_import(CLI::App& program);
void add_export(CLI::App& program);
void add_inspect(CLI::App& program);
void add_sample(CLI::App& program);

// Verbs of hgt-learn.
constexpr const char* kDoctorHelp =
    "Show what hgt computes with here, how fast it is, and what to mend";
constexpr const char* kFeaturesHelp =
    "Make input features for the nodes of a graph (docs/features.md)";
constexpr const char* kTrainHelp = "Train a model on a graph (docs/training.md)";
constexpr const char* kCompareHelp =
    "Train several models on one task and write the table that compares them";
constexpr const char* kEvaluateHelp = "Score a trained model on validation or test examples";
constexpr const char* kPredictHelp = "Write what a trained model predicts for nodes";
constexpr const char* kEmbedHelp = "Write the vectors of all nodes of a type";
constexpr const char* kExplainHelp =
    "Show what a trained model attends to, for a type or one node (docs/explain.md)";
constexpr const char* kSimilarHelp =
    "Show which nodes are alike to a trained model, and how that changes over time";
constexpr const char* kReportHelp =
    "Write one page that shows runs: results, curves, attention, evolution (docs/viewer.md)";
constexpr const char* kViewHelp = "Explore a run in a browser on this machine (docs/viewer.md)";
void add_doctor(CLI::App& program);
void add_features(CLI::App& program);
void add_train(CLI::App& program);
void add_compare(CLI::App& program);
void add_evaluate(CLI::App& program);
void add_predict(CLI::App& program);
void add_embed(CLI::App& program);
void add_explain(CLI::App& program);
void add_similar(CLI::App& program);
void add_report(CLI::App& program);
void add_view(CLI::App& program);

}  // namespace hgt::cli
