// What a request is refused with: a sentence for people and an HTTP status.
#pragma once

#include <string>

#include "hgt/error.h"

namespace hgt {

class Refusal : public Error {
 public:
  Refusal(int status, const std::string& why) : Error(why), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

class BadRequest : public Refusal {
 public:
  explicit BadRequest(const std::string& why) : Refusal(400, why) {}
};

class NotFound : public Refusal {
 public:
  explicit NotFound(const std::string& why) : Refusal(404, why) {}
};

class Busy : public Refusal {
 public:
  explicit Busy(const std::string& why) : Refusal(503, why) {}
};

}  // namespace hgt
