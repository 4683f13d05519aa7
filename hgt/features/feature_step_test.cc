#include "hgt/features/feature_step.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "hgt/graph/graph_test_folder.h"
#include "hgt/task/task_test_graph.h"

namespace hgt {
namespace {

using Names = std::set<std::string>;

class FeatureStepTest : public testing::Test {
 protected:
  static const HeteroGraph& graph() {
    static const TestGraph all = library();
    return *all;
  }
  static const Schema& schema() { return graph().schema(); }
  static FeatureStep text_step() { return {.types = {"paper"}}; }
  static FeatureStep mean_step(const std::string& type, const std::string& of) {
    FeatureStep step{.types = {type}};
    step.mean_of = of;
    return step;
  }
  static std::string error_for(const FeatureStep& step) {
    return error_of([&] { check_step(step, schema()); });
  }
  Reach reach_for(const std::string& task, const std::string& until = "") const {
    FeatureStep step = text_step();
    step.task = task;
    step.until = until;
    return reach_of(step, graph());
  }
  std::string task_file(const std::string& text) const {
    write_bytes(folder_ / "task.toml", text);
    return (folder_ / "task.toml").string();
  }
  static Names hidden_edges(const Reach& reach) {
    Names names;
    for (size_t i = 0; i < reach.hidden.size(); ++i) {
      if (reach.hidden[i]) names.insert(schema().at(Relation(i)).edge);
    }
    return names;
  }

