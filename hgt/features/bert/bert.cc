#include "hgt/features/bert/bert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <utility>

#include "hgt/error.h"
#include "hgt/features/bert/bert_weights.h"

namespace hgt {

namespace fs = std::filesystem;

std::vector<Path> bert_files(const Path& folder) {
  std::vector<Path> files;
  for (const char* const name :
       {"config.json", "model.safetensors", "vocab.txt", "tokenizer.json", "tokenizer_config.json",
        "sentence_bert_config.json", "modules.json", "1_Pooling/config.json"}) {
    files.push_back(folder / name);
  }
  return files;
}

void check_bert_folder(const Path& folder) {
  const auto has = [&](const char* name) { return fs::exists(folder / name); };
  if (!has("model.safetensors") && has("pytorch_model.bin")) {
    throw Error(fmt::format(
        "{}: has its weights in pytorch_model.bin only, a pickle, which can carry code and is not "
        "read; convert it with scripts/convert_weights.py, or download model.safetensors",
        folder.string()));
  }
  std::string missing;
  for (const char* const name : {"config.json", "model.safetensors"}) {
    if (!has(name)) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  }
  if (!has("vocab.txt") && !has("tokenizer.json")) {
    missing += fmt::format("{}vocab.txt or tokenizer.json", missing.empty() ? "" : ", ");
  }
  if (missing.empty()) return;
  throw Error(fmt::format(
      "{}: has no {}; give a folder with the config.json, model.safetensors, vocab.txt and "
      "tokenizer_config.json of a BERT, such as all-MiniLM-L6-v2",
      folder.string(), missing));
}

namespace {

// The forward pass of one batch of titles after another.
class BertPass {
 public:
  BertPass(const BertConfig& config, const BertWeights& weights, BatchSize most)
      : config_(config),
        weights_(weights),
        pass_({.width = config.hidden_size,
               .heads = config.num_attention_heads,
               .head_width = config.hidden_size / config.num_attention_heads,
               .inner = config.intermediate_size,
               .activation = config.hidden_act,
               .layer_norm_eps = config.layer_norm_eps},
              most) {}

  void run(TitleIds titles, float* rows) {  // [titles, hidden_size]
    pass_.begin(titles);
    embed(titles);
    for (const TransformerLayer& layer : weights_.layers) pass_.apply(layer);
    const std::span<const uint32_t> offsets = pass_.offsets();
    for (size_t title = 0; title + 1 < offsets.size(); ++title, rows += config_.hidden_size) {
      pool(offsets[title], offsets[title + 1], rows);
    }
  }

 private:
  void embed(TitleIds titles) {
    const uint64_t width = config_.hidden_size;
    const float* const words = weights_.word_embedding.data_ptr<float>();
    float* to = pass_.scratch();
    for (const std::vector<int32_t>& ids : titles) {
      const float* position = weights_.position_embedding.data_ptr<float>();
      for (const int32_t id : ids) {
        const float* const word = words + static_cast<uint64_t>(id) * width;
        for (uint64_t d = 0; d < width; ++d) to[d] = word[d] + position[d];
        to += width;
        position += width;
      }
    }
    pass_.normalize({.rows = pass_.scratch(),
                     .weight = weights_.embedding_weight.data_ptr<float>(),
                     .shift = weights_.embedding_shift.data_ptr<float>(),
                     .out = pass_.hidden()});
  }

  void pool(uint32_t first, uint32_t end, float* row) {
    const uint64_t width = config_.hidden_size;
    std::fill_n(row, width, 0.0F);
    if (first == end) return;
    if (config_.pooling == BertPooling::cls) end = first + 1;
    const float share = 1 / static_cast<float>(end - first);
    for (uint32_t token = first; token < end; ++token) {
      const float* const hidden = pass_.hidden() + token * width;
      for (uint64_t d = 0; d < width; ++d) row[d] += share * hidden[d];
    }
    if (!config_.normalize) return;
    double square = 0;
    for (uint64_t d = 0; d < width; ++d) square += static_cast<double>(row[d]) * row[d];
    const auto scale = static_cast<float>(1 / std::max(std::sqrt(square), 1e-12));
    for (uint64_t d = 0; d < width; ++d) row[d] *= scale;
  }

  const BertConfig& config_;
  const BertWeights& weights_;
  TransformerPass pass_;
};

}  // namespace

struct BertNetwork::State {
  BertConfig config;
  BertWeights weights;
};

BertNetwork BertNetwork::open(const Path& folder) {
  const BertConfig config = read_bert_config(folder);
  BertWeights weights = read_bert_weights(folder / "model.safetensors", config);
  return BertNetwork(std::make_unique<const State>(State{config, std::move(weights)}));
}

BertNetwork::BertNetwork(std::unique_ptr<const State> state) : state_(std::move(state)) {}
BertNetwork::BertNetwork(BertNetwork&& other) noexcept = default;
BertNetwork& BertNetwork::operator=(BertNetwork&& other) noexcept = default;
BertNetwork::~BertNetwork() = default;

const BertConfig& BertNetwork::config() const { return state_->config; }

void BertNetwork::encode(TitleIds titles, std::span<float> rows) const {
  const uint64_t width = state_->config.hidden_size;
  assert(rows.size() == titles.size() * width);
  check_ids(titles, state_->config.max_seq_length, state_->config.vocab_size, "vocabulary");
  const torch::NoGradGuard no_gradient;
  BertPass pass(state_->config, state_->weights, size_of_batches(titles));
  for (size_t first = 0, end = 0; first < titles.size(); first = end) {
    end = end_of_batch(titles, first);
    pass.run(titles.subspan(first, end - first), rows.data() + first * width);
  }
}

Bert Bert::open(const Path& folder) {
  check_bert_folder(folder);
  WordpieceTokenizer tokenizer = WordpieceTokenizer::open(folder);
  BertNetwork network = BertNetwork::open(folder);
  if (tokenizer.size() > network.config().vocab_size) {
    throw Error(
        fmt::format("{}: has {} pieces, but config.json beside it says vocab_size = {}; use the "
                    "vocabulary that "
                    "belongs to the weights",
                    tokenizer.file().string(), tokenizer.size(), network.config().vocab_size));
  }
  return {std::move(tokenizer), std::move(network)};
}

Bert::Bert(WordpieceTokenizer tokenizer, BertNetwork network)
    : tokenizer_(std::move(tokenizer)), network_(std::move(network)) {}

std::vector<size_t> Bert::encode(std::span<const std::string_view> titles,
                                 std::span<float> rows) const {
  std::vector<std::vector<int32_t>> ids;
  ids.reserve(titles.size());
  std::vector<size_t> without_text;
  for (const std::string_view title : titles) {
    ids.push_back(tokenizer_.encode(title, network_.config().max_seq_length));
    if (ids.back().empty()) without_text.push_back(ids.size() - 1);
  }
  network_.encode(ids, rows);
  return without_text;
}

}  // namespace hgt
