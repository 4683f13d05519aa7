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

TimeBound time_bound(std::string_view name) {
  if (name == "split") return TimeBound::split;
  if (name == "seed") return TimeBound::seed;
  if (name == "none") return TimeBound::none;
  throw Error(fmt::format("there is no time bound '{}'; there are split, seed and none", name));
}

}  // namespace hgt
