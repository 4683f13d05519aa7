#include "hgt/graph/verified_arrays.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <compare>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "hgt/disk/checksum.h"
#include "hgt/disk/json_text.h"
#include "hgt/disk/memory_limit.h"
#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/feature_sets.h"

namespace hgt {

namespace {

constexpr const char* kFormat = "hgt-verified";
constexpr uint64_t kVersion = 1;
constexpr size_t kReadBytes = size_t{1} << 20U;
constexpr uint64_t kWorthReporting = uint64_t{1} << 28U;  // bytes; less takes a moment
// File systems count time in steps. What changed so shortly before it was read could change again
// without a trace, so it is not remembered.
constexpr int64_t kSettledNanoseconds = 1'000'000'000;

// A file as it was when its content had this checksum.
struct VerifiedFile {
  uint64_t checksum = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified = 0;  // nanoseconds since 1970, as the next
  int64_t changed = 0;   // content, name or mode: nobody can set it back

  friend auto operator<=>(const VerifiedFile&, const VerifiedFile&) = default;
};

constexpr int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

VerifiedFile file_as_it_is(const File& file, uint64_t checksum) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) fail_on_disk(file.path(), "inspect the file");
  return {.checksum = checksum,
          .device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<uint64_t>(status.st_size),
          .modified = nanoseconds(status.st_mtim),
          .changed = nanoseconds(status.st_ctim)};
}

bool is_settled(const VerifiedFile& file) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t age = std::chrono::nanoseconds(now).count() - file.changed;
  return age >= kSettledNanoseconds;
}

// --- what is remembered ---

// In this process, for folders that cannot be written.
class ProcessMemory {
 public:
  static ProcessMemory& get() {
    static ProcessMemory memory;
    return memory;
  }
  bool contains(const VerifiedFile& file) {
    const std::lock_guard guard(mutex_);
    return files_.contains(file);
  }
  void insert(const VerifiedFile& file) {
    const std::lock_guard guard(mutex_);
    files_.insert(file);
  }

 private:
  std::mutex mutex_;
  std::set<VerifiedFile> files_;
};

Path memory_file(const Path& folder) { return folder / "verified.json"; }

// Whatever is wrong with the file, nothing is lost but the time to read the graph again.
std::set<VerifiedFile> read_remembered(const Path& folder) {
  std::set<VerifiedFile> files;
  try {
    const auto json = parse_json<nlohmann::json>(read_text(memory_file(folder)));
    if (json.at("format") != kFormat || json.at("version") != kVersion) return {};
    for (const auto& entry : json.at("files")) {
      files.insert({.checksum = std::stoull(entry.at("checksum").get<std::string>(), nullptr, 16),
                    .device = entry.at("device"),
                    .inode = entry.at("inode"),
                    .size = entry.at("size"),
                    .modified = entry.at("modified"),
                    .changed = entry.at("changed")});
    }
  } catch (const std::exception&) {
    return {};
  }
  return files;
}

nlohmann::ordered_json to_json(const std::string& name, const VerifiedFile& file) {
  return {{"file", name},           {"checksum", fmt::format("{:016x}", file.checksum)},
          {"device", file.device},  {"inode", file.inode},
          {"size", file.size},      {"modified", file.modified},
          {"changed", file.changed}};
}

// --- reading ---

class Verification {
 public:
  Verification(const Path& folder, const std::vector<ArrayRecord>& arrays,
               const ProgressSink& progress, bool again)
      : folder_(folder), progress_(progress), remembered_(read_remembered(folder)) {
    for (const ArrayRecord& record : arrays) add(record, again);
    fits_memory_ = fits_memory(total_, memory_here());
    keep_others(arrays);
  }

  void run() {
    if (to_read_.empty()) return;
    try {
      for (const ArrayRecord* record : to_read_) read(*record);
    } catch (...) {
      save();  // what was read need not be read again
      throw;
    }
    save();
    if (total_ >= kWorthReporting) tell(true);
  }

