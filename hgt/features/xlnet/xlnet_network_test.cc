// The network against the slow reference, and what must not make a difference: batches, prefixes,
// element types, instruction sets.
#include "hgt/features/xlnet/xlnet_network.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "hgt/features/tokens/xlnet_tokenizer.h"
#include "hgt/features/transformer/title_attention.h"
#include "hgt/features/xlnet/xlnet_test_folder.h"
#include "hgt/graph/graph_test_folder.h"
#include "reference/xlnet_reference.h"

namespace hgt {
namespace {

constexpr double kTolerance = 2e-5;

XlnetConfig small_config() {
  return {.vocab_size = 11,
          .d_model = 12,
          .n_layer = 3,
          .n_head = 3,
          .d_head = 4,
          .d_inner = 10,
          .ff_activation = FeedActivation::gelu,
          .layer_norm_eps = 1e-12,
          .clamp_len = -1};
}

std::vector<int32_t> random_ids(std::mt19937& random, size_t count, uint64_t vocab_size) {
  std::uniform_int_distribution<int32_t> word(0, static_cast<int32_t>(vocab_size) - 1);
  std::vector<int32_t> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(word(random));
  return ids;
}

std::vector<float> encoded(const XlnetNetwork& network,
                           const std::vector<std::vector<int32_t>>& titles) {
  std::vector<float> rows(titles.size() * network.config().d_model, -7);
  network.encode(titles, rows);
  return rows;
}

template <typename A, typename B>
double largest_difference(const A& a, const B& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = difference <= largest ? largest : difference;  // NaN is largest
  }
  return largest;
}

XlnetNetwork opened(const TestXlnet& xlnet) {
  const TestFolder folder;
  write_xlnet(xlnet, folder.path());
  return XlnetNetwork::open(folder.path());
}

// All that the trace gives, for one title.
void expect_like_reference(const XlnetConfig& config, size_t tokens) {
  SCOPED_TRACE(config_json(config).dump() + ", tokens " + std::to_string(tokens));
  const TestXlnet xlnet = random_xlnet(config);
  std::mt19937 random(static_cast<unsigned>(tokens));
  const std::vector<int32_t> ids = random_ids(random, tokens, config.vocab_size);
  const ReferenceXlnet::Result expected = ReferenceXlnet(xlnet).run(ids);
  const XlnetNetwork network = opened(xlnet);
  const XlnetTrace found = network.trace(ids);
  ASSERT_EQ(found.hidden_states.size(), config.n_layer);
  for (size_t layer = 0; layer < config.n_layer; ++layer) {
    Doubles flat;
    for (const Doubles& token : expected.hidden_states[layer]) {
      flat.insert(flat.end(), token.begin(), token.end());
    }
    EXPECT_LT(largest_difference(found.hidden_states[layer], flat), kTolerance)
        << "layer " << layer;
  }
  EXPECT_LT(largest_difference(found.token_weight, expected.token_weight), kTolerance);
  EXPECT_LT(largest_difference(found.title_vector, expected.title_vector), kTolerance);
  EXPECT_EQ(encoded(network, {ids}), found.title_vector);
}

TEST(XlnetNetwork, IsLikeTheReferenceForTitlesOfAnyLength) {
  for (const size_t tokens : {1U, 2U, 7U, 8U, 9U, 16U, 23U, 31U, 40U, 41U, 50U, 57U, 64U}) {
    expect_like_reference(small_config(), tokens);
  }
}

TEST(XlnetNetwork, IsLikeTheReferenceForAnyShape) {
  XlnetConfig config = small_config();
  config.n_layer = 2;
  expect_like_reference(config, 5);
  config.d_model = 22;  // no multiple of a vector
  config.d_head = 5;    // nor of this, and not d_model / n_head
  config.d_inner = 7;
  expect_like_reference(config, 6);
  config.d_head = 76;  // nine vectors and a half
  config.n_head = 1;
  expect_like_reference(config, 9);
  config.d_model = 8;
  config.d_head = 8;
  expect_like_reference(config, 12);
}

TEST(XlnetNetwork, IsLikeTheReferenceForEveryOption) {
  XlnetConfig config = small_config();
  config.ff_activation = FeedActivation::relu;
  expect_like_reference(config, 6);
  config.ff_activation = FeedActivation::gelu_new;
  expect_like_reference(config, 6);
  config.clamp_len = 3;
  expect_like_reference(config, 10);
  config.layer_norm_eps = 0.1;
  expect_like_reference(config, 4);
}

TEST(XlnetNetwork, HeadWidthIsWhatTheModelLeavesWhenTheConfigHasNone) {
  const TestXlnet xlnet = random_xlnet(small_config());
  const TestFolder folder;
  write_xlnet(xlnet, folder.path());
  nlohmann::json config = config_json(xlnet.config);
  for (const char* field : {"d_head", "ff_activation", "layer_norm_eps", "untie_r", "attn_type",
                            "bi_data", "clamp_len", "same_length"}) {
    config.erase(field);
  }
  write_bytes(folder / "config.json", config.dump());
  const std::vector<std::vector<int32_t>> titles = {{1, 2, 3}};
  EXPECT_EQ(encoded(XlnetNetwork::open(folder.path()), titles), encoded(opened(xlnet), titles));
}

TEST(XlnetNetwork, CompanyInABatchMakesNoDifference) {
  const XlnetConfig config = small_config();
  const XlnetNetwork network = opened(random_xlnet(config));
  std::mt19937 random(3);
  std::vector<std::vector<int32_t>> titles;
  for (size_t i = 0; i < 300; ++i) {  // some batches
    titles.push_back(random_ids(random, random() % (kMaxTitleIds + 1), config.vocab_size));
  }
  const std::vector<float> together = encoded(network, titles);
  std::vector<float> alone;
  for (const std::vector<int32_t>& title : titles) {
    const std::vector<float> row = encoded(network, {title});
    alone.insert(alone.end(), row.begin(), row.end());
  }
  EXPECT_LT(largest_difference(together, alone), 1e-5);
}

TEST(XlnetNetwork, TitlesWithoutIdsAreZero) {
  const XlnetNetwork network = opened(random_xlnet(small_config()));
  const std::vector<float> rows = encoded(network, {{}, {1, 2}, {}});
  EXPECT_EQ(std::vector<float>(rows.begin(), rows.begin() + 12), std::vector<float>(12, 0));
  EXPECT_EQ(std::vector<float>(rows.end() - 12, rows.end()), std::vector<float>(12, 0));
  EXPECT_NE(rows[12], 0);
  EXPECT_EQ(encoded(network, {{}}), std::vector<float>(12, 0));
  EXPECT_TRUE(encoded(network, {}).empty());
}

TEST(XlnetNetwork, TokenWeightsSumToOne) {
  const XlnetNetwork network = opened(random_xlnet(small_config()));
  double total = 0;
  for (const float weight : network.trace({1, 2, 3, 4, 5}).token_weight) total += weight;
  EXPECT_NEAR(total, 1, 1e-6);
}

TEST(XlnetNetwork, PrefixedNamesAndForeignTensorsAreRead) {
  TestXlnet xlnet = random_xlnet(small_config());
  const std::vector<std::vector<int32_t>> titles = {{1, 2, 3, 9}};
  const std::vector<float> expected = encoded(opened(xlnet), titles);
  const TestFolder folder;
  write_xlnet(xlnet, folder.path());
  write_weights(xlnet, folder / "model.safetensors", ElementType::float32, "transformer.");
  EXPECT_EQ(encoded(XlnetNetwork::open(folder.path()), titles), expected);
  xlnet.tensors["lm_loss.weight"] = {{2}, {1, 2}};
  write_weights(xlnet, folder / "model.safetensors");
  EXPECT_EQ(encoded(XlnetNetwork::open(folder.path()), titles), expected);
}

TEST(XlnetNetwork, TheLastLayerIsNotNeeded) {
  TestXlnet xlnet = random_xlnet(small_config());
  const std::vector<std::vector<int32_t>> titles = {{1, 2, 3, 9}};
  const std::vector<float> expected = encoded(opened(xlnet), titles);
  for (auto& [name, tensor] : xlnet.tensors) {
    if (name.starts_with("layer.2.")) tensor.values.assign(tensor.values.size(), 1e9F);
  }
  EXPECT_EQ(encoded(opened(xlnet), titles), expected);
}

TEST(XlnetNetwork, HalfPrecisionWeightsAreRead) {
  const TestXlnet xlnet = random_xlnet(small_config());
  const std::vector<std::vector<int32_t>> titles = {{1, 2, 3, 9}};
  for (const ElementType type : {ElementType::float16, ElementType::bfloat16}) {
    TestXlnet rounded = xlnet;
    for (auto& [name, tensor] : rounded.tensors) {
      for (float& value : tensor.values) {
        uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof(bits));
        bits &= 0xffff0000U;
        if (type == ElementType::bfloat16) std::memcpy(&value, &bits, sizeof(bits));
        if (type == ElementType::float16) value = from_half(to_half(value));
      }
    }
    const TestFolder folder;
    write_xlnet(xlnet, folder.path());
    write_weights(xlnet, folder / "model.safetensors", type);
    EXPECT_EQ(encoded(XlnetNetwork::open(folder.path()), titles), encoded(opened(rounded), titles));
  }
}

