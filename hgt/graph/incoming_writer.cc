#include "hgt/graph/incoming_writer.h"

#include <algorithm>
#include <cassert>

#include "hgt/graph/node_columns.h"

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
      offsets_(folder, schema.at(target).name + "/incoming_offsets.npy", dtype_of<int64_t>()),
      sources_(folder, schema.at(target).name + "/incoming_sources.npy", dtype_of<NodeId>()),
      degrees_(schema.incoming(target).size()) {
  const auto any = [&](bool RelationSpec::*field) {
    return std::any_of(schema.incoming(target).begin(), schema.incoming(target).end(),
                       [&](Relation relation) { return schema.at(relation).*field; });
  };
  const std::string prefix = schema.at(target).name + "/incoming_";
  if (any(&RelationSpec::times)) times_.emplace(folder, prefix + "times.npy", dtype_of<Time>());
  if (any(&RelationSpec::weights)) {
    weights_.emplace(folder, prefix + "weights.npy", dtype_of<float>());
  }
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
    if (times_) {
      times_->append(edge->time);
      include_time(schema_.time_range, edge->time);
    }
    if (weights_) weights_->append(edge->weight);
  }
  return sources_.items() - before;
}

void IncomingWriter::write(std::vector<EdgeSorter>& sorters, const ProgressSink& progress) {
  const auto relations = schema_.incoming(target_);
  uint64_t total = 0;
  for (const Relation relation : relations) {
    total += sorters[index(relation)].size();
    sorters[index(relation)].begin_reading();
  }
  Progress report{.stage = "writing " + schema_.at(target_).name, .unit = "edges"};
  offsets_.append(int64_t{0});
  for (NodeId node = 0; node < schema_.at(target_).nodes; ++node) {
    for (uint32_t slot = 0; slot < relations.size(); ++slot) {
      RelationSpec& spec = schema_.at(relations[slot]);
      const uint64_t degree = write_list(sorters[index(relations[slot])], spec, node);
      spec.edges += degree;
      degrees_[slot].add(degree);
      offsets_.append(static_cast<int64_t>(sources_.items()));
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
  for (auto* stream : {&offsets_, &sources_}) schema_.arrays.push_back(stream->close());
  if (times_) schema_.arrays.push_back(times_->close());
  if (weights_) schema_.arrays.push_back(weights_->close());
  report = {
      .stage = report.stage, .unit = report.unit, .count = total, .fraction = 1, .finished = true};
  progress(report);
}

}  // namespace hgt
