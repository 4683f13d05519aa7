// The page that web/ is built into, installed with the program.
#pragma once

#include <string>

namespace hgt::cli {

// Throws Error: it is not where it was installed to.
std::string read_page();

}  // namespace hgt::cli