  const TestFolder folder_;
};

// --- kinds and options ---

TEST_F(FeatureStepTest, IsOfTheKindThatItsOptionsSay) {
  EXPECT_EQ(text_step().kind(), StepKind::text);
  EXPECT_EQ(mean_step("author", "paper").kind(), StepKind::mean);
  FeatureStep walks = text_step();
  walks.metapath2vec = {"PAP"};
  EXPECT_EQ(walks.kind(), StepKind::walks);
}

TEST_F(FeatureStepTest, HasATableOfItsOptions) {
  FeatureStep step;
  OptionTable table = step_table(step);
  table.set("types", {"field", "venue"});
  table.set("encoder", {"vectors"});
  table.set("mean-of", {"paper"});
  table.set("precision", {"float32"});
  table.set("learning-rate", {"0.5"});
  EXPECT_EQ(step.types, (std::vector<std::string>{"field", "venue"}));
  EXPECT_EQ(step.encoder, TextEncoder::vectors);
  EXPECT_EQ(step.mean_of, "paper");
  EXPECT_EQ(step.precision, FeatureType::float32);
  EXPECT_EQ(step.learning_rate, 0.5);
  const std::string error = error_of([&] { table.set("encoder", {"gpt"}); });
  EXPECT_TRUE(contains(
      error, "unknown encoder 'gpt'; choose one of fasttext, vectors, xlnet, bert, hashed"));
  for (const char* name : {"fasttext", "vectors", "xlnet", "bert", "hashed"}) {
    EXPECT_EQ(to_string(from_word<TextEncoder>(name)), name);
  }
}

// --- check_step ---

TEST_F(FeatureStepTest, RefusesWhatSaysNothingOrTooMuch) {
  EXPECT_EQ(error_for(text_step()), "");
  EXPECT_EQ(error_for(mean_step("author", "paper")), "");
  EXPECT_EQ(error_for({}), "give the node type that gets the features with --type");
  EXPECT_TRUE(contains(error_for({.types = {"paper", "papre"}}), "papre"));
  EXPECT_TRUE(contains(error_for(mean_step("author", "papre")), "papre"));
  FeatureStep both = mean_step("author", "paper");
  both.metapath2vec = {"APA"};
  EXPECT_TRUE(contains(error_for(both), "either a mean of neighbors or made by metapath2vec"));
  FeatureStep narrow = text_step();
  narrow.width = 0;
  EXPECT_TRUE(contains(error_for(narrow), "width is 0"));
  EXPECT_EQ(error_for({.types = {"paper"}, .threads = 0}), "threads is 0; give 1 to 1024");
  EXPECT_TRUE(
      contains(error_for({.types = {"paper"}, .epochs = 3'000'000'000}), "epochs is 30000"));
}

TEST_F(FeatureStepTest, RefusesTextThatIsNotThere) {
  FeatureStep step = text_step();
  step.from = "name";
  EXPECT_EQ(error_for(step), "");
  step.from = "abstract";
  EXPECT_TRUE(contains(error_for(step), "from is 'abstract'; it must be title or name"));
  const std::string nameless = error_for({.types = {"paper", "field"}});
  EXPECT_TRUE(contains(nameless, "nodes of type field have no name")) << nameless;
  EXPECT_EQ(error_for(mean_step("field", "paper")), "") << "a mean needs no names";
}

TEST_F(FeatureStepTest, WantsTheFilesOfItsEncoder) {
  FeatureStep step = text_step();
  step.encoder = TextEncoder::vectors;
  EXPECT_TRUE(contains(error_for(step), "--vectors"));
  step.vectors = "glove.txt";
  EXPECT_EQ(error_for(step), "") << "whether it is there shows when it is read";
  step.encoder = TextEncoder::xlnet;
  EXPECT_TRUE(contains(error_for(step), "--xlnet"));
  step.xlnet = "folder";
  EXPECT_EQ(error_for(step), "");
  step.encoder = TextEncoder::bert;
  EXPECT_TRUE(contains(error_for(step), "--bert"));
  step.bert = "folder";
  EXPECT_EQ(error_for(step), "");
}

TEST_F(FeatureStepTest, RefusesOptionsThatSayNothing) {
  const auto idle = [](const FeatureStep& step) {
    return error_of([&] { refuse_idle_options(step); });
  };
  EXPECT_EQ(idle({.types = {"paper"}, .width = 7, .epochs = 3, .threads = 2, .until = "2010"}), "");
  EXPECT_EQ(idle({.types = {"paper"}, .walks = 3}),
            "--walks has no effect on features made by the encoder fasttext; leave it out");
  EXPECT_EQ(idle({.types = {"paper"}, .vectors = "a.txt"}),
            "--vectors has no effect on features made by the encoder fasttext; leave it out");
  EXPECT_TRUE(contains(idle({.types = {"paper"}, .via = {"writes"}}), "--via"));
  EXPECT_EQ(idle({.types = {"venue"}, .metapath2vec = {"VPV"}, .walks = 3, .width = 8}), "");
  EXPECT_TRUE(contains(idle({.types = {"venue"}, .metapath2vec = {"VPV"}, .epochs = 3}),
                       "--epochs has no effect on features made by metapath2vec"));
  EXPECT_EQ(idle({.types = {"author"}, .mean_of = "paper", .via = {"writes"}}), "");
  EXPECT_TRUE(contains(idle({.types = {"author"}, .mean_of = "paper", .width = 8}),
                       "--width has no effect on features made as a mean of neighbors"));
}

TEST_F(FeatureStepTest, RefusesOptionsThatSayNothingAboutTheDefault) {
  const auto idle = [](const FeatureStep& step) {
    return error_of([&] { refuse_idle_options(step); });
  };
  EXPECT_EQ(idle({.walks = 3, .width = 8, .epochs = 2}), "") << "it has titles and walks";
  EXPECT_TRUE(contains(idle({.vectors = "a.txt"}), "--vectors has no effect"));
  EXPECT_EQ(idle({.encoder = TextEncoder::vectors, .vectors = "a.txt"}), "");
  EXPECT_TRUE(contains(idle({.xlnet = "folder"}), "--xlnet has no effect"));
  EXPECT_TRUE(contains(idle({.bert = "folder"}), "--bert has no effect"));
  EXPECT_TRUE(contains(idle({.via = {"writes"}}), "--via has no effect"));
}

// --- reach_of: time ---

TEST_F(FeatureStepTest, ReachesToTheUsualEndOfTraining) {
  EXPECT_EQ(reach_for("").until, 2014);
  EXPECT_TRUE(reach_for("").bounded());
  EXPECT_EQ(reach_for("", "2012").until, 2012);
  EXPECT_EQ(reach_for("paper-venue").until, 2014);
  EXPECT_EQ(reach_for("paper-venue", "2011").until, 2011) << "--until wins";
}

TEST_F(FeatureStepTest, ReachesToTheEndOfTrainingOfTheTask) {
  const std::string file = task_file(
      "predict = 'edge'\nnode = 'paper'\nother = 'venue'\nedges = ['pub_journal']\n"
      "train-end = '2012'\nvalidation-end = '2013'\n");
  EXPECT_EQ(reach_for(file).until, 2012);
  EXPECT_EQ(reach_for(file, "2013").until, 2013);
}

TEST_F(FeatureStepTest, SplitsThatAreNotByTimeGiveNoBound) {
  EXPECT_FALSE(reach_for("paper:topic").bounded()) << "the column has a split";
  EXPECT_EQ(reach_for("paper:topic", "2013").until, 2013) << "unless it is asked for";
  EXPECT_EQ(reach_for("paper:tags").until, 2014) << "the column has none";
  const std::string random =
      "predict = 'label'\nnode = 'paper'\nlabel = 'tags'\nsplit = 'random'\n";
  EXPECT_FALSE(reach_for(task_file(random)).bounded());
  const std::string by_time =
      "predict = 'label'\nnode = 'paper'\nlabel = 'topic'\nsplit = 'time'\n";
  EXPECT_EQ(reach_for(task_file(by_time)).until, 2014) << "although the column has a split";
}

TEST_F(FeatureStepTest, AGraphWithoutTimesGivesNoBound) {
  Schema schema;
  schema.at(schema.add_node_type("paper", NodeKind::event)).names = true;
  schema.number_relations();
  const TestGraph timeless(
      schema, [](GraphBuilder& builder) { builder.add_node(NodeType(0), {.name = "a"}); });
  EXPECT_FALSE(reach_of(text_step(), *timeless).bounded());
}

TEST_F(FeatureStepTest, RefusesWhatIsNoDateOrNoTask) {
  const std::string error = error_of([&] { reach_for("", "soon"); });
  EXPECT_EQ(error, "until is 'soon', which is not a date in the unit year; an example is 2014");
  EXPECT_TRUE(contains(error_of([&] { reach_for("paper-moon"); }), "paper-moon"));
}

// --- reach_of: links ---

TEST_F(FeatureStepTest, HidesWhatATaskPredictsInBothDirections) {
  EXPECT_EQ(hidden_edges(reach_for("")), Names{});
  EXPECT_EQ(hidden_edges(reach_for("paper-field-L1")), (Names{"in_L1", "rev_in_L1"}));
  EXPECT_EQ(hidden_edges(reach_for("link:cites")), (Names{"cites", "rev_cites"}));
  EXPECT_EQ(hidden_edges(reach_for("paper:topic")), Names{}) << "labels are no edges";
}

TEST_F(FeatureStepTest, HidesWhatATaskHidesBesidesOrLeavesOut) {
  const std::string file = task_file(
      "predict = 'edge'\nnode = 'paper'\nother = 'venue'\n"
      "edges = ['pub_journal', 'rev_pub_conference']\n"
      "also-hide = ['sent_to']\nleave-out = ['rev_follows']\n");
  EXPECT_EQ(hidden_edges(reach_for(file)),
            (Names{"pub_conference", "rev_pub_conference", "pub_journal", "rev_pub_journal",
                   "sent_to", "rev_sent_to", "follows", "rev_follows"}));
}

// --- usable_relations ---

TEST_F(FeatureStepTest, UsesAllRelationsBetweenTwoTypes) {
  const auto edges = [&](const FeatureStep& step) {
    Names names;
    for (const Relation relation : usable_relations(step, schema(), reach_of(step, graph()))) {
      EXPECT_EQ(schema().at(schema().at(relation).source).name, step.mean_of);
      EXPECT_EQ(schema().at(schema().at(relation).target).name, step.types.front());
      names.insert(schema().at(relation).edge);
    }
    return names;
  };
  FeatureStep step = mean_step("author", "paper");
  EXPECT_EQ(edges(step), (Names{"rev_writes_first", "rev_writes_other", "thanks"}));
  step.via = {"writes_first", "thanks"};
  EXPECT_EQ(edges(step), (Names{"rev_writes_first", "thanks"}));
  step.task = "link:writes_first";
  EXPECT_EQ(edges(step), Names{"thanks"});
}

TEST_F(FeatureStepTest, SaysWhenOnlyHiddenRelationsLeadThere) {
  const auto error_for_relations = [&](const FeatureStep& step) {
    return error_of([&] { usable_relations(step, schema(), reach_of(step, graph())); });
  };
  EXPECT_EQ(error_for_relations(mean_step("field", "venue")), "no edges lead from venue to field");
  FeatureStep step = mean_step("venue", "paper");
  step.task = "paper-venue";
  step.via = {"pub_journal", "pub_conference"};
  EXPECT_EQ(usable_relations(step, schema(), reach_of(step, graph())).size(), 2U)
      << "what a batch hides is left out of the mean";
  step.task_options.leave_out = {"pub_journal", "pub_conference"};
  EXPECT_EQ(error_for_relations(step),
            "no edges of type pub_journal, pub_conference lead from paper to venue except those "
            "that the task paper-venue predicts or leaves out");
}

}  // namespace
}  // namespace hgt
