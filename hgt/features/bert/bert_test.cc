// The network against the slow reference, what must not make a difference, and what damaged or
// foreign files give.
#include "hgt/features/bert/bert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "hgt/features/bert/bert_test_folder.h"
#include "hgt/graph/graph_test_folder.h"
#include "hgt/model/machine.h"
#include "reference/bert_reference.h"

namespace hgt {
namespace {

using Json = nlohmann::json;
using Titles = std::vector<std::vector<int32_t>>;

BertNetwork opened(const TestBert& bert) {
  const TestFolder folder;
  write_bert(bert, folder.path());
  return BertNetwork::open(folder.path());
}

std::vector<float> encoded(const BertNetwork& network, const Titles& titles) {
  std::vector<float> rows(titles.size() * network.config().hidden_size, -7);
  network.encode(titles, rows);
  return rows;
}

std::vector<int32_t> random_ids(std::mt19937& random, size_t count) {
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(random() % 56);
  return ids;
}

void expect_like_reference(const BertConfig& config, size_t tokens) {
  const TestBert bert = random_bert(config);
  std::mt19937 random(static_cast<unsigned>(tokens));
  const std::vector<int32_t> ids = random_ids(random, tokens);
  const std::vector<float> found = encoded(opened(bert), {ids});
  const std::vector<double> expected = ReferenceBert(bert).run(ids);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t d = 0; d < found.size(); ++d) {
    EXPECT_NEAR(found[d], expected[d], 2e-5) << tokens << " tokens";
  }
}

TEST(BertNetwork, IsLikeTheReferenceForTitlesOfAnyLength) {
  for (const size_t tokens : {1U, 2U, 7U, 8U, 9U, 33U, 64U, 65U, 72U, 73U, 100U}) {
    expect_like_reference(small_bert(), tokens);
  }
}

TEST(BertNetwork, IsLikeTheReferenceForEveryOption) {
  BertConfig config = small_bert();
  config.hidden_act = FeedActivation::relu;
  expect_like_reference(config, 6);
  config.hidden_act = FeedActivation::gelu_new;
  config.pooling = BertPooling::cls;
  expect_like_reference(config, 6);
  config.normalize = true;
  expect_like_reference(config, 9);
  config.pooling = BertPooling::mean;
  config.layer_norm_eps = 0.1;
  expect_like_reference(config, 5);
  config.hidden_size = 66;  // heads of 33: four vectors and a little
  config.num_attention_heads = 2;
  config.type_vocab_size = 1;
  config.num_hidden_layers = 1;
  expect_like_reference(config, 70);
}

TEST(BertNetwork, CompanyInABatchAndThreadsMakeNoDifferenceButRounding) {
  const BertNetwork network = opened(random_bert(small_bert()));
  std::mt19937 random(3);
  Titles titles;
  for (size_t i = 0; i < 200; ++i) titles.push_back(random_ids(random, random() % 101));
  const std::vector<float> together = encoded(network, titles);
  EXPECT_EQ(encoded(network, titles), together);
  for (size_t i = 0; i < titles.size(); ++i) {
    const std::vector<float> alone = encoded(network, {titles[i]});
    for (size_t d = 0; d < 12; ++d) EXPECT_NEAR(together[i * 12 + d], alone[d], 1e-5) << i;
  }
  for (const int threads : {1, 3}) {  // the library of matrix products gives them other blocks
    set_compute_threads(threads);
    const std::vector<float> vectors = encoded(network, titles);
    ASSERT_EQ(vectors.size(), together.size());
    for (size_t i = 0; i < vectors.size(); ++i) EXPECT_NEAR(vectors[i], together[i], 1e-5) << i;
  }
  set_compute_threads(0);
  EXPECT_EQ(encoded(network, {{}}), std::vector<float>(12, 0));
  EXPECT_TRUE(encoded(network, {}).empty());
}

TEST(BertNetwork, PrefixedAndOlderNamesAreRead) {
  const TestBert bert = random_bert(small_bert());
  const Titles titles = {{1, 2, 3, 9}};
  const std::vector<float> expected = encoded(opened(bert), titles);
  TestBert older = bert;
  for (const auto& [name, tensor] : bert.tensors) {
    const size_t norm = name.find("LayerNorm.");
    if (norm == std::string::npos) continue;
    older.tensors.erase(name);
    older.tensors[name.substr(0, norm + 10) + (name.ends_with("weight") ? "gamma" : "beta")] =
        tensor;
  }
  EXPECT_EQ(encoded(opened(older), titles), expected);
  const TestFolder folder;
  write_bert(bert, folder.path());
  write_tensors(bert.tensors, folder / "model.safetensors", ElementType::float32, "bert.");
  EXPECT_EQ(encoded(BertNetwork::open(folder.path()), titles), expected);
}

class BertTest : public testing::Test {
 protected:
  BertTest() { write_bert(bert_, folder_.path()); }
  std::string error_of_opening() const {
    return error_of([&] { Bert::open(folder_.path()); });
  }
  std::string error_with(const std::string& file, const std::string& text) const {
    const std::string whole = read_bytes(folder_ / file);
    write_bytes(folder_ / file, text);
    const std::string error = error_of_opening();
    write_bytes(folder_ / file, whole);
    return error;
  }
  std::string error_of_config(const std::string& field, const Json& value) const {
    Json config = config_json(bert_.config);
    config[field] = value;
    return error_with("config.json", config.dump());
  }
  std::string error_of_weights(const TestTensors& tensors) const {
    write_tensors(tensors, folder_ / "model.safetensors");
    return error_of_opening();
  }
  std::string named(const std::string& file) const { return (folder_ / file).string() + ": "; }

