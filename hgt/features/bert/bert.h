// Titles to vectors with a published BERT, such as the sentence encoder all-MiniLM-L6-v2; no
// Python.
//
//   const Bert bert = Bert::open("all-MiniLM-L6-v2");
//   std::vector<float> rows(titles.size() * bert.width());
//   const std::vector<size_t> without_text = bert.encode(titles, rows);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/features/bert/bert_config.h"
#include "hgt/features/tokens/wordpiece_tokenizer.h"

namespace hgt {

// All files of such a folder that have a say in the vectors; not all of them need to be there.
std::vector<Path> bert_files(const Path& folder);
void check_bert_folder(const Path& folder);  // throws Error: one that is needed is missing

// Ids in, vectors out: the hidden states of the last layer, pooled. Any number of threads may use
// one at the same time. Each call computes with as many threads as LibTorch has.
class BertNetwork {
 public:
  static BertNetwork open(const Path& folder);  // config.json and model.safetensors
  BertNetwork(BertNetwork&& other) noexcept;
  BertNetwork& operator=(BertNetwork&& other) noexcept;
  ~BertNetwork();

  const BertConfig& config() const;

  // rows: [titles, hidden_size]. A title has at most max_seq_length ids, each below vocab_size, or
  // Error is thrown; one without ids has no vector and gets zeros.
  void encode(std::span<const std::vector<int32_t>> titles, std::span<float> rows) const;

 private:
  struct State;
  explicit BertNetwork(std::unique_ptr<const State> state);

  std::unique_ptr<const State> state_;
};

class Bert {
 public:
  // The folder holds config.json, model.safetensors and what WordpieceTokenizer reads. Throws Error
  // when one is missing or damaged, or when they do not belong together.
  static Bert open(const Path& folder);

  uint64_t width() const { return network_.config().hidden_size; }

  // rows: [titles, width]; requires that size. Returns the titles without text, ascending: they
  // have no vector, and their rows are zero. Some hundreds of titles at a time are best.
  std::vector<size_t> encode(std::span<const std::string_view> titles, std::span<float> rows) const;

  const WordpieceTokenizer& tokenizer() const { return tokenizer_; }
  const BertNetwork& network() const { return network_; }

 private:
  Bert(WordpieceTokenizer tokenizer, BertNetwork network);

  WordpieceTokenizer tokenizer_;
  BertNetwork network_;
};

}  // namespace hgt
