// hgt::Error: what went wrong with the user's input or environment, where, and what to do.
//
// Three kinds of failure are told apart in this code:
//   1. bad input or environment: throw Error. Its text names the file, the field, the offending
//      value and a remedy, on one line. The command line catches it once and exits with 1.
//   2. our own bug: assert.
//   3. expected absence: std::optional.
#pragma once

#include <stdexcept>
#include <string>

namespace hgt {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown out of long work when the user asked to stop (Ctrl-C); nothing half-written stays behind.
class Interrupted : public Error {
 public:
  Interrupted() : Error("stopped on request; nothing was left half-written") {}
  explicit Interrupted(const std::string& how_to_go_on) : Error(how_to_go_on) {}
};

}  // namespace hgt
