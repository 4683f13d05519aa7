// view: a run in a browser.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/learn/page.h"
#include "cli/progress_bar.h"
#include "cli/streams.h"
#include "cli/verbs.h"
#include "hgt/error.h"
#include "hgt/model/machine.h"
#include "hgt/viewer/run_viewer.h"

namespace hgt::cli {

namespace {

struct ViewFlags {
  std::string run;
  HttpOptions http{.port = 8642};
  ViewerOptions viewer;
  PipelineOptions pipeline;
  uint64_t patience = 60;
};

bool is_loopback(const std::string& address) {
  return address == "127.0.0.1" || address == "::1" || address == "localhost";
}

void run_view(ViewFlags& flags) {
  keep_tensor_memory();
  ProgressBar bar(false);
  Run run = Run::open(flags.run, bar.sink());
  run.set_pipeline(flags.pipeline);
  flags.viewer.patience = std::chrono::seconds(flags.patience);
  flags.http.heavy_time = flags.viewer.patience;
  RunViewer viewer(run, read_page(), flags.viewer);
  HttpServer server(flags.http);
  viewer.add_routes(server);
  server.bind();
  if (!is_loopback(flags.http.address)) {
    tell(fmt::format("hgt: anyone who can reach {} can see this run\n", flags.http.address));
  }
  fmt::print("{} shows {}; press Ctrl-C to stop\n", server.url(), flags.run);
  if (with_output_written(0) != 0) throw Error("nobody can learn where the page is");
  catch_interrupt();
  server.serve([] { return was_interrupted(); });
}

}  // namespace

void add_view(CLI::App& verb) {
  auto flags = std::make_shared<ViewFlags>();
  verb.add_option("run", flags->run, "Folder of the run")->required()->type_name("RUN");
  verb.add_option("--port", flags->http.port, "Port to listen on (0 = any free port)")
      ->capture_default_str();
  verb.add_option(
          "--address", flags->http.address,
          "Address to listen on; any other than the default lets other machines see the run")
      ->capture_default_str();
  verb.add_option("--among", flags->viewer.among,
                  "Number of most prominent nodes of a type that a node is compared with over time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb.add_option("--patience", flags->patience, "Seconds after which a request is given up")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  verb.add_option("--threads", flags->pipeline.threads, "Compute threads (0 = one per core)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  verb.callback([flags] { run_view(*flags); });
}

}  // namespace hgt::cli
