#include "hgt/http/request_head.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>

#include "hgt/http/refusal.h"

namespace hgt {

namespace {

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool is_control(utf8proc_int32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void check_text(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t code = -1;
    const utf8proc_ssize_t length = utf8proc_iterate(bytes, left, &code);
    if (length <= 0) throw BadRequest("a parameter is not valid UTF-8");
    if (is_control(code)) throw BadRequest("a parameter contains control characters");
    bytes += length;
    left -= length;
  }
}

// "graph+learning%21" -> "graph learning!"
std::string decoded(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '?') throw BadRequest("a '?' in a parameter must be written as %3F");
    if (text[i] != '%') {
      plain += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      throw BadRequest("a '%' in a parameter must be followed by two hexadecimal digits");
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  check_text(plain);
  return plain;
}

void add_parameter(std::string_view text, RequestTarget& target) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::string name = decoded(text.substr(0, equals));
  const std::string value = decoded(text.substr(std::min(equals + 1, text.size())));
  if (!target.query.emplace(name, value).second) {
    throw BadRequest(fmt::format("the parameter '{}' is given twice", name));
  }
}

// Without port and brackets; no value: no host at all.
std::optional<std::string> host_name(std::string_view host) {
  const bool bracketed = host.starts_with('[');
  const size_t end = bracketed ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view port = host.substr(end + (bracketed ? 1 : 0));
  if (!port.empty()) {
    const bool digits = port.substr(1).find_first_not_of("0123456789") == std::string_view::npos;
    if (port[0] != ':' || !digits) return std::nullopt;
  }
  return ascii_lower(bracketed ? host.substr(1, end - 1) : host.substr(0, end));
}

bool is_numeric_address(const std::string& text) {
  std::array<char, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

}  // namespace

RequestTarget parse_target(std::string_view target) {
  const size_t mark = std::min(target.find('?'), target.size());
  std::string_view query = target.substr(std::min(mark + 1, target.size()));
  if (query.size() > kMaxQuery) {
    throw Refusal(414, fmt::format("the parameters are longer than {} bytes", kMaxQuery));
  }
  RequestTarget parsed{.path = std::string(target.substr(0, mark)), .query = {}};
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    if (end > 0) add_parameter(query.substr(0, end), parsed);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return parsed;
}

bool is_own_host(std::string_view host, std::string_view address) {
  const std::optional<std::string> name = host_name(host);
  if (!name) return false;
  if (*name == "localhost" || *name == "127.0.0.1" || *name == "::1") return true;
  const bool everywhere = address == "0.0.0.0" || address == "::";
  return everywhere ? is_numeric_address(*name) : *name == ascii_lower(address);
}

bool is_cross_site(const RequestHead& head) {
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (head.fetch_site == "cross-site" || head.fetch_site == "same-site") {
    return !reads || head.target != "/" || head.fetch_mode != "navigate" ||
           head.fetch_destination != "document";
  }
  if (reads || head.origin.empty()) return false;
  const std::string origin = ascii_lower(head.origin);
  const std::string host = ascii_lower(head.hosts.front());
  return origin != "http://" + host && origin != "https://" + host;
}

}  // namespace hgt
