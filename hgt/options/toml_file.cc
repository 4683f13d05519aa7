#include "hgt/options/toml_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

namespace {

// Goes through a text once and counts what is open. toml++ bounds the depth of values, but a key
// of many parts makes as many tables, each within the one before.
class TomlLimits {
 public:
  TomlLimits(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void check() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      count(c);
      ++at_;
    }
  }

 private:
  void count(char c) {
    if (c == '\n') ++line_;
    if (c == '\n' || c == ',' || c == '=' || c == '{') key_parts_ = 1;
    if (c == '.' && ++key_parts_ > kMaxTomlKeyParts) {
      fail(fmt::format("a key has more than {} parts", kMaxTomlKeyParts));
    }
    if ((c == '[' || c == '{') && ++depth_ > kMaxTomlDepth) {
      fail(fmt::format("it is nested deeper than {} levels", kMaxTomlDepth));
    }
    if ((c == ']' || c == '}') && depth_ > 0) --depth_;
  }

  // "...", '...', and both in threes, which may hold line ends.
  void skip_string(char quote) {
    const bool long_one = text_.substr(at_, 3) == std::string(3, quote);
    at_ += long_one ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '\n' && !long_one) return;  // never closed; the parser says so
      const bool closes =
          c == quote && (!long_one || text_.substr(at_, 3) == std::string(3, quote));
      if (closes) {
        at_ += long_one ? 3 : 1;
        return;
      }
      at_ += c == '\\' && quote == '"' ? 2 : 1;
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}:{}: {}; no file of hgt needs that", name_, line_, what));
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t depth_ = 0;
  size_t key_parts_ = 1;
};

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  TomlLimits(text, name).check();
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: is not valid TOML: {}", name, error.source().begin.line,
                            error.description()));
  }
}

toml::table parse_toml_file(const Path& file) {
  const std::string name = file.string();
  // A folder can be opened, and some systems read it as an empty file; a pipe has no size.
  if (!std::filesystem::is_regular_file(file)) {
    throw Error(fmt::format("{}: cannot be read: {}", name,
                            !std::filesystem::exists(file)        ? "there is no such file"
                            : std::filesystem::is_directory(file) ? "it is a folder"
                                                                  : "it is not a file"));
  }
  const uint64_t bytes = std::filesystem::file_size(file);
  if (bytes > kMaxTomlBytes) {
    throw Error(fmt::format("{}: it has {} MB; TOML files of at most {} MB are read", name,
                            bytes >> 20U, kMaxTomlBytes >> 20U));
  }
  return parse_toml(read_text(file), name);
}

}  // namespace hgt