TEST(XlnetKernels, PortableOnesGiveTheSame) {
  constexpr uint32_t kTokens = 90;
  constexpr uint32_t kHeads = 2;
  constexpr uint32_t kWidth = 67;
  std::mt19937 random(5);
  const auto numbers = [&](size_t count) {
    std::normal_distribution<float> normal(0, 0.3F);
    std::vector<float> values(count);
    for (float& value : values) value = normal(random);
    return values;
  };
  const std::vector<float> projections = numbers(size_t{kTokens} * 3 * kHeads * kWidth);
  const std::vector<float> biases = numbers(size_t{2} * kHeads * kWidth);
  const std::vector<float> position_keys = numbers(size_t{kHeads} * kWidth * kPositions);
  const std::vector<uint32_t> offsets = {0, 64, 64, 75, kTokens};
  const auto run = [&](const TitleKernels& kernels) {
    std::vector<float> results(size_t{kTokens} * (kHeads * kWidth + 1));
    std::vector<float> scratch(title_attention_scratch(kWidth, 64));
    kernels.attend({.heads = kHeads,
                    .width = kWidth,
                    .projections = projections.data(),
                    .content_bias = biases.data(),
                    .position_bias = biases.data() + kHeads * kWidth,
                    .position_keys = position_keys.data(),
                    .offsets = offsets.data(),
                    .context = results.data() + kTokens,
                    .token_weight = results.data()},
                   scratch.data(), 0, 4);
    std::vector<float> normed(kTokens * size_t{3});
    kernels.normalize({.width = 3 * kTokens,
                       .rows = projections.data(),
                       .bias = position_keys.data() + 2,
                       .weight = position_keys.data(),
                       .shift = position_keys.data() + 1,
                       .eps = 1e-3F,
                       .out = normed.data()},
                      0, 1);
    results.insert(results.end(), normed.begin(), normed.end());
    return results;
  };
  EXPECT_LT(largest_difference(run(title_kernels()), run(portable_title_kernels())), 1e-5);
}

}  // namespace
}  // namespace hgt
