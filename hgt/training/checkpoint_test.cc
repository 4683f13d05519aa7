// Checkpoints that are damaged or belong to something else are refused and never loaded.
#include "hgt/training/checkpoint.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "hgt/error.h"
#include "hgt/model/model_file.h"
#include "hgt/model/torch.h"
#include "hgt/random.h"
#include "hgt/training/trainer.h"
#include "hgt/training/training_test_graph.h"

namespace hgt {
namespace {

// A run that was stopped after four batches.
class Checkpoint : public testing::Test {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
    Trainer trainer(*task_, quick_options(), SeedFolder(folder_.path()), "test");
    const auto stop = [](const Progress& progress) {
      if (progress.count == 4 && progress.unit == "batches") throw Interrupted();
    };
    ASSERT_THROW(trainer.run(stop), Interrupted);
    whole_ = read_bytes(file_);
    ASSERT_GT(whole_.size(), 10000U);
  }

  // The error of going on from what is there now; nothing must be done or changed before it.
  std::string error_of_going_on(const TrainOptions& options = quick_options(),
                                const std::string& identity = "test") const {
    const auto files = folder_bytes(folder_.path());
    const std::string error = error_of([&] {
      Trainer(*task_, options, SeedFolder(folder_.path()), identity).run([](const Progress&) {
        ADD_FAILURE() << "it went on";
        throw Interrupted();
      });
    });
    EXPECT_EQ(folder_bytes(folder_.path()), files);
    return error;
  }
  // And nothing of it is loaded.
  void expect_refused(const std::string& bytes, const std::string& what) {
    write_bytes(file_, bytes);
    const std::string error = error_of([&] { load_checkpoint(file_, learner_, "test"); });
    EXPECT_TRUE(error.starts_with(file_.string() + ": ")) << what << ": " << error;
    EXPECT_FALSE(contains(error, "\n")) << error;
    for (const auto& parameter : model_->named_parameters()) {
      ASSERT_TRUE(at::equal(parameter.value(), fresh_->named_parameters()[parameter.key()]))
          << what << ": " << parameter.key();
    }
  }

