#include "hgt/run/idle_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hgt/graph/hetero_graph.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

using Keys = std::vector<std::string>;

class IdleOptions : public testing::Test {
 protected:
  RunOptions run(const std::string& task) const {
    return {.graph = training_graph().string(),
            .task = find_task(task, graph_.schema()),
            .training = {},
            .repeats = 1};
  }
  // All keys that have no effect, in the order of the tables.
  Keys idle(RunOptions options) const {
    Keys found;
    for (const OptionTable& table : {training_table(options), task_table(options.task)}) {
      for (const auto& entry : table.entries()) {
        const auto idle = find_idle_option(options, graph_.schema(), {"seed", entry.key});
        if (!idle) continue;
        EXPECT_EQ(idle->key, entry.key);
        EXPECT_NE(idle->reason, "");
        found.push_back(entry.key);
      }
    }
    return found;
  }

  HeteroGraph graph_ = HeteroGraph::open(training_graph());
};

TEST_F(IdleOptions, DependOnTheTask) {
  EXPECT_EQ(idle(run("paper-venue")),
            (Keys{"degree-weights", "scorer", "slices", "seed-width", "fanout", "recent",
                  "seed-times", "validation-share", "test-share", "validation-draw", "split-seed",
                  "meta-paths", "min-links", "max-candidates", "negatives", "test-negatives"}));
  EXPECT_EQ(idle(run("author-disambiguation")),
            (Keys{"degree-weights", "label-inputs", "seed-width", "fanout", "recent", "seed-times",
                  "validation-share", "test-share", "validation-draw", "split-seed", "meta-paths",
                  "negatives", "test-negatives"}));
  EXPECT_EQ(idle(run("link:cites")),
            (Keys{"degree-weights", "label-inputs", "seed-width", "fanout", "recent", "seed-times",
                  "validation-share", "test-share", "validation-draw", "meta-paths", "min-links",
                  "max-candidates"}));
}

TEST_F(IdleOptions, DependOnOthers) {
  RunOptions options = run("link:cites");
  options.task.split = SplitRule::random;
  options.task.guard = false;
  options.training.scorer = PairScorer::dot;
  options.training.batches = 10;
  options.training.validation.full = true;
  options.training.sampling.strategy = Strategy::neighbors;
  options.training.model.rte = false;
  EXPECT_EQ(idle(options),
            (Keys{"scaled-sinusoids",   "paired-sinusoids", "degree-weights", "time-scale",
                  "label-inputs",       "slices",           "width",          "depth",
                  "neighbor-cap",       "seed-width",       "seed-times",     "epochs",
                  "validation-samples", "train-end",        "validation-end", "hide-links",
                  "also-hide",          "meta-paths",       "min-links",      "max-candidates"}));
  options = run("link:cites");
  options.task.split = SplitRule::given;
  options.training.sampling.strategy = Strategy::full;
  options.training.model.kind = ModelKind::han;
  EXPECT_EQ(idle(options), (Keys{"heter",
                                 "rte",
                                 "norm",
                                 "gated-skip",
                                 "matrix-per-head",
                                 "matrix-per-relation",
                                 "divide-by-head-width",
                                 "scaled-sinusoids",
                                 "paired-sinusoids",
                                 "prior",
                                 "degree-weights",
                                 "time-scale",
                                 "label-inputs",
                                 "width",
                                 "neighbor-cap",
                                 "seed-width",
                                 "fanout",
                                 "recent",
                                 "seed-times",
                                 "instructions",
                                 "train-end",
                                 "validation-end",
                                 "test-share",
                                 "min-links",
                                 "max-candidates"}));
  options = run("paper-venue");
  options.training.model.matrix_per_relation = true;
  const Keys given = {"prior", "matrix-per-head"};
  EXPECT_EQ(find_idle_option(options, graph_.schema(), given)->reason,
            "--matrix-per-relation stands for it");
  options.training.model = {.kind = ModelKind::gcn};
  EXPECT_FALSE(find_idle_option(options, graph_.schema(), {"degree-weights"}));
  options = run("paper-venue");
  options.training.sampling.time_bound = TimeBound::seed;
  EXPECT_FALSE(find_idle_option(options, graph_.schema(), {"seed-width", "seed-times"}));
}

TEST_F(IdleOptions, IncludeTheTimeBoundOfAGraphWithoutTimes) {
  Schema timeless = graph_.schema();
  timeless.time_range.reset();
  const Keys given = {"time-bound"};
  EXPECT_FALSE(find_idle_option(run("paper-venue"), graph_.schema(), given));
  const auto idle = find_idle_option(run("paper-venue"), timeless, given);
  EXPECT_EQ(idle.value().reason, "the graph has no times");
}

TEST_F(IdleOptions, DoNotMatterUnlessTheyAreGiven) {
  EXPECT_FALSE(find_idle_option(run("paper-venue"), graph_.schema(), {}));
  EXPECT_FALSE(find_idle_option(run("paper-venue"), graph_.schema(), {"width", "train-end"}));
}

}  // namespace
}  // namespace hgt
