#include "hgt/sampling/sampling_options.h"

#include <fmt/format.h>

#include "hgt/error.h"

namespace hgt {

Strategy strategy(std::string_view name) {
  if (name == "hgsampling") return Strategy::hgsampling;
  if (name == "neighbors") return Strategy::neighbors;
  if (name == "full") return Strategy::full;
  throw Error(fmt::format(
      "there is no sampling strategy '{}'; there are hgsampling, neighbors and full", name));
}

std::string_view to_string(Strategy strategy) {
  if (strategy == Strategy::hgsampling) return "hgsampling";
  return strategy == Strategy::neighbors ? "neighbors" : "full";
}

std::string_view to_string(TimeBound bound) {
  if (bound == TimeBound::split) return "split";
  return bound == TimeBound::seed ? "seed" : "none";
}

TimeBound time_bound(std::string_view name) {
  if (name == "split") return TimeBound::split;
  if (name == "seed") return TimeBound::seed;
  if (name == "none") return TimeBound::none;
  throw Error(fmt::format("there is no time bound '{}'; there are split, seed and none", name));
}

}  // namespace hgt
