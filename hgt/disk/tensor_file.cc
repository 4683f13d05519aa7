#include "hgt/disk/tensor_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "hgt/disk/checksum.h"
#include "hgt/disk/file.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"

namespace hgt {

static_assert(std::endian::native == std::endian::little, "the tensor format is little-endian");

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;
using Metadata = std::map<std::string, std::string>;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's limit
constexpr uint64_t kMaxTensorBytes = std::numeric_limits<int64_t>::max();
constexpr std::string_view kMetadataName = "__metadata__";
constexpr std::string_view kChecksumName = "hgt_checksum";
constexpr std::string_view kRemedy =
    "the file is damaged or incomplete, restore it from a copy, or write or download it again";

// By ElementType.
constexpr std::array<size_t, 8> kTypeSizes = {2, 2, 4, 8, 4, 8, 1, 1};

// A value for a message: on one line whatever it holds, and not endless.
std::string shown(const Json& value) {
  constexpr size_t kLongest = 200;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}

// Nothing when it does not fit in 63 bits even with every 0 in the shape taken for a 1, so that
// strides fit as well.
std::optional<uint64_t> byte_size(ElementType type, std::span<const uint64_t> shape) {
  uint64_t bytes = element_size(type);
  for (const uint64_t extent : shape) {
    if (extent == 0) continue;
    if (extent > kMaxTensorBytes / bytes) return std::nullopt;
    bytes *= extent;
  }
  const bool empty = std::find(shape.begin(), shape.end(), 0U) != shape.end();
  return empty ? 0 : bytes;
}

// Of names, types, shapes, data and metadata, whatever the order of the tensors.
std::string content_checksum(std::span<const TensorView> tensors, const Metadata& metadata) {
  Json content = {{kMetadataName, metadata}};
  for (const TensorView& tensor : tensors) {
    content[tensor.name] = {to_string(tensor.type), tensor.shape, checksum(tensor.data)};
  }
  const std::string text = content.dump();
  return text_checksum(text);
}

}  // namespace

size_t element_size(ElementType type) { return kTypeSizes[static_cast<size_t>(type)]; }

// --- reading ---

namespace {

// Turns the header of one file into tensors and metadata, entry by entry, checking as it goes.
class HeaderReader {
 public:
  HeaderReader(const Path& path, std::span<const std::byte> data) : path_(path), data_(data) {}

  void read(std::string_view text);

  std::vector<TensorView> tensors;
  Metadata metadata;

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}: {}; {}", path_.string(), what, kRemedy));
  }
  bool take(int depth, Json::parse_event_t event, const Json& parsed);
  void take_key(const std::string& key);
  void read_metadata(const Json& entry);
  void read_tensor(const Json& entry);
  ElementType type(const Json& json) const;
  std::vector<uint64_t> numbers(const std::string& what, const Json& json) const;
  std::span<const std::byte> data(const TensorView& tensor, const Json& json) const;
  void require_no_gaps() const;

  const Path& path_;
  std::span<const std::byte> data_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
  std::string name_;                         // of the entry that is open
};

void HeaderReader::read(std::string_view text) {
  // nlohmann skips a byte order mark and takes a zero byte for the end of the text.
  if (!text.starts_with('{') || text.find('\0') != std::string_view::npos) {
    fail(fmt::format("its header is not a JSON object but starts with {}",
                     shown(text.substr(0, 20))));
  }
  try {
    const Json rest = Json::parse(text, [this](int depth, auto event, const Json& parsed) {
      return take(depth, event, parsed);
    });
    assert(rest.empty());
  } catch (const Json::exception& error) {
    fail(fmt::format("its header is not a JSON object ({:.200})", error.what()));
  }
  const auto place = [](const TensorView& tensor) {
    return std::pair(tensor.data.data(), tensor.data.size());
  };
  std::stable_sort(tensors.begin(), tensors.end(),
                   [&](const TensorView& a, const TensorView& b) { return place(a) < place(b); });
  require_no_gaps();
}

