#include "hgt/http/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>
#include <utility>

namespace hgt {

namespace {

void check_sender(const RequestHead& head, std::string_view address, std::string_view url) {
  if (head.hosts.size() != 1 || !is_own_host(head.hosts.front(), address)) {
    const bool everywhere = address == "0.0.0.0" || address == "::";
    throw Refusal(403, fmt::format("open {} instead: other host names are refused, so that no web "
                                   "page can get access under a name of its own",
                                   everywhere ? "the numeric address of this machine" : url));
  }
  if (is_cross_site(head)) throw Refusal(403, "pages of other sites may not make requests");
}

HttpMethod method_of(const HttpRoute& route, std::string_view name) {
  std::string allowed;
  for (const HttpMethod method : route.methods) {
    const bool get = method == HttpMethod::get;
    if (name == (get ? "GET" : "POST") || (get && name == "HEAD")) return method;
    if (!allowed.empty()) allowed += ", ";
    allowed += get ? "GET, HEAD" : "POST";
  }
  throw MethodRefused(allowed);
}

void check_parameters(const HttpRoute& route, const Query& query) {
  for (const auto& [name, value] : query) {
    if (std::ranges::find(route.parameters, name) == route.parameters.end()) {
      throw BadRequest(fmt::format("unknown parameter '{}'; the parameters here are: {}", name,
                                   fmt::join(route.parameters, ", ")));
    }
  }
}

}  // namespace

Reply refusal_reply(int status, std::string_view why) {
  using nlohmann::json;
  return {.status = status,
          .answer = {
              .type = "application/json",
              .body = json{{"error", why}}.dump(-1, ' ', false, json::error_handler_t::replace)}};
}

Reply reply_to_exception() {
  try {
    throw;
  } catch (const MethodRefused& refusal) {
    Reply reply = refusal_reply(refusal.status(), refusal.what());
    reply.allow = refusal.allowed();
    return reply;
  } catch (const Refusal& refusal) {
    return refusal_reply(refusal.status(), refusal.what());
  } catch (const Interrupted&) {
    return refusal_reply(503, "the server is stopping");
  } catch (const Error& error) {
    return refusal_reply(500, error.what());
  } catch (...) {
    return refusal_reply(500, "something went wrong");
  }
}

void Routes::add(Entry entry) {
  assert(entry.route.path.starts_with('/') && entry.responder);
  std::string path = entry.route.path;
  entries_.insert_or_assign(std::move(path), std::move(entry));
}

Routes::Admitted Routes::admit(const RequestHead& head, std::string_view address,
                               std::string_view url) const {
  check_sender(head, address, url);
  RequestTarget target = parse_target(head.target);
  const auto found = entries_.find(target.path);
  if (found == entries_.end()) throw NotFound("there is nothing here");
  const HttpRoute& route = found->second.route;
  const HttpMethod method = method_of(route, head.method);
  check_parameters(route, target.query);
  return {.entry = &found->second, .request = {.method = method, .query = std::move(target.query)}};
}

}  // namespace hgt
