#include "hgt/graph/incoming_writer.h"

#include <algorithm>
#include <cassert>

namespace hgt {

namespace {

constexpr uint64_t kSmallDegrees = 4096;
constexpr uint64_t kWrittenBetweenReports = 1U << 14U;

}  // namespace

void DegreeCounter::add(uint64_t degree) {
  ++lists_;
  edges_ += degree;
  if (degree >= kSmallDegrees) {
    large_.push_back(degree);
    return;
  }
  if (degree >= small_.size()) small_.resize(degree + 1, 0);
  ++small_[degree];
}

DegreeSummary DegreeCounter::summary() const {
  if (lists_ == 0) return {};
  std::vector<uint64_t> large = large_;
  std::sort(large.begin(), large.end());
  // The k-th smallest degree, k from 0.
  const auto at = [&](uint64_t k) {
    for (uint64_t degree = 0; degree < small_.size(); ++degree) {
      if (k < small_[degree]) return degree;
      k -= small_[degree];
    }
    return large[k];
  };
  return {.mean = static_cast<double>(edges_) / static_cast<double>(lists_),
          .median =
              (static_cast<double>(at((lists_ - 1) / 2)) + static_cast<double>(at(lists_ / 2))) / 2,
          .maximum = at(lists_ - 1),
          .without = small_.empty() ? 0 : small_[0]};
}

IncomingWriter::IncomingWriter(const Path& folder, Schema& schema, NodeType target)
    : schema_(schema),
      target_(target),
      lists_(folder, schema.at(target).name + "/incoming"),
      sources_(folder, schema.at(target).name + "/incoming_sources.npy", dtype_of<NodeId>()),
      short_times_(schema.short_edge_times()),
      times_(carried(folder, &RelationSpec::times, "time",
                     short_times_ ? dtype_of<int16_t>() : dtype_of<Time>())),
      weights_(carried(folder, &RelationSpec::weights, "weight", dtype_of<float>())),
      degrees_(schema.incoming(target).size()) {}

std::optional<IncomingWriter::Carried> IncomingWriter::carried(const Path& folder,
                                                               bool RelationSpec::*by,
                                                               const char* name,
                                                               std::string_view dtype) const {
  const auto relations = schema_.incoming(target_);
  const auto carriers = std::count_if(relations.begin(), relations.end(),
                                      [&](Relation relation) { return schema_.at(relation).*by; });
  if (carriers == 0) return std::nullopt;
  const std::string prefix = schema_.at(target_).name + "/incoming_" + name;
  Carried result{.values = ArrayStream(folder, prefix + "s.npy", dtype), .lists = {}};
  if (static_cast<size_t>(carriers) < relations.size()) result.lists.emplace(folder, prefix);
  return result;
}

void IncomingWriter::append_time(Time time) {
  if (!short_times_) return times_->values.append(time);
  times_->values.append(time == kNoTime ? kNoShortTime : static_cast<int16_t>(time));
}

uint64_t IncomingWriter::write_list(EdgeSorter& sorter, RelationSpec& spec, NodeId target) {
  const uint64_t before = sources_.items();
  Edge last;
  for (const Edge* edge = sorter.current(); edge != nullptr && edge->target == target;
       sorter.advance(), edge = sorter.current()) {
    const bool first = sources_.items() == before;
    const bool repeated = !first && edge->source == last.source && edge->time == last.time;
    if (repeated) ++spec.repeated;
    if (repeated && spec.unique) continue;
    last = *edge;
    sources_.append(edge->source);
    if (spec.times) append_time(edge->time);
    if (spec.weights) weights_->values.append(edge->weight);
  }
  const uint64_t degree = sources_.items() - before;
  lists_.append(degree);
  if (spec.times && times_->lists) times_->lists->append(degree);
  if (spec.weights && weights_->lists) weights_->lists->append(degree);
  return degree;
}

void IncomingWriter::close(std::optional<Carried>& carried) {
  if (!carried) return;
  if (carried->lists) carried->lists->close(schema_.arrays);
  schema_.arrays.push_back(carried->values.close());
}

void IncomingWriter::write(std::vector<EdgeSorter>& sorters, const ProgressSink& progress) {
  const auto relations = schema_.incoming(target_);
  uint64_t total = 0;
  for (const Relation relation : relations) {
    total += sorters[index(relation)].size();
    sorters[index(relation)].begin_reading();
  }
  Progress report{.stage = "writing " + schema_.at(target_).name, .unit = "edges"};
  for (NodeId node = 0; node < schema_.at(target_).nodes; ++node) {
    for (uint32_t slot = 0; slot < relations.size(); ++slot) {
      RelationSpec& spec = schema_.at(relations[slot]);
      const uint64_t degree = write_list(sorters[index(relations[slot])], spec, node);
      spec.edges += degree;
      degrees_[slot].add(degree);
    }
    if (node % kWrittenBetweenReports != 0) continue;
    report.count = sources_.items();
    report.fraction =
        total == 0 ? 1.0 : static_cast<double>(report.count) / static_cast<double>(total);
    progress(report);
  }
  for (uint32_t slot = 0; slot < relations.size(); ++slot) {
    schema_.at(relations[slot]).degrees = degrees_[slot].summary();
  }
  lists_.close(schema_.arrays);
  schema_.arrays.push_back(sources_.close());
  close(times_);
  close(weights_);
  report = {
      .stage = report.stage, .unit = report.unit, .count = total, .fraction = 1, .finished = true};
  progress(report);
}

}  // namespace hgt