// What nlohmann calls while it parses. No entry is kept: nlohmann looks through all that are kept
// whenever an object ends.
bool HeaderReader::take(int depth, Json::parse_event_t event, const Json& parsed) {
  using Event = Json::parse_event_t;
  constexpr int kDeepest = 10;  // beyond what any entry needs; printing a value is recursive
  if (depth > kDeepest)
    fail(fmt::format("entry {} of its header is nested too deeply", shown(name_)));
  if (event == Event::object_start) keys_.emplace_back();
  if (event == Event::object_end) keys_.pop_back();
  if (event == Event::key) take_key(parsed.get_ref<const std::string&>());
  const bool whole =
      event == Event::value || event == Event::array_end || event == Event::object_end;
  if (depth != 1 || !whole) return true;
  if (name_ == kMetadataName) {
    read_metadata(parsed);
  } else {
    read_tensor(parsed);
  }
  return false;
}

void HeaderReader::take_key(const std::string& key) {
  if (!keys_.back().insert(key).second) fail(fmt::format("its header has {} twice", shown(key)));
  if (keys_.size() == 1) name_ = key;
}

void HeaderReader::read_metadata(const Json& entry) {
  if (!entry.is_object()) fail(fmt::format("its metadata is {}, not an object", shown(entry)));
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) {
      fail(fmt::format("its metadata entry {} is {}, not text", shown(key), shown(value)));
    }
    metadata[key] = value;
  }
}

void HeaderReader::read_tensor(const Json& entry) {
  for (const char* field : {"dtype", "shape", "data_offsets"}) {
    if (!entry.is_object() || !entry.contains(field)) {
      fail(fmt::format("tensor {} is {}, which has no \"{}\"", shown(name_), shown(entry), field));
    }
  }
  TensorView tensor{.name = name_,
                    .type = type(entry["dtype"]),
                    .shape = numbers("shape of tensor " + shown(name_), entry["shape"]),
                    .data = {}};
  tensor.data = data(tensor, entry["data_offsets"]);
  tensors.push_back(std::move(tensor));
}

ElementType HeaderReader::type(const Json& json) const {
  const auto found = find_word<ElementType>(json.is_string() ? json.get<std::string>() : "");
  if (found) return *found;
  throw Error(fmt::format("{}: tensor {} has the unknown dtype {}; convert it to one of {}",
                          path_.string(), shown(name_), shown(json),
                          fmt::join(all_words<ElementType>(), ", ")));
}

std::vector<uint64_t> HeaderReader::numbers(const std::string& what, const Json& json) const {
  const bool good = json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& item) {
                      return item.is_number_unsigned();
                    });
  if (!good) fail(fmt::format("the {}, {}, is not a list of counts", what, shown(json)));
  return json;
}

std::span<const std::byte> HeaderReader::data(const TensorView& tensor, const Json& json) const {
  const std::string what = "data_offsets of tensor " + shown(tensor.name);
  const std::vector<uint64_t> offsets = numbers(what, json);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    fail(fmt::format("the {} are {}, not a begin and an end", what, shown(json)));
  }
  if (offsets[1] > data_.size()) {
    fail(fmt::format("the {} are {}, but the file has {} bytes of data", what, shown(json),
                     data_.size()));
  }
  const std::span<const std::byte> bytes = data_.subspan(offsets[0], offsets[1] - offsets[0]);
  if (byte_size(tensor.type, tensor.shape) != bytes.size()) {
    fail(fmt::format("the {} are {}, which is {} bytes and does not match the shape {} of {}", what,
                     shown(json), bytes.size(), shown(tensor.shape), to_string(tensor.type)));
  }
  return bytes;
}

void HeaderReader::require_no_gaps() const {
  size_t end = 0;
  for (const TensorView& tensor : tensors) {
    const auto begin = static_cast<size_t>(tensor.data.data() - data_.data());
    if (begin != end) {
      fail(fmt::format("tensor {} starts at byte {} of the data instead of byte {}",
                       shown(tensor.name), begin, end));
    }
    end += tensor.data.size();
  }
  if (end != data_.size()) {
    fail(fmt::format("its tensors end at byte {} of the data, which has {} bytes", end,
                     data_.size()));
  }
}

// The text of the header, once it is known to lie within the file.
std::string_view header_text(const Path& path, std::span<const std::byte> file) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, file.data(), kLengthBytes);
  const uint64_t room = std::min(file.size() - kLengthBytes, kMaxHeaderBytes);
  if (bytes > room) {
    throw Error(
        fmt::format("{}: its first 8 bytes announce a header of {} bytes, but at most {} are "
                    "possible; it is not a safetensors file, or {}",
                    path.string(), bytes, room, kRemedy));
  }
  return {reinterpret_cast<const char*>(file.data()) + kLengthBytes, bytes};
}

