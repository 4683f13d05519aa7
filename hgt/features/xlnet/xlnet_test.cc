// Titles to vectors: golden values of a small model, and what damaged or foreign files give.
#include "hgt/features/xlnet/xlnet.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "hgt/features/xlnet/xlnet_test_folder.h"
#include "hgt/graph/graph_test_folder.h"

namespace hgt {
namespace {

using Json = nlohmann::json;

constexpr double kGoldenTolerance = 1e-5;

void expect_near(std::span<const float> found, const std::vector<double>& expected,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], kGoldenTolerance) << what << " " << i;
  }
}

TEST(XlnetGolden, HiddenStatesTokenWeightsAndVectors) {
  const Path folder = Path(HGT_SHARED_DIR) / "golden/xlnet";
  std::ifstream in(folder / "titles.json");
  if (!in) GTEST_SKIP() << folder << " is not there";
  const Json golden = Json::parse(in);
  const Xlnet xlnet = Xlnet::open(folder);
  std::vector<std::string> texts;
  std::vector<double> vectors;
  for (const Json& title : golden.at("cases")) {
    texts.push_back(title.at("title"));
    const XlnetTrace trace = xlnet.network().trace(xlnet.tokenizer().encode(texts.back()));
    for (size_t layer = 0; layer < trace.hidden_states.size(); ++layer) {
      expect_near(std::span(trace.hidden_states[layer]).first(xlnet.width()),
                  title.at("hidden_first_token").at(layer), texts.back());
    }
    expect_near(trace.token_weight, title.at("token_weight"), texts.back() + ": token weights");
    const std::vector<double> vector = title.at("title_vector");
    expect_near(trace.title_vector, vector, texts.back() + ": vector");
    vectors.insert(vectors.end(), vector.begin(), vector.end());
  }
  const std::vector<std::string_view> titles(texts.begin(), texts.end());
  std::vector<float> rows(titles.size() * xlnet.width());
  EXPECT_TRUE(xlnet.encode(titles, rows).empty());
  expect_near(rows, vectors, "all together");
}

// A folder with all three files.
class XlnetTest : public testing::Test {
 protected:
  XlnetTest()
      : xlnet_(random_xlnet({.vocab_size = 80,
                             .d_model = 8,
                             .n_layer = 3,
                             .n_head = 2,
                             .d_head = 4,
                             .d_inner = 6})) {
    write_xlnet(xlnet_, folder_.path());
    write_bytes(folder_ / "spiece.model", spiece_bytes());
  }
  std::string error_of_opening() const {
    return error_of([&] { Xlnet::open(folder_.path()); });
  }
  std::string error_of_config(const std::string& field, const Json& value) const {
    Json config = config_json(xlnet_.config);
    config[field] = value;
    write_bytes(folder_ / "config.json", config.dump());
    return error_of_opening();
  }
  std::string error_of_weights(const TestXlnet& xlnet) const {
    write_weights(xlnet, weights());
    return error_of_opening();
  }
  std::string named(const std::string& file) const { return (folder_ / file).string() + ": "; }
  Path weights() const { return folder_ / "model.safetensors"; }

  TestFolder folder_;
  TestXlnet xlnet_;
};

TEST_F(XlnetTest, TitlesWithoutTextAreToldAndZero) {
  const Xlnet xlnet = Xlnet::open(folder_.path());
  ASSERT_EQ(xlnet.width(), 8U);
  const std::vector<std::string_view> titles = {"", "graphs of nodes", " \t", "\xff", "graphs"};
  std::vector<float> rows(titles.size() * 8, -7);
  EXPECT_EQ(xlnet.encode(titles, rows), (std::vector<size_t>{0, 2}));
  const std::vector<float> zeros(8, 0);
  for (const size_t title : {0, 1, 2, 3, 4}) {
    const std::vector<float> row(rows.begin() + static_cast<ptrdiff_t>(8 * title),
                                 rows.begin() + static_cast<ptrdiff_t>(8 * title + 8));
    EXPECT_EQ(row == zeros, title == 0 || title == 2) << title;
    if (row == zeros) continue;
    const XlnetTrace trace = xlnet.network().trace(xlnet.tokenizer().encode(titles[title]));
    for (size_t d = 0; d < 8; ++d) EXPECT_NEAR(row[d], trace.title_vector[d], 1e-5);
  }
}

