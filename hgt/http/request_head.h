// What a stranger sent, checked byte by byte before anything else reads it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace hgt {

constexpr size_t kMaxHead = 16384;  // bytes of a request line and its headers
constexpr size_t kMaxQuery = 4096;  // bytes of a query string, as sent

// The head of a request (up to its empty line, in full), with those headers only that the server
// looks at: ranges, encodings and whatever else a client may wish are left out. Throws Refusal:
// control characters, lines that are no headers, headers over several lines.
std::string clean_head(std::string_view head);

// A request's target: "/api/search?type=paper&q=graph+learning".
struct RequestTarget {
  std::string path;                                       // as sent
  std::map<std::string, std::string, std::less<>> query;  // decoded
};

// Throws Refusal: a query that is too long, wrongly encoded, no UTF-8, with control characters, or
// with a parameter given twice.
RequestTarget parse_target(std::string_view target);

// A browser that was led here by a foreign name (DNS rebinding) says so in the header Host. Ours
// are localhost, 127.0.0.1, [::1] and `address`, with any port; where `address` stands for all
// addresses of the machine, every numeric one.
bool is_own_host(std::string_view host, std::string_view address);

}  // namespace hgt
