// Which hgt this is.
#pragma once

namespace hgt {

const char* version();  // "0.1.0"
const char* commit();   // as git described it when the build was configured; "unknown" without git

}  // namespace hgt