TEST_F(XlnetTest, MissingFilesAreNamed) {
  std::filesystem::remove(folder_ / "config.json");
  std::filesystem::remove(folder_ / "spiece.model");
  EXPECT_EQ(error_of_opening(),
            folder_.path().string() +
                ": has no config.json, spiece.model; give a folder with the config.json, "
                "model.safetensors and spiece.model of an XLNet, such as xlnet-base-cased");
  EXPECT_TRUE(contains(error_of([&] { Xlnet::open(folder_ / "nowhere"); }),
                       "nowhere: has no config.json, model.safetensors, spiece.model; "));
  EXPECT_EQ(error_of([&] { XlnetNetwork::open(folder_.path()); }),
            named("config.json") + "cannot be read; it comes with the weights of XLNet");
}

TEST_F(XlnetTest, ForeignVocabularyIsRefused) {
  TestXlnet few = xlnet_;
  few.config.vocab_size = 9;
  few.tensors["word_embedding.weight"].shape = {9, 8};
  few.tensors["word_embedding.weight"].values.resize(72);
  write_xlnet(few, folder_.path());
  const std::string error = error_of_opening();
  EXPECT_TRUE(contains(error, ": its spiece.model has ")) << error;
  EXPECT_TRUE(contains(error,
                       " pieces, but its config.json says vocab_size = 9; use the spiece.model "
                       "that belongs to the weights"))
      << error;
  write_bytes(folder_ / "spiece.model", "junk");
  EXPECT_TRUE(
      error_of_opening().starts_with(named("spiece.model") + "is not a SentencePiece model"));
}

TEST_F(XlnetTest, ConfigsOfOtherModelsAreRefused) {
  const std::string start = named("config.json");
  EXPECT_EQ(error_of_config("attn_type", "uni"), start + R"(attn_type is "uni"; it must be "bi")");
  EXPECT_EQ(error_of_config("bi_data", true), start + "bi_data is true; it must be false");
  EXPECT_EQ(error_of_config("ff_activation", "mish"),
            start + R"(ff_activation is "mish"; it must be "gelu", "gelu_new" or "relu")");
  EXPECT_EQ(error_of_config("n_layer", 1),
            start +
                "n_layer is 1; it must be at least 2: a title vector is taken from the layer "
                "before the last");
  EXPECT_EQ(error_of_config("d_model", 7),
            start + "d_model is 7; it must be an even number: half sines, half cosines");
  EXPECT_EQ(error_of_config("layer_norm_eps", -1),
            start + "layer_norm_eps is -1; it must be a number from 0 to below 1");
  EXPECT_EQ(error_of_config("clamp_len", 0.5),
            start + "clamp_len is 0.5; it must be a whole number; -1: no limit");
}

TEST_F(XlnetTest, DamagedConfigsAreRefused) {
  const std::string start = named("config.json");
  for (const char* field : {"vocab_size", "d_model", "n_layer", "n_head", "d_inner", "d_head"}) {
    for (const Json& value : {Json(0), Json(-1), Json("12"), Json(1e9), Json(1 << 25)}) {
      EXPECT_EQ(error_of_config(field, value),
                start + field + " is " + value.dump() + "; it must be a number from 1 to 16777216");
    }
  }
  Json config = config_json(xlnet_.config);
  config.erase("d_inner");
  write_bytes(folder_ / "config.json", config.dump());
  EXPECT_EQ(error_of_opening(),
            start + "d_inner is missing; it must be a number from 1 to 16777216");
  config = config_json(xlnet_.config);
  config.erase("d_head");
  config["n_head"] = 9;
  write_bytes(folder_ / "config.json", config.dump());
  EXPECT_EQ(error_of_opening(), start + "n_head is 9; it must be at most d_model");
  for (const char* text : {"", "{", "[1]", "{\"d_model\": \"\xff\"}"}) {
    write_bytes(folder_ / "config.json", text);
    EXPECT_EQ(error_of_opening(), start + "is not a JSON object; download the file again") << text;
  }
}