void require_file(const Path& path) {
  std::error_code unknown;  // opening will tell
  const fs::file_status status = fs::status(path, unknown);
  if (status.type() == fs::file_type::not_found) {
    throw Error(fmt::format("{}: there is no such file; check its name", path.string()));
  }
  if (fs::status_known(status) && !fs::is_regular_file(status)) {
    throw Error(fmt::format("{}: is not a regular file; name a safetensors file", path.string()));
  }
}

}  // namespace

TensorFile TensorFile::open(const Path& path) {
  require_file(path);
  const File file = File::open_to_read(path);
  const size_t bytes = file.size();
  if (bytes < kLengthBytes) {
    throw Error(fmt::format("{}: has {} bytes, but at least {} are needed; {}", path.string(),
                            bytes, kLengthBytes, kRemedy));
  }
  TensorFile opened;
  opened.mapping_ = Mapping::to_read(file, bytes);
  const std::span<const std::byte> all = opened.mapping_.bytes();
  const std::string_view header = header_text(path, all);
  HeaderReader reader(path, all.subspan(kLengthBytes + header.size()));
  reader.read(header);
  opened.tensors_ = std::move(reader.tensors);
  opened.metadata_ = std::move(reader.metadata);
  const auto stated = opened.metadata_.extract(std::string(kChecksumName));
  if (stated && stated.mapped() != content_checksum(opened.tensors_, opened.metadata_)) {
    throw Error(
        fmt::format("{}: its content does not match its checksum {}; {} (if another program "
                    "changed it on purpose, remove the metadata entry {} to skip this check)",
                    path.string(), shown(stated.mapped()), kRemedy, kChecksumName));
  }
  return opened;
}

const TensorView* TensorFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const TensorView& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

// --- writing ---

namespace {

void require_writable(const std::vector<TensorView>& tensors, const Metadata& metadata) {
  if (metadata.contains(std::string(kChecksumName))) {
    throw Error(
        fmt::format("the metadata entry {} is added automatically; leave it out", kChecksumName));
  }
  std::set<std::string_view> names;
  for (const TensorView& tensor : tensors) {
    if (tensor.name.empty() || tensor.name == kMetadataName) {
      throw Error(
          fmt::format("{} is not a valid name for a tensor; choose another", shown(tensor.name)));
    }
    if (!names.insert(tensor.name).second) {
      throw Error(fmt::format("there are two tensors named {}; rename one", shown(tensor.name)));
    }
    if (byte_size(tensor.type, tensor.shape) != tensor.data.size()) {
      throw Error(fmt::format("tensor {} has {} bytes, which do not match the shape {} of {}",
                              shown(tensor.name), tensor.data.size(), shown(tensor.shape),
                              to_string(tensor.type)));
    }
  }
}

// Padded so that the data starts at a multiple of 8.
std::string header_of(const std::vector<TensorView>& tensors, Metadata metadata) {
  const std::string stated = content_checksum(tensors, metadata);
  metadata[std::string(kChecksumName)] = stated;
  std::string header = fmt::format(R"({{"{}":{})", kMetadataName, Json(metadata).dump());
  uint64_t begin = 0;
  for (const TensorView& tensor : tensors) {
    const uint64_t end = begin + tensor.data.size();
    header += fmt::format(R"(,{}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                          Json(tensor.name).dump(), to_string(tensor.type),
                          Json(tensor.shape).dump(), begin, end);
    begin = end;
  }
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');
  if (header.size() > kMaxHeaderBytes) {
    throw Error(
        fmt::format("the header takes {} bytes, but the format allows {}; shorten the metadata",
                    header.size(), kMaxHeaderBytes));
  }
  return header;
}

std::string checked_header(const Path& path, const std::vector<TensorView>& tensors,
                           const Metadata& metadata) {
  try {
    require_writable(tensors, metadata);
    return header_of(tensors, metadata);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: cannot write the tensors: {}", path.string(), error.what()));
  } catch (const Json::exception& error) {
    throw Error(fmt::format("{}: cannot write the tensors: names and metadata must be UTF-8 ({})",
                            path.string(), error.what()));
  }
}

}  // namespace

void write_tensor_file(const Path& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = checked_header(path, tensors, metadata);
  const uint64_t length = header.size();
  WholeFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(header)));
  for (const TensorView& tensor : tensors) file.write(tensor.data);
  file.commit();
}

}  // namespace hgt