 private:
  void add(const ArrayRecord& record, bool again) {
    const File file = File::open_to_read(folder_ / record.file);
    const VerifiedFile found = file_as_it_is(file, record.checksum);
    const bool good =
        !again && (remembered_.contains(found) || ProcessMemory::get().contains(found));
    if (good) {
      files_.push_back(to_json(record.file, found));
    } else {
      to_read_.push_back(&record);
      total_ += found.size;
    }
  }

  // What is known of the features of other sets stays known.
  void keep_others(const std::vector<ArrayRecord>& arrays) {
    std::set<std::string> own;
    for (const ArrayRecord& record : arrays) own.insert(record.file);
    for (const ArrayRecord& record : read_schema(folder_).arrays) {
      const Path path = folder_ / record.file;
      if (own.contains(record.file) || !std::filesystem::exists(path)) continue;
      const VerifiedFile found = file_as_it_is(File::open_to_read(path), record.checksum);
      if (remembered_.contains(found)) files_.push_back(to_json(record.file, found));
    }
  }

  void read(const ArrayRecord& record) {
    const File file = File::open_to_read(folder_ / record.file);
    const VerifiedFile found = file_as_it_is(file, record.checksum);
    const bool settled = is_settled(found);
    ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
    if (checksum_of(file) != record.checksum) {
      const bool made = file.path().filename().string().starts_with("features_");
      throw Error(fmt::format(
          "{}: its checksum differs from the one in schema.json; the file is damaged, restore it "
          "or make the {} again",
          file.path().string(),
          made ? "feature sets that have it (hgt features --replace --again)" : "graph"));
    }
    if (!settled) return;
    ProcessMemory::get().insert(found);
    files_.push_back(to_json(record.file, found));
    learned_ = learned_ || !remembered_.contains(found);
  }

  uint64_t checksum_of(const File& file) {
    Checksum checksum;
    buffer_.resize(kReadBytes);
    uint64_t at = kArrayHeaderBytes;
    while (const size_t got = file.read_at(buffer_.data(), buffer_.size(), at)) {
      checksum.add(std::span(buffer_).first(got));
      // Its last arrays would stay, and nobody knows which part is needed first.
      if (!fits_memory_) {
        ::posix_fadvise(file.descriptor(), static_cast<off_t>(at), static_cast<off_t>(got),
                        POSIX_FADV_DONTNEED);
      }
      at += got;
      done_ += got;
      if (total_ >= kWorthReporting) tell(false);
    }
    return checksum.value();
  }

  void tell(bool finished) const {
    progress_({.stage = "checking the graph",
               .unit = "bytes",
               .count = done_,
               .fraction = finished ? 1 : static_cast<double>(done_) / static_cast<double>(total_),
               .finished = finished});
  }

  void save() const {
    if (!learned_) return;
    const nlohmann::ordered_json json = {
        {"format", kFormat}, {"version", kVersion}, {"files", files_}};
    try {
      write_text(memory_file(folder_), json.dump(1) + "\n");
    } catch (const Error&) {  // the process remembers
      return;
    }
  }

  const Path folder_;
  const ProgressSink& progress_;
  const std::set<VerifiedFile> remembered_;
  std::vector<const ArrayRecord*> to_read_;
  std::vector<nlohmann::ordered_json> files_;  // known to be good
  std::vector<std::byte> buffer_;
  uint64_t total_ = 0;  // bytes to read
  uint64_t done_ = 0;
  bool fits_memory_ = true;  // what is read
  bool learned_ = false;
};

}  // namespace

void verify_arrays(const HeteroGraph& graph, const ProgressSink& progress) {
  Verification(graph.folder(), graph.schema().arrays, progress, false).run();
}

void verify_arrays_again(const Path& folder, const std::vector<ArrayRecord>& arrays,
                         const ProgressSink& progress) {
  Verification(folder, arrays, progress, true).run();
}

HeteroGraph open_verified(const Path& folder, const ProgressSink& progress,
                          const std::string& feature_set) {
  HeteroGraph graph = HeteroGraph::open(folder, feature_set);
  verify_arrays(graph, progress);
  return graph;
}

}  // namespace hgt
