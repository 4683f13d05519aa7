#include "hgt/features/xlnet/xlnet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <utility>

#include "hgt/error.h"

namespace hgt {

void check_xlnet_folder(const Path& folder) {
  std::vector<std::string> missing;
  for (const char* const name : {"config.json", "model.safetensors", "spiece.model"}) {
    if (!std::filesystem::exists(folder / name)) missing.emplace_back(name);
  }
  if (missing.empty()) return;
  throw Error(fmt::format(
      "{}: has no {}; give a folder with the config.json, model.safetensors and spiece.model of an "
      "XLNet, such as xlnet-base-cased",
      folder.string(), fmt::join(missing, ", ")));
}

Xlnet Xlnet::open(const Path& folder) {
  check_xlnet_folder(folder);
  XlnetTokenizer tokenizer(folder / "spiece.model");
  XlnetNetwork network = XlnetNetwork::open(folder);
  if (tokenizer.size() > network.config().vocab_size) {
    throw Error(
        fmt::format("{}: its spiece.model has {} pieces, but its config.json says vocab_size = {}; "
                    "use the spiece.model that belongs to the weights",
                    folder.string(), tokenizer.size(), network.config().vocab_size));
  }
  return {std::move(tokenizer), std::move(network)};
}

Xlnet::Xlnet(XlnetTokenizer tokenizer, XlnetNetwork network)
    : tokenizer_(std::move(tokenizer)), network_(std::move(network)) {}

std::vector<size_t> Xlnet::encode(std::span<const std::string_view> titles,
                                  std::span<float> rows) const {
  std::vector<std::vector<int32_t>> ids;
  ids.reserve(titles.size());
  std::vector<size_t> without_text;
  for (const std::string_view title : titles) {
    ids.push_back(tokenizer_.encode(title));
    if (ids.back().empty()) without_text.push_back(ids.size() - 1);
  }
  network_.encode(ids, rows);
  return without_text;
}

}  // namespace hgt
