#include "hgt/graph/feature_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <fstream>
#include <utility>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/graph/feature_sets.h"
#include "hgt/graph/stored_features.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPartial = "features.partial";
constexpr const char* kPosition = "features.position";
constexpr uint64_t kRowsBetweenSaves = uint64_t{1} << 16U;
constexpr std::chrono::seconds kTimeBetweenSaves{10};  // for rows that take long to make
constexpr uint64_t kCopyBytes = uint64_t{4} << 20U;

ArrayRecord record_of(const Path& path, const std::string& dtype, std::vector<uint64_t> shape) {
  ArrayRecord record{
      .file = path.filename().string(), .dtype = dtype, .shape = std::move(shape), .checksum = 0};
  const MappedArray array(path.parent_path(), record);
  record.checksum = checksum(array.bytes());
  return record;
}

}  // namespace

FeatureWriter::FeatureWriter(FeatureSetWriter& set, const std::string& type, FeatureSpec spec)
    : set_(set), type_(type), type_folder_(set.folder() / type), spec_(std::move(spec)) {
  assert(!spec_.key.empty() && spec_.width > 0);
  assert(!spec_.mean || spec_.type == FeatureType::float32);
  const Schema schema = read_schema(set.folder());
  nodes_ = schema.at(schema.node_type(type)).nodes;
  take_up();
}

FeatureWriter::~FeatureWriter() {
  if (finished_ || rows_ == saved_rows_) return;
  try {
    save_position();
  } catch (...) {  // the next writer starts from what was saved last
    return;
  }
}

uint64_t FeatureWriter::row_bytes() const { return stored_row_bytes(spec_.type, spec_.width + 1); }

void FeatureWriter::take_up() {
  const Path partial = type_folder_ / kPartial;
  std::string key;
  std::ifstream in(type_folder_ / kPosition);
  in >> key >> rows_;
  const uint64_t bytes = fs::exists(partial) ? fs::file_size(partial) : 0;
  const bool fits = in && key == spec_.key && rows_ <= nodes_ &&
                    bytes >= kArrayHeaderBytes + rows_ * row_bytes() &&
                    bytes <= kArrayHeaderBytes + nodes_ * row_bytes();
  if (!fits) {
    fs::remove(partial);
    rows_ = 0;
  }
  saved_rows_ = rows_;
  file_ = File::open_to_write(partial);
  const std::vector<uint64_t> shape = {nodes_, stored_columns(spec_.type, spec_.width + 1)};
  const std::string header = array_header(stored_dtype(spec_.type), shape);
  file_.write_at(header.data(), header.size(), 0);
}

void FeatureWriter::save_position() {
  file_.sync();
  write_text(type_folder_ / kPosition, fmt::format("{} {}\n", spec_.key, rows_));
  saved_rows_ = rows_;
  saved_at_ = std::chrono::steady_clock::now();
}

void FeatureWriter::append(std::span<const float> rows, const std::vector<bool>& missing) {
  assert(rows.size() == missing.size() * spec_.width && rows_ + missing.size() <= nodes_);
  if (!features_fit(rows, spec_.type)) {
    throw Error(fmt::format(
        "some features of type {} at nodes {} to {} are not finite as {}{}", type_, rows_,
        rows_ + missing.size() - 1, to_string(spec_.type),
        spec_.type == FeatureType::float16 ? "; --precision float32 holds larger numbers" : ""));
  }
  std::vector<std::byte> stored(missing.size() * row_bytes());
  std::vector<float> flagged(spec_.width + 1);
  for (size_t row = 0; row < missing.size(); ++row) {
    const auto values = rows.subspan(row * spec_.width, spec_.width);
    std::copy(values.begin(), values.end(), flagged.begin());
    if (missing[row]) std::fill(flagged.begin(), flagged.end(), 0.0F);
    flagged.back() = missing[row] ? 1.0F : 0.0F;
    store_row(flagged, spec_.type, stored.data() + row * row_bytes());
  }
  file_.write_at(stored.data(), stored.size(), kArrayHeaderBytes + rows_ * row_bytes());
  rows_ += missing.size();
  const bool long_ago = std::chrono::steady_clock::now() - saved_at_ >= kTimeBetweenSaves;
  if (rows_ - saved_rows_ >= kRowsBetweenSaves || long_ago) save_position();
}

