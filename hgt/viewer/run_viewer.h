// What `hgt view` answers: a page and, for it, everything about one run (web/src/model.ts).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "hgt/http/http_server.h"
#include "hgt/insight/run_report.h"
#include "hgt/training/run.h"
#include "hgt/viewer/node_search.h"

namespace hgt {

struct ViewerOptions {
  ReportOptions report = {};
  uint64_t among = 200;                       // nodes that /api/similar compares with, at most
  std::chrono::milliseconds patience{60000};  // what takes longer is given up
};

class RunViewer {
 public:
  // `run` must outlive it.
  RunViewer(const Run& run, std::string page, const ViewerOptions& options);
  ~RunViewer();

  // Before server.serve(); the viewer must outlive that.
  void add_routes(HttpServer& server);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hgt