  TestFolder folder_;
  TestBert bert_ = random_bert(small_bert());
};

TEST_F(BertTest, TitlesWithoutTextAreToldAndZero) {
  const Bert bert = Bert::open(folder_.path());
  const std::vector<std::string_view> titles = {"", "Graphs of nodes", " \t", "\xff"};
  std::vector<float> rows(titles.size() * 12, -7);
  EXPECT_EQ(bert.encode(titles, rows), (std::vector<size_t>{0, 2, 3}));
  const auto ids = bert.tokenizer().encode(titles[1], 100);
  const std::vector<double> expected = ReferenceBert(bert_).run(ids);
  for (size_t d = 0; d < 12; ++d) {
    EXPECT_NEAR(rows[12 + d], expected[d], 2e-5);
    EXPECT_EQ(rows[d], 0);
    EXPECT_EQ(rows[36 + d], 0);
  }
}

TEST_F(BertTest, LongTitlesAreCut) {
  const std::string text(150, '.');  // every mark is a word
  const Bert bert = Bert::open(folder_.path());
  const std::vector<std::string_view> titles = {text};
  std::vector<float> rows(12);
  EXPECT_TRUE(bert.encode(titles, rows).empty());
  EXPECT_EQ(bert.tokenizer().encode(text, 100).size(), 100U);
  std::vector<float> row(12);
  const Titles much = {std::vector<int32_t>(101)};
  EXPECT_EQ(error_of([&] { bert.network().encode(much, row); }),
            "title 0 has 101 ids, but at most 100 are possible; shorten it");
}

TEST_F(BertTest, MissingFilesAreNamed) {
  std::filesystem::remove(folder_ / "vocab.txt");
  std::filesystem::remove(folder_ / "model.safetensors");
  EXPECT_TRUE(contains(error_of_opening(),
                       ": has no model.safetensors, vocab.txt or tokenizer.json; give a folder"));
  write_bytes(folder_ / "pytorch_model.bin", "PK");
  EXPECT_TRUE(contains(error_of_opening(), "convert it with scripts/convert_weights.py"));
}

TEST_F(BertTest, ConfigsOfOtherModelsAreRefused) {
  const std::string start = named("config.json");
  EXPECT_TRUE(error_of_config("model_type", "mpnet")
                  .starts_with(start + R"(model_type is "mpnet"; it must be "bert")"));
  EXPECT_EQ(error_of_config("position_embedding_type", "relative_key"),
            start + R"(position_embedding_type is "relative_key"; it must be "absolute")");
  EXPECT_EQ(error_of_config("num_attention_heads", 5),
            start + "num_attention_heads is 5; it must be a divisor of hidden_size");
  EXPECT_TRUE(contains(error_of_config("hidden_act", "silu"), "it must be \"gelu\""));
  EXPECT_TRUE(contains(error_of_config("is_decoder", true), "is_decoder is true"));
  for (const char* field : {"vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size",
                            "num_attention_heads", "max_position_embeddings", "type_vocab_size"}) {
    for (const Json& value : {Json(0), Json(-1), Json("12"), Json(1e9)}) {
      EXPECT_EQ(error_of_config(field, value),
                start + field + " is " + value.dump() + "; it must be a number from 1 to 16777216");
    }
  }
  EXPECT_EQ(error_with("config.json", "[1"),
            start + "is not a JSON object; download the file again");
  EXPECT_TRUE(contains(error_of_config("vocab_size", 57), "has the shape [56, 12], but"));
  EXPECT_TRUE(contains(error_of_config("num_hidden_layers", 3),
                       "holds 2 layers, but config.json beside it says num_hidden_layers = 3"));
}

TEST_F(BertTest, OtherPoolingsAndModulesAreRefused) {
  const std::string pooling = "1_Pooling/config.json";
  EXPECT_EQ(
      error_with(pooling, R"({"pooling_mode_max_tokens": true})"),
      named(pooling) +
          "the pooling is max_tokens; take a model whose pooling is mean_tokens or cls_token");
  EXPECT_TRUE(contains(error_with(pooling, "{}"), "the pooling is not given"));
  EXPECT_TRUE(contains(
      error_with(pooling, R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})"),
      "the pooling is cls_token and mean_tokens"));
  EXPECT_EQ(error_with(pooling, R"({"pooling_mode": "mean"})"), "");
  EXPECT_TRUE(contains(error_with("modules.json", R"([{"type": "a.Dense"}])"), "a module 'Dense'"));
  EXPECT_TRUE(contains(error_with("modules.json", "{}"), "is not a JSON array"));
  EXPECT_TRUE(contains(error_with("modules.json", R"([{"type": "Transformer", "path": "0"}])"),
                       "move them here"));
  EXPECT_TRUE(contains(error_with("sentence_bert_config.json", R"({"max_seq_length": 1})"),
                       "max_seq_length is 1; it must be at least 2"));
  for (const char* file : {"1_Pooling/config.json", "modules.json", "sentence_bert_config.json"}) {
    std::filesystem::remove(folder_ / file);
    EXPECT_EQ(error_of_opening(), "") << file;
  }
  const BertConfig plain = read_bert_config(folder_.path());
  EXPECT_EQ(plain.pooling, BertPooling::mean);
  EXPECT_FALSE(plain.normalize);
  EXPECT_EQ(plain.max_seq_length, 100U);
}