TEST_F(XlnetTest, ConfigsThatDoNotFitTheWeightsAreRefused) {
  const std::string remedy = "; use the config.json that belongs to the weights";
  EXPECT_EQ(error_of_config("vocab_size", 81),
            named("model.safetensors") +
                "tensor word_embedding.weight has the shape [80, 8], but "
                "config.json beside it requires [81, 8]" +
                remedy);
  EXPECT_EQ(error_of_config("n_head", 4),
            named("model.safetensors") +
                "tensor layer.0.rel_attn.q has the shape [8, 2, 4], but "
                "config.json beside it requires [8, 4, 4]" +
                remedy);
  for (const int layers : {2, 4}) {
    EXPECT_EQ(error_of_config("n_layer", layers),
              named("model.safetensors") +
                  "holds 3 layers, but config.json beside it says n_layer = " +
                  std::to_string(layers) + remedy);
  }
  EXPECT_TRUE(contains(error_of_config("d_inner", 5),
                       "tensor layer.0.ff.layer_1.weight has the "
                       "shape [6, 8], but config.json beside it "
                       "requires [5, 8]"));
}

TEST_F(XlnetTest, EveryTensorIsNeededExceptThoseThatAreNot) {
  const std::set<std::string> unused = {"rel_attn.r_s_bias", "rel_attn.seg_embed"};
  size_t needed = 0;
  for (const auto& [name, tensor] : xlnet_.tensors) {
    const bool last = name.starts_with("layer.2.");
    if (last || name == "mask_emb" || (name.size() > 8 && unused.contains(name.substr(8))))
      continue;
    ++needed;
    TestXlnet damaged = xlnet_;
    damaged.tensors.erase(name);
    EXPECT_EQ(error_of_weights(damaged),
              named("model.safetensors") + "has no tensor " + name +
                  " (with or without \"transformer.\" before it); use the weights of an XLNet "
                  "with n_layer = 3");
    damaged.tensors[name] = tensor;
    damaged.tensors[name].shape.push_back(1);
    EXPECT_TRUE(contains(error_of_weights(damaged), "tensor " + name + " has the shape [")) << name;
    damaged.tensors[name] = tensor;
    damaged.tensors[name].values.back() = std::nanf("");
    EXPECT_EQ(error_of_weights(damaged),
              named("model.safetensors") + "tensor " + name +
                  " contains infinities or NaN; download the file again");
  }
  EXPECT_EQ(needed, 1U + 2 * 15);
}

TEST_F(XlnetTest, WeightsOfOtherTypesAreRefused) {
  std::vector<TensorView> views;
  const std::vector<std::byte> bytes(size_t{8} * 80 * 8);
  views.push_back({.name = "word_embedding.weight",
                   .type = ElementType::int64,
                   .shape = {80, 8},
                   .data = bytes});
  write_tensor_file(weights(), views, {});
  EXPECT_EQ(error_of_opening(),
            named("model.safetensors") +
                "tensor word_embedding.weight is I64; convert it to F32, F16 or BF16");
}

TEST_F(XlnetTest, DamagedWeightFilesAreRefused) {
  const std::string whole = read_bytes(weights());
  write_bytes(weights(), std::string_view(whole).substr(0, whole.size() - 5));
  EXPECT_TRUE(error_of_opening().starts_with(named("model.safetensors"))) << error_of_opening();
  write_bytes(weights(), "12345");
  EXPECT_TRUE(error_of_opening().starts_with(named("model.safetensors"))) << error_of_opening();
  std::string header = whole;
  header[8] = 'x';
  write_bytes(weights(), header);
  EXPECT_TRUE(error_of_opening().starts_with(named("model.safetensors"))) << error_of_opening();
  std::string content = whole;
  content.back() = static_cast<char>(content.back() + 1);
  write_bytes(weights(), content);
  EXPECT_TRUE(contains(error_of_opening(), "does not match its checksum")) << error_of_opening();
}

TEST_F(XlnetTest, IdsOutsideTheModelAreRefused) {
  const Xlnet xlnet = Xlnet::open(folder_.path());
  std::vector<float> rows(16);
  const auto error_of_ids = [&](const std::vector<int32_t>& ids) {
    const std::vector<std::vector<int32_t>> titles = {{1}, ids};
    return error_of([&] { xlnet.network().encode(titles, rows); });
  };
  EXPECT_EQ(error_of_ids({1, 80}),
            "title 1 has the id 80, but the model has 80 words; use its own spiece.model");
  EXPECT_EQ(error_of_ids({-1}),
            "title 1 has the id -1, but the model has 80 words; use its own spiece.model");
  EXPECT_EQ(error_of_ids(std::vector<int32_t>(65)),
            "title 1 has 65 ids, but at most 64 are possible; shorten it");
  EXPECT_EQ(error_of_ids(std::vector<int32_t>(64, 79)), "");
}

}  // namespace
}  // namespace hgt
