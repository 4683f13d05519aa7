#include "hgt/features/fasttext_words.h"

#include <fasttext/args.h>
#include <fasttext/fasttext.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <thread>

#include "hgt/disk/whole_file.h"
#include "hgt/error.h"
#include "hgt/features/feature_source.h"
#include "hgt/graph/array_file.h"
#include "hgt/graph/words.h"
#include "hgt/parallel.h"

namespace hgt {

namespace fs = std::filesystem;

namespace {

// A title per line, in the order of the nodes. Returns how many words were written.
uint64_t write_titles(const HeteroGraph& graph, NodeType type, Time until, const Path& path) {
  fs::remove(path);
  File file = File::create(path);
  std::string lines;
  uint64_t words = 0;
  for (uint64_t n = 0; n < graph.num_nodes(type); ++n) {
    const auto node = static_cast<NodeId>(n);
    if (is_later(graph, type, node, until)) continue;
    const size_t before = lines.size();
    for_each_word(graph.name(type, node), [&](std::string_view word) {
      lines += word;
      lines += ' ';
      ++words;
    });
    if (lines.size() > before) lines += '\n';
    if (lines.size() > (1U << 20U)) {
      file.write(lines.data(), lines.size());
      lines.clear();
    }
  }
  file.write(lines.data(), lines.size());
  file.close();
  return words;
}

fasttext::Args arguments(const FasttextOptions& options, const Path& titles, uint64_t words) {
  fasttext::Args args;
  args.input = titles.string();
  args.model = fasttext::model_name::sg;
  args.loss = fasttext::loss_name::ns;
  args.dim = static_cast<int>(options.width);
  args.epoch = static_cast<int>(options.epochs > 0 ? options.epochs : fasttext_epochs(words));
  args.thread = static_cast<int>(options.threads);
  args.seed = static_cast<int>(options.seed & 0x7fffffffU);
  args.minCount = 1;
  args.minn = 3;
  args.maxn = 6;
  args.bucket = 200'000;  // vectors that n-grams share: titles are a small language
  args.verbose = 0;
  return args;
}

// Trains in a thread of its own, so that this one can report and stop it.
class Training {
 public:
  Training(fasttext::FastText& model, const fasttext::Args& args)
      : model_(model), worker_(start_thread([this, args] { train(args); })) {}
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training() {  // before its end: stopped
    if (!worker_.joinable()) return;
    stopped_ = true;
    worker_.join();
  }

  void finish(const ProgressSink& progress) {
    Progress report{.stage = "training fastText", .unit = "%"};
    while (!ended_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      report.fraction = std::min(1.0F, done_.load());
      report.count = static_cast<uint64_t>(100 * report.fraction);
      progress(report);
    }
    worker_.join();
    if (failure_) std::rethrow_exception(failure_);
    report.fraction = 1;
    report.count = 100;
    report.finished = true;
    progress(report);
  }

 private:
  void train(const fasttext::Args& args) {
    try {
      model_.train(args, [this](float done, float, double, double, int64_t) {
        done_ = done;
        // From here, where training goes on: fastText forgets what came before its first line.
        if (stopped_.exchange(false)) model_.abort();
      });
    } catch (...) {
      failure_ = std::current_exception();
    }
    ended_ = true;
  }

  fasttext::FastText& model_;
  std::atomic<float> done_ = 0;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> stopped_ = false;
  std::exception_ptr failure_;
  std::jthread worker_;  // last: it uses the others
};

// Whole or absent: fastText does not survive half a model.
void keep_model(fasttext::FastText& model, const Path& kept) {
  WholeFile file(kept);
  model.saveModel(file.partial().string());
  file.commit();
}

// None where nothing was kept, or something else.
std::unique_ptr<fasttext::FastText> kept_model(const Path& kept) {
  if (!fs::exists(kept)) return nullptr;
  auto model = std::make_unique<fasttext::FastText>();
  try {
    model->loadModel(kept.string());
  } catch (const std::exception&) {
    return nullptr;
  }
  return model;
}

}  // namespace

uint64_t fasttext_epochs(uint64_t words) {
  return std::clamp<uint64_t>(kWordsToRead / std::max<uint64_t>(1, words), 5, 30);
}

WordTable train_fasttext(const HeteroGraph& graph, NodeType type, const Vocabulary& vocabulary,
                         Time until, const FasttextOptions& options, const ProgressSink& progress) {
  if (vocabulary.titles() == 0) {
    throw NoFeatures(
        fmt::format("no node of type {} up to the end of training has a name with words in it; "
                    "give the end of training with --until",
                    graph.schema().at(type).name));
  }
  std::unique_ptr<fasttext::FastText> model = kept_model(options.kept);
  if (!model) {
    model = std::make_unique<fasttext::FastText>();
    Path titles = options.kept;
    titles += ".txt";
    try {
      const uint64_t words = write_titles(graph, type, until, titles);
      Training(*model, arguments(options, titles, words)).finish(progress);
    } catch (...) {
      fs::remove(titles);
      throw;
    }
    fs::remove(titles);
    keep_model(*model, options.kept);
  }
  const uint64_t width = options.width;
  WordTable table{.width = width,
                  .vectors = std::vector<float>(vocabulary.size() * width),
                  .known = std::vector<bool>(vocabulary.size(), true)};
  fasttext::Vector vector(options.width);
  for (uint32_t number = 0; number < vocabulary.size(); ++number) {
    model->getWordVector(vector, vocabulary.word(number));
    std::copy_n(vector.data(), width, table.vectors.data() + number * width);
  }
  return table;
}

}  // namespace hgt