TEST_F(BertTest, EveryTensorIsNeededExceptThePooler) {
  for (const auto& [name, tensor] : bert_.tensors) {
    if (name.starts_with("pooler.")) continue;
    TestTensors damaged = bert_.tensors;
    damaged.erase(name);
    EXPECT_EQ(error_of_weights(damaged),
              named("model.safetensors") + "has no tensor " + name +
                  " (with or without \"bert.\" before it); use the weights of a BERT with "
                  "num_hidden_layers = 2");
    damaged[name] = tensor;
    damaged[name].values.back() = std::nanf("");
    EXPECT_TRUE(contains(error_of_weights(damaged), name + " contains infinities or NaN"));
  }
}

TEST_F(BertTest, DamagedFilesAreRefused) {
  const std::string whole = read_bytes(folder_ / "model.safetensors");
  EXPECT_TRUE(error_with("model.safetensors", whole.substr(0, whole.size() - 5))
                  .starts_with(named("model.safetensors")));
  EXPECT_TRUE(contains(error_with("vocab.txt", "[UNK]\n[CLS]\n"), "has no piece [SEP]"));
  EXPECT_EQ(error_with("vocab.txt", letter_vocabulary() + "more\n"),
            named("vocab.txt") +
                "has 57 pieces, but config.json beside it says vocab_size = 56; use the vocabulary "
                "that belongs to the weights");
}

}  // namespace
}  // namespace hgt
