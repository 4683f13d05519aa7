#include "hgt/graph/incoming_arrays.h"

#include <fmt/format.h>

#include "hgt/error.h"

namespace hgt {

namespace {

template <typename T>
std::span<const T> part(const MappedArray& array, const ListRange& range) {
  return array.as<T>().subspan(range.begin, range.size());
}

}  // namespace

void IncomingArrays::open(const ListedArrays& arrays, const Schema& schema, NodeType type) {
  const auto relations = schema.incoming(type);
  slots_ = static_cast<uint32_t>(relations.size());
  short_times_ = schema.short_edge_times();
  uint64_t entries = 0;
  for (const Relation relation : relations) entries += schema.at(relation).edges;
  const std::string prefix = schema.at(type).name + "/incoming";
  arrays.map(sources_, prefix + "_sources.npy", dtype_of<NodeId>(), {entries});
  arrays.map_lists(lists_, prefix, schema.at(type).nodes * slots_, entries);
  const Opening opening{.arrays = arrays, .schema = schema, .type = type};
  open_carried(opening, &RelationSpec::times, prefix + "_time",
               short_times_ ? dtype_of<int16_t>() : dtype_of<Time>(), times_);
  open_carried(opening, &RelationSpec::weights, prefix + "_weight", dtype_of<float>(), weights_);
}

void IncomingArrays::open_carried(const Opening& opening, bool RelationSpec::*by,
                                  const std::string& prefix, std::string_view dtype,
                                  Carried& into) {
  const auto& [arrays, schema, type] = opening;
  uint64_t entries = 0;
  uint64_t carried = 0;
  for (const Relation relation : schema.incoming(type)) {
    const RelationSpec& spec = schema.at(relation);
    into.places.push_back(into.carriers);
    entries += spec.edges;
    if (!(spec.*by)) continue;
    ++into.carriers;
    carried += spec.edges;
  }
  if (into.carriers == 0) return;
  into.by_all = schema.format_version == 1 || into.carriers == into.places.size();
  arrays.map(into.values, prefix + "s.npy", dtype, {into.by_all ? entries : carried});
  if (into.by_all) return;
  arrays.map_lists(into.own, prefix, schema.at(type).nodes * into.carriers, carried);
}

// Where the values of a list are. `entries`: of the list.
ListRange IncomingArrays::Carried::range(uint32_t slot, NodeId target,
                                         const ListRange& entries) const {
  if (by_all) return entries;
  const uint64_t list = uint64_t{target} * carriers + places[slot];
  const ListRange range = own.lists.range(list, list + 1);
  if (range.size() == entries.size()) return range;
  throw Error(
      fmt::format("{}_lengths.npy: list {} has {} items, but there are {} edges; the file "
                  "is damaged, restore it or make the graph again",
                  own.prefix, list, range.size(), entries.size()));
}

Neighbors IncomingArrays::neighbors(const RelationSpec& spec, NodeId target) const {
  const uint64_t list = uint64_t{target} * slots_ + spec.slot;
  const ListRange entries = lists().range(list, list + 1);
  Neighbors found{.sources = part<NodeId>(sources_, entries),
                  .times = {},
                  .weights = {},
                  .first = entries.begin};
  if (spec.times) {
    const ListRange range = times_.range(spec.slot, target, entries);
    found.times = short_times_ ? EdgeTimes(part<int16_t>(times_.values, range))
                               : EdgeTimes(part<Time>(times_.values, range));
  }
  if (spec.weights) {
    found.weights = part<float>(weights_.values, weights_.range(spec.slot, target, entries));
  }
  return found;
}

void IncomingArrays::check() const {
  lists().check();
  for (const Carried* carried : {&times_, &weights_}) {
    if (!carried->by_all) carried->own.lists.check();
  }
}

void IncomingArrays::expect(Access access) const {
  lists_.expect(access);
  sources_.expect(access);
  for (const Carried* carried : {&times_, &weights_}) {
    carried->own.expect(access);
    carried->values.expect(access);
  }
}

}  // namespace hgt
