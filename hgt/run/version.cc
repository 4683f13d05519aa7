#include "hgt/run/version.h"

namespace hgt {

const char* version() { return HGT_VERSION; }
const char* commit() { return HGT_COMMIT; }

}  // namespace hgt
