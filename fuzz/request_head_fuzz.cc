// Any head of a request is admitted or refused, never more; a parameter that is admitted is UTF-8
// without control characters. The input is lines: target, method, origin, Sec-Fetch-Site, -Mode,
// -Dest, then hosts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "hgt/http/refusal.h"
#include "hgt/http/request_head.h"
#include "hgt/http/routes.h"

namespace {

hgt::Routes some_routes() {
  hgt::Routes routes;
  const auto answer = [](const hgt::HttpRequest&, const hgt::Unwanted&) { return hgt::Answer{}; };
  routes.add({.route = {.path = "/"}, .responder = answer});
  routes.add({.route = {.path = "/api/search", .parameters = {"type", "q"}}, .responder = answer});
  return routes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> lines;
  std::string_view rest = hgt::fuzz::text_of(data, size);
  while (!rest.empty() || lines.size() < 6) {
    const size_t end = rest.find('\n');
    lines.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  const hgt::RequestHead head{.method = lines[1],
                              .target = lines[0],
                              .hosts = {lines.begin() + 6, lines.end()},
                              .origin = lines[2],
                              .fetch_site = lines[3],
                              .fetch_mode = lines[4],
                              .fetch_destination = lines[5]};
  static const hgt::Routes routes = some_routes();
  try {
    const auto target = hgt::parse_target(head.target);
    for (const auto& [name, value] : target.query) {
      for (const char c : name + value) {
        if (static_cast<unsigned char>(c) < 0x20) std::abort();
      }
    }
    hgt::fuzz::use(routes.admit(head, "127.0.0.1", "http://127.0.0.1/").request.query.size());
  } catch (const hgt::Refusal&) {
  }
  return 0;
}
