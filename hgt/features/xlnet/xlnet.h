// Titles to vectors with a published XLNet, such as xlnet-base-cased; no Python.
//
//   const Xlnet xlnet = Xlnet::open("xlnet-base-cased");
//   std::vector<float> rows(titles.size() * xlnet.width());
//   const std::vector<size_t> without_text = xlnet.encode(titles, rows);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hgt/disk/file.h"
#include "hgt/features/tokens/xlnet_tokenizer.h"
#include "hgt/features/xlnet/xlnet_network.h"

namespace hgt {

void check_xlnet_folder(const Path& folder);  // throws Error: one of the three files is missing

class Xlnet {
 public:
  // The folder holds config.json, model.safetensors and spiece.model. Throws Error when one is
  // missing or damaged, or when they do not belong together.
  static Xlnet open(const Path& folder);

  uint64_t width() const { return network_.config().d_model; }

  // rows: [titles, width]; requires that size. Returns the titles without text, ascending: they
  // have no vector, and their rows are zero. Some hundreds of titles at a time are best.
  std::vector<size_t> encode(std::span<const std::string_view> titles, std::span<float> rows) const;

  const XlnetTokenizer& tokenizer() const { return tokenizer_; }
  const XlnetNetwork& network() const { return network_; }  // takes ids instead of text

 private:
  Xlnet(XlnetTokenizer tokenizer, XlnetNetwork network);

  XlnetTokenizer tokenizer_;
  XlnetNetwork network_;
};

}  // namespace hgt
