#include "hgt/academic/academic_truth.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "hgt/disk/whole_file.h"
#include "hgt/graph/graph_folder.h"

namespace hgt {

TruthFolder::TruthFolder(const GraphBuilder& graph) : path_(graph.folder() / kTruthFolder) {
  std::filesystem::create_directory(path_);
}

ArrayStream TruthFolder::stream(const std::string& name, std::string_view dtype) const {
  return {path_, name + ".npy", dtype};
}

void TruthFolder::add(ArrayStream& complete, std::string meaning) {
  entries_.push_back({complete.close(), std::move(meaning)});
}

void TruthFolder::finish(const std::map<std::string, std::string>& about) {
  nlohmann::ordered_json arrays = nlohmann::ordered_json::array();
  for (const auto& [record, meaning] : entries_) {
    arrays.push_back({{"file", record.file},
                      {"dtype", record.dtype},
                      {"shape", record.shape},
                      {"meaning", meaning}});
  }
  const nlohmann::ordered_json text = {{"graph", about}, {"arrays", arrays}};
  write_text(path_ / "truth.json", text.dump(2) + "\n");
}

AcademicTruth::AcademicTruth(const GraphBuilder& graph)
    : folder_(graph),
      paper_topic_(folder_.stream("paper_topic", "<i4")),
      author_topic_early_(folder_.stream("author_topic_early", "<i4")),
      author_topic_late_(folder_.stream("author_topic_late", "<i4")),
      mention_paper_(folder_.stream("mention_paper", "<u4")),
      mention_author_(folder_.stream("mention_author", "<u4")),
      mention_name_(folder_.stream("mention_name", "<i4")) {}

void AcademicTruth::add_author(uint64_t early_topic, uint64_t late_topic) {
  author_topic_early_.append(static_cast<int32_t>(early_topic));
  author_topic_late_.append(static_cast<int32_t>(late_topic));
}

void AcademicTruth::add_mention(NodeId paper, NodeId author, uint64_t name) {
  mention_paper_.append(paper);
  mention_author_.append(author);
  mention_name_.append(static_cast<int32_t>(name));
}

void AcademicTruth::set_topics(std::span<const NodeId> l1_fields) {
  folder_.add("topic_l1", l1_fields, {l1_fields.size()}, "the L1 field of each topic");
}

void AcademicTruth::set_venues(std::span<const int32_t> topics, std::span<const NodeId> partners) {
  const uint64_t years = topics.size() / partners.size();
  folder_.add("venue_topic", topics, {partners.size(), years},
              "the main topic of each venue in each year; column 0 is the first year");
  folder_.add("venue_partner", partners, {partners.size()},
              "the venue with which a venue swaps topics; itself: a stable venue");
}

void AcademicTruth::finish(const std::map<std::string, std::string>& about) {
  folder_.add(paper_topic_, "the topic of each paper");
  folder_.add(author_topic_early_, "the topic of each author in the first half of the career");
  folder_.add(author_topic_late_, "the topic of each author in the second half of the career");
  folder_.add(mention_paper_, "of each authorship under a shared name: the paper");
  folder_.add(mention_author_, "of each authorship under a shared name: the author");
  folder_.add(mention_name_, "of each authorship under a shared name: the number of the name");
  folder_.finish(about);
}

}  // namespace hgt
