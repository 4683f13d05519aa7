// Which requests are admitted, and how they are answered.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hgt/http/http_server.h"
#include "hgt/http/request_head.h"

namespace hgt {

// What is sent back, whether it went well or not.
struct Reply {
  int status = 200;
  Answer answer;
  std::string allow{};  // the header Allow; "": none
};

// {"error": why}
Reply refusal_reply(int status, std::string_view why);
// In a catch block: what the client is told about the exception.
Reply reply_to_exception();

// Of a path that is there, by a method that it does not take.
class MethodRefused : public Refusal {
 public:
  explicit MethodRefused(const std::string& allowed)
      : Refusal(405, "only these methods are allowed here: " + allowed), allowed_(allowed) {}
  const std::string& allowed() const { return allowed_; }  // "GET, HEAD"

 private:
  std::string allowed_;
};

class Routes {
 public:
  struct Entry {
    HttpRoute route;
    HeavyResponder responder;
    bool heavy = false;
  };
  struct Admitted {
    const Entry* entry = nullptr;
    HttpRequest request;  // without its body
  };

  void add(Entry entry);

  // Throws Refusal. `address` is the one that is served, `url` what to open instead of a foreign
  // name.
  Admitted admit(const RequestHead& head, std::string_view address, std::string_view url) const;

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace hgt
