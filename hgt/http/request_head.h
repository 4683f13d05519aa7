// Checks of what a client sent, before a responder sees it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hgt {

constexpr size_t kMaxHead = 16384;  // bytes of a request line, and of its headers
constexpr size_t kMaxQuery = 4096;  // bytes of a query string, as sent

// The lines of a request that the server looks at; "": not there.
struct RequestHead {
  std::string method;
  std::string target;
  std::vector<std::string> hosts;  // each header Host
  std::string origin;
  std::string fetch_site;
  std::string fetch_mode;
  std::string fetch_destination;
};

// A request's target: "/api/search?type=paper&q=graph+learning".
struct RequestTarget {
  std::string path;                                       // as sent
  std::map<std::string, std::string, std::less<>> query;  // decoded
};

// Throws Refusal: a query that is too long, wrongly encoded (a '?' is to be encoded, too), not
// UTF-8, with control characters, or with a parameter given twice.
RequestTarget parse_target(std::string_view target);

// A browser that was led here by a foreign name (DNS rebinding) says so in the header Host. Ours
// are localhost, 127.0.0.1, [::1] and `address`, with any port; where `address` stands for all
// addresses of the machine, every numeric one.
bool is_own_host(std::string_view host, std::string_view address);

// Was the request made by a page of another site? Such a page may lead a user to "/", but not make
// requests of its own: neither in the background nor by opening what has to be computed. Browsers
// that say nothing in Sec-Fetch-* (they do so to some addresses only) still name the Origin of
// whatever could change something. Requires one host.
bool is_cross_site(const RequestHead& head);

}  // namespace hgt