uint64_t FeatureWriter::missing() const {
  const uint64_t item = item_size(stored_dtype(spec_.type));
  const uint64_t rows_at_once = std::max<uint64_t>(1, kCopyBytes / row_bytes());
  std::vector<char> bytes(rows_at_once * row_bytes());
  uint64_t missing = 0;
  for (uint64_t row = 0; row < rows_; row += rows_at_once) {
    const uint64_t count = std::min(rows_at_once, rows_ - row);
    file_.read_at(bytes.data(), count * row_bytes(), kArrayHeaderBytes + row * row_bytes());
    for (uint64_t i = 1; i <= count; ++i) {  // the flag is 0 or 1: all bytes of 0 are zero
      const std::string_view flag(bytes.data() + i * row_bytes() - item, item);
      if (flag.find_first_not_of('\0') != std::string_view::npos) ++missing;
    }
  }
  return missing;
}

Path FeatureWriter::write_unflagged() const {
  const uint64_t item = item_size(stored_dtype(spec_.type));
  const uint64_t kept = row_bytes() - item;
  const Path path = type_folder_ / "features.unflagged";
  WholeFile out(path);
  const std::vector<uint64_t> shape = {nodes_, stored_columns(spec_.type, spec_.width)};
  out.write(array_header(stored_dtype(spec_.type), shape));
  const uint64_t rows_at_once = std::max<uint64_t>(1, kCopyBytes / row_bytes());
  std::vector<char> bytes(rows_at_once * row_bytes());
  for (uint64_t row = 0; row < nodes_; row += rows_at_once) {
    const uint64_t count = std::min(rows_at_once, nodes_ - row);
    file_.read_at(bytes.data(), count * row_bytes(), kArrayHeaderBytes + row * row_bytes());
    for (uint64_t i = 1; i < count; ++i) {  // closes the gaps
      std::copy_n(bytes.data() + i * row_bytes(), kept, bytes.data() + i * kept);
    }
    out.write(std::string_view(bytes.data(), count * kept));
  }
  out.commit();
  return path;
}

// Under a name that says what is in it, as with the rows.
ArrayRecord FeatureWriter::write_counts(std::span<const uint32_t> counts) {
  const Path path = type_folder_ / "features.counts";
  const std::string dtype(dtype_of<uint32_t>());
  const std::vector<uint64_t> shape = {nodes_};
  WholeFile out(path);
  out.write(array_header(dtype, shape));
  out.write(std::string_view(reinterpret_cast<const char*>(counts.data()), counts.size_bytes()));
  out.commit();
  ArrayRecord record = record_of(path, dtype, shape);
  spec_.mean->counts = fmt::format("features_{:016x}_counts.npy", record.checksum);
  record.file = type_ + "/" + spec_.mean->counts;
  move_into_place(path, type_folder_ / spec_.mean->counts);
  return record;
}

FeatureSpec FeatureWriter::finish(std::span<const uint32_t> counts) {
  assert(rows_ == nodes_ && counts.size() == (spec_.mean ? nodes_ : 0));
  file_.sync();
  spec_.missing = missing();
  spec_.flagged = spec_.missing > 0 || spec_.mean;
  const Path partial = type_folder_ / kPartial;
  const Path whole = spec_.flagged ? partial : write_unflagged();
  if (spec_.flagged) ++spec_.width;
  ArrayRecord record = record_of(whole, std::string(stored_dtype(spec_.type)),
                                 {nodes_, stored_columns(spec_.type, spec_.width)});
  spec_.file = fmt::format("features_{:016x}.npy", record.checksum);
  record.file = type_ + "/" + spec_.file;
  move_into_place(whole, type_folder_ / spec_.file);
  std::vector<ArrayRecord> records = {record};
  if (spec_.mean) records.push_back(write_counts(counts));
  set_.add(type_, spec_, records);
  fs::remove(partial);
  fs::remove(type_folder_ / kPosition);
  finished_ = true;
  return spec_;
}

void FeatureWriter::discard() {
  fs::remove(type_folder_ / kPartial);
  fs::remove(type_folder_ / kPosition);
  finished_ = true;
}

}  // namespace hgt