  TestFolder folder_;
  const Path file_ = SeedFolder(folder_.path()).checkpoint_file();
  std::string whole_;
  std::unique_ptr<const Task> task_ = training_task("paper-venue");
  TaskModel fresh_ = make_model(*task_, quick_options());
  TaskModel model_ = make_model(*task_, quick_options());
  AdamW optimizer_{model_->parameters(), {}};
  WeightAverage average_{model_->parameters(), 0};
  const Learner learner_{.model = *model_, .optimizer = optimizer_, .average = average_};
};

TEST_F(Checkpoint, IsRefusedWithAnyByteChanged) {
  std::set<size_t> places;
  for (size_t i = 0; i < 16; ++i) places.insert(i);  // the length of the header, and its start
  Draws draws(hash(41));
  for (int i = 0; i < 60; ++i) places.insert(draws.below(4000));  // the header
  for (int i = 0; i < 60; ++i) places.insert(draws.below(whole_.size()));
  places.insert(whole_.size() - 1);
  for (const size_t place : places) {
    std::string bytes = whole_;
    bytes[place] = static_cast<char>(bytes[place] ^ (1 << (place % 8)));
    expect_refused(bytes, "byte " + std::to_string(place));
  }
}

TEST_F(Checkpoint, IsRefusedWhenItIsCutOffOrTooLong) {
  for (const double share : {0.0, 0.0001, 0.01, 0.3, 0.5, 0.9, 0.9999}) {
    expect_refused(
        whole_.substr(0, static_cast<size_t>(share * static_cast<double>(whole_.size()))),
        std::to_string(share));
  }
  for (const size_t missing : {1U, 4U, 8U}) {
    expect_refused(whole_.substr(0, whole_.size() - missing), "a few bytes");
  }
  expect_refused(whole_ + '\0', "a byte more");
  expect_refused(std::string(whole_.size(), '\0'), "zeros");
  EXPECT_NE(error_of_going_on(), "");
  write_bytes(file_, whole_);
  EXPECT_EQ(error_of([&] { load_checkpoint(file_, learner_, "test"); }), "");
}

TEST_F(Checkpoint, IsRefusedWhenItBelongsToAnotherRun) {
  const std::string error = error_of_going_on(quick_options(), "another");
  EXPECT_TRUE(contains(error, "it belongs to a run with other options or on another graph"))
      << error;
}

TEST_F(Checkpoint, IsRefusedWhenItIsOfAnotherKind) {
  std::filesystem::copy_file(SeedFolder(folder_.path()).best_file(), file_,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(
      contains(error_of_going_on(),
               "its format is 'hgt model 1', but this version of hgt reads 'hgt checkpoint 1'"));
}

TEST_F(Checkpoint, IsRefusedWhenTheModelHasAnotherShape) {
  TrainOptions wider = quick_options();
  wider.model.hidden = 16;
  EXPECT_TRUE(error_of_going_on(wider).starts_with(file_.string()));
  TrainOptions deeper = quick_options();
  deeper.model.layers = 3;
  EXPECT_TRUE(error_of_going_on(deeper).starts_with(file_.string()));
}

TEST_F(Checkpoint, IsRefusedWithoutAStateThatCanBeRead) {
  TaskModel model = make_model(*task_, quick_options());
  for (const char* state : {"", "{}", "[1]", R"({"step": "three"})"}) {
    save_tensors(file_, named_parameters(*model),
                 {{"format", "hgt checkpoint 1"},
                  {"identity", "test"},
                  {"optimizer_steps", "1"},
                  {"state", state}});
    const std::string error = error_of_going_on();
    EXPECT_TRUE(contains(error, file_.string() + ": cannot read the state of the run")) << error;
  }
}

TEST_F(Checkpoint, OfTheBestWeightsIsRefusedWhenItIsDamagedOrOfAnotherRun) {
  const Path best = SeedFolder(folder_.path()).best_file();
  const std::string bytes = read_bytes(best);
  const auto error_of_best = [&](const std::string& identity) {
    return error_of([&] {
      Trainer(*task_, quick_options(), SeedFolder(folder_.path()), identity).best_model();
    });
  };
  EXPECT_EQ(error_of_best("test"), "");
  EXPECT_TRUE(contains(error_of_best("another"), "it belongs to a run with other options"));
  for (const size_t place : {size_t{0}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 16);
    write_bytes(best, damaged);
    EXPECT_TRUE(error_of_best("test").starts_with(best.string())) << place;
  }
  write_bytes(best, "");
  EXPECT_TRUE(error_of_best("test").starts_with(best.string()));
}

TEST_F(Checkpoint, GivesBackWhatWasSaved) {
  torch::manual_seed(42);
  const auto fresh = [&](uint64_t seed) {
    TrainOptions options = quick_options();
    options.seed = seed;
    return make_model(*task_, options);
  };
  TaskModel model = fresh(1);
  AdamW optimizer(model->parameters(), {});
  for (at::Tensor& moment : optimizer.first_moments()) moment.normal_();
  for (at::Tensor& moment : optimizer.second_moments()) moment.uniform_();
  optimizer.set_steps(17);
  WeightAverage average(model->parameters(), 0.5);
  for (at::Tensor& value : average.values()) value.normal_();
  const TrainState state{.step = 12,
                         .best_loss = 0.1 + 0.2,
                         .best_step = 9,
                         .threshold = -0.7F,
                         .without_progress = 3,
                         .stopped_early = true,
                         .validation_due = true,
                         .loss_sum = 1.0 / 3,
                         .loss_count = 5,
                         .seconds = 1e-9,
                         .batch_seconds = 5e-10};
  save_checkpoint(file_, {.model = *model, .optimizer = optimizer, .average = average}, state,
                  "test");
  TaskModel other = fresh(2);
  AdamW other_optimizer(other->parameters(), {});
  WeightAverage other_average(other->parameters(), 0.5);
  const Learner into{.model = *other, .optimizer = other_optimizer, .average = other_average};
  EXPECT_EQ(load_checkpoint(file_, into, "test"), state);
  EXPECT_EQ(other_optimizer.steps(), 17U);
  const auto parameters = other->named_parameters();
  size_t i = 0;
  for (const auto& parameter : model->named_parameters()) {
    EXPECT_TRUE(at::equal(parameter.value(), parameters[parameter.key()])) << parameter.key();
    EXPECT_TRUE(at::equal(optimizer.first_moments()[i], other_optimizer.first_moments()[i]));
    EXPECT_TRUE(at::equal(optimizer.second_moments()[i], other_optimizer.second_moments()[i]));
    EXPECT_TRUE(at::equal(average.values()[i], other_average.values()[i]));
    ++i;
  }
  EXPECT_GT(i, 10U);
}

}  // namespace
}  // namespace hgt
