// Options that were given but change nothing: a likely misunderstanding, so they are reported.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hgt/graph/schema.h"
#include "hgt/run/run_options.h"

namespace hgt {

struct IdleOption {
  std::string key;
  std::string reason;
};

// One of the keys given that has no effect on a run of these options.
std::optional<IdleOption> find_idle_option(const RunOptions& options, const Schema& schema,
                                           const std::vector<std::string>& given);

}  // namespace hgt
