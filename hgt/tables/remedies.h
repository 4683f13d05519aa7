// What a manifest could say so that a row is not lost: the likely remedy for a cell that could not
// be used. Texts depend on the kind of the mistake, hardly on the cell, so that rows with the same
// remedy can be counted together.
#pragma once

#include <string>
#include <string_view>

#include "hgt/graph/schema.h"
#include "hgt/tables/manifest.h"

namespace hgt {

// A delimiter other than the one in use that would part the text into so many cells; 0: into
// several. Empty: none; else as in a manifest: delimiter = ";".
std::string delimiter_remedy(std::string_view text, size_t cells);

// A cell that should be a number. `key`: what to write for empty ones, such as "missing = 0".
std::string number_remedy(std::string_view cell, std::string_view key);

std::string time_remedy(std::string_view cell, const TimeColumn& spec, TimeUnit unit);

// An id that no node of the type has. `known`: the id of one that there is; empty: there is none.
std::string unknown_remedy(std::string_view id, const std::string& type, const std::string& known,
                           bool edge);

}  // namespace hgt
